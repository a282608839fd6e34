"""True loops are ended, innocent repetition is not (L-6, L-7), with the states that are listed there."""

from __future__ import annotations

import pytest

from pytest_benchkit.engine.loops.detector import Detector
from pytest_benchkit.engine.loops.watch import Watch
from pytest_benchkit.reply import LOOPS as KINDS
from pytest_benchkit.reply import Reply
from tests.support.loop_texts import INNOCENT, LOOPS, prose

LIMIT = 1024
GOOD = {onset: prose(onset, seed=onset) if onset else "" for onset in (0, 500, 8000)}


@pytest.mark.parametrize("onset", GOOD)
@pytest.mark.parametrize("channel", ["thinking", "answer"])
@pytest.mark.parametrize("kind", LOOPS)
def test_true_loops_are_ended(kind: str, channel: str, onset: int) -> None:
    watch = Watch(LIMIT)
    failure = watch.see([(channel, GOOD[onset]), (channel, LOOPS[kind])])
    assert failure is not None
    assert failure.category == "loop"
    loop = watch.report(Reply())
    assert (loop.state, loop.killed, loop.channel) == ("looping", True, channel)
    assert loop.kind == failure.kind in KINDS
    assert loop.onset is not None
    assert abs(loop.onset - Detector.of(GOOD[onset]).symbols) <= 32


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_repetition_is_not_ended(name: str) -> None:
    text, state = INNOCENT[name]
    watch = Watch(LIMIT)
    assert watch.see([("answer", text)]) is None
    loop = watch.report(Reply.of(text))
    assert (loop.state, loop.killed) == (state, False)


def test_kinds_of_evidence_differ() -> None:
    def kind(name: str) -> str | None:
        watch = Watch(LIMIT)
        text = LOOPS[name] if name in LOOPS else INNOCENT[name][0]
        watch.see([("answer", text)])
        return watch.report(Reply.of(text)).kind

    assert kind("one sentence") == "exact_cycle"
    assert kind("a number that wavers") == "numeric_cycle"
    assert kind("code with 300 lines built alike") == "structural_cycle"
    assert kind("a poem with a refrain") == "overlap"
    assert kind("base64") is None
