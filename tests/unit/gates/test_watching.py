"""Watching a cell: early verdicts equal the final ones of the judge, and stop for what forbids judging."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.gates.judge import judge
from pytest_benchkit.gates.schema import Bound, Entry, Sequential
from pytest_benchkit.gates.watching import Mode, Watch
from tests.unit.gates.runs import rows_of, run_of

OUTCOMES = ("correct", "incorrect", "truncated", "harness_error", "skipped")


def entry(bounds: dict[str, Bound], **more: Any) -> Entry:
    return Entry(
        path="kernels/c/m/BENCH.toml",
        line=1,
        position=0,
        hardware="c",
        model="m",
        quant="none",
        checkpoint="org/m",
        gate="gsm8k",
        status="measured",
        metrics=bounds,
        **more,
    )


def watch_of(words: list[str], limits: Entry, mode: Mode = "certain") -> tuple[Watch, list[dict[str, Any]]]:
    rows = [{**rows_of({word: 1})[0], "key": f"k{place}"} for place, word in enumerate(words)]
    return Watch(limits, [row["key"] for row in rows], mode), rows


@given(
    st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=25),
    st.decimals("0.05", "0.95", places=2),
    st.sampled_from(["score", "truncated_rate"]),
    st.booleans(),
    st.integers(0, 4),
)
def test_certain_says_what_the_judge_will(
    words: list[str], limit: Decimal, metric: str, ceiling: bool, allowed: int
) -> None:
    limits = Bound(max=limit) if ceiling else Bound(min=limit)
    one = entry({metric: limits}, allow_errors=allowed, allow_skipped=25)
    watch, rows = watch_of(words, one)
    for row in rows:
        watch.note(row)
    counts = {word: words.count(word) for word in OUTCOMES}
    if watch.decision is None or counts["harness_error"] > allowed or counts["skipped"] == len(words):
        return
    run = run_of(counts, rows_in_data=len(words))
    final = judge(run.suites()[0], one)
    if counts["correct"] + counts["incorrect"] + counts["truncated"] == 0:
        return  # nothing scored: the judge has no value to compare
    assert final.verdict == watch.decision.verdict, final.lines()


def test_more_errors_than_allowed_are_never_decided() -> None:
    watch, rows = watch_of(
        ["harness_error"] * 3 + ["correct"] * 97, entry({"score": Bound(min=Decimal("0.5"))})
    )
    assert not any(watch.note(row) for row in rows)


def test_rows_count_once() -> None:
    watch, rows = watch_of(["incorrect"] * 10, entry({"score": Bound(min=Decimal("0.8"))}))
    for _ in range(5):
        assert watch.note(rows[0]) is None
    assert watch.note(rows[1]) is None
    assert watch.note(rows[2]) is not None


def test_a_confident_bound_over_clusters_waits_for_the_end() -> None:
    limits = entry({"score": Bound(min=Decimal("0.2"), confidence=Decimal("0.9"))})
    rows = rows_of({"correct": 50})
    keys = [row["key"] for row in rows]
    loose, clustered = Watch(limits, keys, "certain"), Watch(limits, keys, "certain", clustered=True)
    for row in rows:
        loose.note(row)
        clustered.note(row)
    assert loose.decision is not None
    assert clustered.decision is None


LEVELS = Sequential(Decimal("0.9"), Decimal("0.8"), min_tasks=1)


@pytest.mark.parametrize(
    ("more", "after"),
    [
        ({}, 26),
        ({"truncated_rate": Bound(max=Decimal("0.9"))}, 26),
        ({"truncated_rate": Bound(max=Decimal("0.5"))}, 100),
        ({"ttft_p50_ms": Bound(max=Decimal(300))}, None),
    ],
)
def test_sprt_passes_only_where_the_other_bounds_hold(more: dict[str, Bound], after: int | None) -> None:
    limits = entry({"score": Bound(min=Decimal("0.8"))} | more, sequential=LEVELS)
    watch, rows = watch_of(["correct"] * 200, limits, "sprt")
    count = 0
    for row in rows:
        count += 1
        if watch.note(row):
            break
    assert (count if watch.decision else None) == after


def test_sprt_fails_early_whatever_the_others_do() -> None:
    bounds = {"score": Bound(min=Decimal("0.8")), "ttft_p50_ms": Bound(max=Decimal(300))}
    watch, rows = watch_of(["incorrect"] * 200, entry(bounds, sequential=LEVELS), "sprt")
    for row in rows[:5]:
        watch.note(row)
    assert watch.decision is not None
    assert (watch.decision.verdict, watch.decision.after) == ("fail", 5)


def test_sprt_passes_over_skipped_rows() -> None:
    limits = entry({"score": Bound(min=Decimal("0.8"))}, sequential=LEVELS, allow_skipped=50)
    watch, rows = watch_of(["skipped"] * 10 + ["correct"] * 190, limits, "sprt")
    for row in reversed(rows[:36]):
        watch.note(row)
    assert watch.decision is not None
    assert watch.decision.after == 26
