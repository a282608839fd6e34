"""Speed from rows: what counts, what does not, and when there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.runs.speed import (
    SPEED_METRICS,
    most_at_once,
    speed_numbers,
    union_s,
    why_no_speed,
)
from tests.support.rows import cell, info, row, timed


def test_rates_by_hand() -> None:
    # two requests side by side for 5 s, a pause of 5 s, one alone for 5 s
    rows = [timed(0, 100, 5), timed(1, 100, 5), timed(2, 110, 5)]
    values = speed_numbers(rows).values
    assert values["busy_s"] == pytest.approx(10)
    assert values["aggregate_tok_s"] == pytest.approx(303 / 10)
    assert values["stream_tok_s"] == values["stream_tok_s_p50"] == pytest.approx(25)
    assert values["inflight_mean"] == pytest.approx(1.5)
    assert values["inflight_max"] == 2
    assert values["tasks_per_s"] == pytest.approx(0.3)
    assert values["ttft_p50_ms"] == pytest.approx(1000)
    assert values["e2e_p50_ms"] == pytest.approx(5000)
    assert values["queue_p50_s"] == 0.25
    assert values["wall_s"] == pytest.approx(10)
    assert values["speed_samples"] == 3


def test_errors_inside_the_same_intervals_change_nothing() -> None:
    rows = [timed(n, 100 + n, 5) for n in range(4)]
    failed = [
        row(9, "harness_error", timing={"sent_at": 101.0, "end_ms": 2000.0, "queued_s": 0.25}),
        row(10, "harness_error"),
        row(11, "timed_out", error={"kind": "request", "message": "late", "retryable": False}),
    ]
    clean, mixed = speed_numbers(rows).values, speed_numbers([*rows, *failed]).values
    for name in ("busy_s", "aggregate_tok_s", "stream_tok_s", "ttft_p50_ms", "e2e_p50_ms", "speed_samples"):
        assert clean[name] == mixed[name]


def test_pauses_between_sessions_are_not_time_of_the_run() -> None:
    later = {"started_at": "2026-01-03T00:00:00.000Z", "finished_at": "2026-01-03T00:00:04.500Z"}
    values = speed_numbers([row(0), row(1, session=1, **later)]).values
    assert values["wall_s"] == pytest.approx(14.5)


def test_unknown_tokens_mean_no_rate_never_zero() -> None:
    rows = [timed(n, 100 + n, 5, usage={}) for n in range(10)]
    numbers = speed_numbers(rows)
    for name in ("aggregate_tok_s", "stream_tok_s"):
        assert name not in numbers.values
        assert numbers.absent[name]
    rows = [timed(n, 100 + n, 5) for n in range(18)] + [timed(n, 100, 5, usage={}) for n in (18, 19)]
    assert speed_numbers(rows).absent["aggregate_tok_s"] == "18 of 20 replies told their tokens"


def test_server_times_stand_apart() -> None:
    rows = [timed(0, 100, 5)]
    rows[0]["timing"]["server"] = {"predicted_ms": 2000.0, "prompt_ms": 500.0}
    rows[0]["usage"]["cached_tokens"] = 4
    values = speed_numbers(rows).values
    assert values["server_decode_tok_s"] == pytest.approx(101 / 2)
    assert values["server_prompt_tok_s"] == pytest.approx(6 / 0.5)
    assert values["stream_tok_s"] == pytest.approx(25)


def test_retries_are_counted() -> None:
    ask = {
        "tries": 3,
        "retries": [{"cause": "http_503", "wait_s": 0.5}, {"cause": "http_503", "wait_s": 1.0}],
    }
    values = speed_numbers([row(0, ask=ask), row(1)]).values
    assert (values["requests"], values["retries"], values["retry_wait_s"]) == (4, 2, 1.5)


def test_nothing_timed() -> None:
    numbers = speed_numbers([row(0)])
    assert set(SPEED_METRICS) - {"wall_s"} <= set(numbers.absent)
    assert not set(numbers.absent) & set(numbers.values)


def test_simulated_replayed_and_mixed_runs_have_no_speed() -> None:
    rows = [timed(n, 100 + n, 5, session=n % 2) for n in range(4)]
    one = info([cell(4)])
    assert why_no_speed(one, "m", rows) is None
    simulated = info([cell(4)], models=[{"name": "m", "simulated": True}])
    replayed = info([cell(4)], replay_of="20250101T000000Z-aaaaaa")
    mixed = info([cell(4)], sessions=[{"host": "a"}, {"host": "b"}])
    reasons = {why_no_speed(run, "m", rows) for run in (simulated, replayed, mixed)}
    assert len(reasons) == 3
    assert None not in reasons
    for reason in reasons:
        numbers = speed_numbers(rows, reason)
        assert not set(SPEED_METRICS) & set(numbers.values)
        assert all(numbers.absent[name] == reason for name in SPEED_METRICS)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=30))
def test_union_and_peak_against_counting(pairs: list[tuple[int, int]]) -> None:
    intervals = [(float(start), float(start + length)) for start, length in pairs]
    covered = {s for start, end in intervals for s in range(int(start), int(end))}
    assert union_s(intervals) == len(covered)
    peak = max((sum(start <= s < end for start, end in intervals) for s in range(71)), default=0)
    assert most_at_once([i for i in intervals if i[0] < i[1]]) == peak
