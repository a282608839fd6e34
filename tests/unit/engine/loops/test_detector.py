"""The detector of one channel: its limits in symbols, and that chunks do not matter (L-1, L-2, L-3, L-5)."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.engine.loops.cycles import CONFIRM_CHARS, CONFIRM_SYMBOLS
from pytest_benchkit.engine.loops.detector import Detector
from pytest_benchkit.engine.loops.symbols import LONGEST, count
from tests.support.loop_texts import INNOCENT, LOOPS, SENTENCE, prose, words

LIMIT = 1024
ONSET = 500
GOOD = " ".join(f"q{word}" for word in words(ONSET, seed=11)) + " "


def cut(text: str, seed: int) -> list[str]:
    """The text in pieces of 0 to 9 characters."""
    dice, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = dice.randint(0, 9)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def facts(detector: Detector) -> dict[str, Any]:
    """Everything that is told of a channel."""
    overlap = detector.overlap
    return {
        "symbols": detector.symbols,
        "killed": detector.killed,
        "left": detector.left,
        "looping": detector.looping,
        "left_behind": detector.left_behind,
        "evidence": detector.evidence,
        "overlap": (overlap.words, overlap.share, overlap.likeness, overlap.longest, overlap.block),
    }


@pytest.mark.parametrize("period", [1, 2, 3, 7, 23, 24, 25, 63, 64, 100, 511, 512])
def test_a_loop_of_words_is_ended_in_time(period: int) -> None:
    """L-1: no later than onset + max(4 p, 64) + 32 + 256 characters + 1,024 + p."""
    turn = " ".join(f"z{n}{word}" for n, word in enumerate(words(period, seed=period))) + " "
    detector = Detector.of(GOOD + turn * (6000 // period + 6), LIMIT)
    latest = ONSET + max(4 * period, 64) + CONFIRM_SYMBOLS + LIMIT + period
    latest += CONFIRM_CHARS * period // len(turn) + 1
    assert detector.killed
    assert detector.looping is not None
    assert (detector.looping.kind, detector.looping.period) == ("exact_cycle", period)
    assert abs(detector.looping.onset - ONSET) <= 1
    assert detector.looping.killed_at is not None
    assert ONSET + LIMIT < detector.looping.killed_at <= latest


def test_a_longer_period_is_only_suspected() -> None:
    turn = " ".join(f"z{n}" for n in range(600)) + " "
    detector = Detector.of(turn * 20, LIMIT)
    assert not detector.killed
    assert detector.looping is None
    assert detector.evidence is not None
    assert detector.evidence.period == 600


def test_one_differing_symbol_starts_the_count_again() -> None:
    almost = "so it goes " * 360  # 1,080 symbols: confirmed, and not yet at the limit
    assert Detector.of(almost + almost, LIMIT).killed
    detector = Detector.of(almost + "ah " + almost, LIMIT)
    assert not detector.killed
    assert detector.looping is not None
    assert detector.looping.span < 1100
    assert Detector.of(almost + "ah " + almost * 2, LIMIT).killed


def test_a_table_of_digits_may_go_on_four_times_as_long() -> None:
    assert Detector.of("a1 " * 1300, LIMIT).killed
    assert not Detector.of("0 " * 4000, LIMIT).killed
    assert Detector.of("0 " * 4400, LIMIT).killed


def test_the_limit_is_the_users() -> None:
    text = "so it goes " * 1000
    for limit in (1, 64, 2000):
        looping = Detector.of(text, limit).looping
        assert looping is not None
        assert looping.killed_at == Detector.of(text, 1).symbols - 1 + limit - 1


def test_without_killing_evidence_is_the_same() -> None:
    """L-2, up to where the text was cut."""
    text = GOOD + SENTENCE * 200
    ended, free = Detector.of(text, LIMIT), Detector.of(text)
    assert ended.killed
    assert not free.killed
    assert ended.looping is not None
    assert free.looping is not None
    assert ended.looping.onset == free.looping.onset
    assert ended.looping.period == free.looping.period
    assert free.looping.span > ended.looping.span


def test_a_loop_left_again_is_left_behind() -> None:
    detector = Detector.of(SENTENCE * 12, LIMIT)
    assert detector.looping is not None
    detector = Detector.of(SENTENCE * 12 + prose(40), LIMIT)
    assert detector.looping is not None
    detector = Detector.of(SENTENCE * 12 + prose(100), LIMIT)
    assert detector.looping is None
    assert detector.left_behind is not None
    assert (detector.left_behind.onset, detector.left_behind.period) == (0, 16)


def test_the_countdown_falls_to_nothing() -> None:
    detector, seen = Detector(100), []
    for _ in range(400):
        detector.feed("so it goes ")
        if (left := detector.left) is not None:
            seen.append(left)
    assert detector.killed
    assert seen[0] > 90
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 0


TEXTS = {**LOOPS, **{name: text for name, (text, _) in INNOCENT.items()}}


@pytest.mark.parametrize("name", TEXTS)
def test_chunks_do_not_matter(name: str) -> None:
    text = TEXTS[name][:9000]
    whole = facts(Detector.of(text, 300))
    for seed in range(2):
        assert facts(Detector.of(cut(text, seed), 300)) == whole


PARTS = st.sampled_from(
    ["so ", "it\n", "7 ", "8, ", "``", "`", "\n    if x:", "\n  ", "é", "\ud800", "_", "x" * 40, ". "]
)
ANY = st.lists(st.one_of(PARTS, st.text(max_size=6)), max_size=60).flatmap(
    lambda parts: st.integers(1, 12).map(lambda times: "".join(parts) * times)
)


@settings(deadline=None)
@given(ANY, st.integers(0, 100), st.integers(0, 60))
def test_any_text_in_any_pieces(text: str, seed: int, limit: int) -> None:
    whole = Detector.of(text, limit)
    assert facts(Detector.of(cut(text, seed), limit)) == facts(whole)
    assert facts(Detector.of(list(text), limit)) == facts(whole)
    if not whole.killed:
        assert whole.symbols == count(text)


def test_long_words_and_long_gaps_are_not_kept() -> None:
    detector = Detector()
    for _ in range(2000):
        detector.feed("a" * 50 + " " * 50)
    detector.feed("\n" + "\t" * 100_000)
    assert len(detector._held) <= LONGEST + 1


def test_memory_is_bounded() -> None:
    """L-3: 4 MB a stream, both channels together."""
    text = prose(5000, seed=1)
    tracemalloc.start()
    detectors = [Detector(), Detector()]
    for detector in detectors:
        detector.feed(text)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(detector.symbols > 5000 for detector in detectors)
    assert used < 4e6
