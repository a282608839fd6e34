"""What the loop detector found, as metrics."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.runs.loops import NAMES, loop_numbers
from tests.support.rows import row


def looped(number: int, state: str, outcome: str = "correct", **fields: Any) -> dict[str, Any]:
    return row(number, outcome, loop={"state": state, "killed": outcome == "loop_killed"}, **fields)


def test_rates_are_over_counted_rows_with_text() -> None:
    rows = [
        looped(0, "clear"),
        looped(1, "observing"),
        looped(2, "suspected", "incorrect"),
        looped(3, "recovered"),
        looped(4, "looping", "truncated"),
        looped(5, "looping", "loop_killed"),
        looped(6, "looping", "loop_killed"),
        looped(7, "suspected"),
        looped(8, "unavailable", "no_answer"),
        looped(9, "looping", "harness_error"),
        row(10),
    ]
    values = loop_numbers(rows).values
    assert values["loop_rate"] == pytest.approx(4 / 8)
    assert values["loop_kill_rate"] == pytest.approx(2 / 8)
    assert (values["recovered"], values["suspected"]) == (1, 2)


def test_without_a_watched_reply_there_are_none() -> None:
    numbers = loop_numbers([row(0), looped(1, "unavailable", "no_answer"), looped(2, "clear", "skipped")])
    assert not set(NAMES) & set(numbers.values)
    assert {numbers.absent[name] for name in NAMES} == {"no reply was watched for loops"}


def test_trace_coverage() -> None:
    rows = [
        row(0, trace_status="observed"),
        row(1, trace_status="available_empty"),
        row(2),
        row(3, "skipped", trace_status="observed"),
    ]
    assert loop_numbers(rows).values["trace_coverage"] == pytest.approx(2 / 3)
    assert loop_numbers([]).absent["trace_coverage"] == "no counted reply tells"
