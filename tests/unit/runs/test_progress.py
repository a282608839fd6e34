"""The live counters: what they count, and how well they foretell the end."""

from __future__ import annotations

import pytest

from pytest_benchkit.runs.progress import Progress
from pytest_benchkit.runs.statistics import wilson
from tests.support.rows import cell, row


def fed(moments: list[float], planned: int, skips: int = 0) -> tuple[Progress, float]:
    progress = Progress(0.0)
    progress.plan([cell(planned)])
    number = 0
    for _ in range(skips):
        progress.add(row(number, "skipped"), 0.01)
        number += 1
    for moment in moments:
        progress.add(row(number), moment)
        number += 1
    return progress, moments[-1]


def test_no_eta_before_ten_tasks() -> None:
    progress, now = fed([float(n) for n in range(1, 10)], 100)
    assert progress.eta_s(now) is None
    progress.add(row(50), 10.0)
    assert progress.eta_s(10.0) == pytest.approx(90, rel=0.1)


@pytest.mark.parametrize("burst", [1, 4, 16])
@pytest.mark.parametrize("gap", [0.02, 1.0, 40.0])
def test_eta_at_half_time(burst: int, gap: float) -> None:
    """Steady bursts: the truth is known."""
    bursts = 60
    moments = [gap * (place + 1) for place in range(bursts // 2) for _ in range(burst)]
    progress, now = fed(moments, bursts * burst)
    assert progress.eta_s(now) == pytest.approx(gap * bursts / 2, rel=0.1)


def test_eta_does_not_take_skips_for_pace() -> None:
    progress, now = fed([float(n) for n in range(1, 21)], 540, skips=500)
    assert progress.eta_s(now) == pytest.approx(20, rel=0.1)
    for number in range(600, 700):
        progress.plan([cell(1200)])
        progress.add(row(number, "skipped"), 60.0)
    assert progress.done == 620


def test_eta_follows_a_changed_pace() -> None:
    fast = [0.1 * n for n in range(1, 101)]
    slow = [fast[-1] + 2.0 * n for n in range(1, 51)]
    progress, now = fed(fast + slow, 200)
    assert progress.eta_s(now) == pytest.approx(100, rel=0.1)


def test_eta_of_a_finished_run_is_zero() -> None:
    progress, now = fed([float(n) for n in range(1, 21)], 20)
    assert progress.eta_s(now) == 0


def test_score_and_half_width() -> None:
    progress = Progress(0.0)
    for number in range(20):
        axes = progress.add(row(number, "correct" if number < 16 else "incorrect"), 1.0)
    tally = progress.tallies[axes]
    low, high = wilson(0.8, 20)
    assert tally.score == pytest.approx(0.8)
    assert tally.half == pytest.approx((high - low) / 2)
    progress.add(row(20, "partial"), 1.0)
    assert tally.half is not None
    assert tally.half != pytest.approx((high - low) / 2)


def test_errors_retries_and_rows_asked_again() -> None:
    progress = Progress(0.0)
    progress.plan([cell(2)])
    progress.add(row(0, "harness_error", ask={"tries": 2, "retries": [{"cause": "x", "wait_s": 1}]}), 1.0)
    axes = progress.add(row(0, "correct"), 2.0)
    tally = progress.tallies[axes]
    assert (tally.done, tally.scored, tally.errors, tally.retries) == (1, 1, 0, 0)
    assert not tally.over


def test_rows_of_an_earlier_session_count_but_have_no_pace() -> None:
    progress = Progress(0.0)
    progress.plan([cell(40)])
    progress.recall(row(n) for n in range(20))
    for number in range(20, 30):
        progress.add(row(number), float(number - 19))
    assert progress.done == 30
    assert progress.eta_s(10.0) == pytest.approx(10, rel=0.1)


def test_tokens_of_the_last_ten_seconds() -> None:
    progress = Progress(0.0)
    assert progress.tok_s(5.0) is None
    progress.add(row(0, usage={"output_tokens": 100}), 1.0)
    assert progress.tok_s(4.0) == 25
    progress.add(row(1, usage={"output_tokens": 50}), 20.0)
    assert progress.tok_s(20.0) == 5
