"""Asking tasks several times: pass@k, flips, spread."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest

from pytest_benchkit.runs.metrics import cell_numbers
from pytest_benchkit.runs.repeats import pass_all, pass_at, repeat_numbers, values_by_repeat


def rows(table: dict[str, str]) -> list[dict[str, Any]]:
    """``1`` right, ``0`` wrong, ``x`` an error, one character a repeat."""
    found = []
    for task, marks in table.items():
        for repeat, mark in enumerate(marks):
            outcome = {"1": "correct", "0": "incorrect", "x": "harness_error"}[mark]
            row: dict[str, Any] = {"task_id": task, "repeat": repeat, "outcome": outcome, "flags": []}
            if mark != "x":
                row["score"] = float(mark)
            found.append(row)
    return found


def test_the_three_vectors() -> None:
    assert pass_at(5, 2, 1) == pytest.approx(0.4)
    assert pass_at(5, 2, 3) == pytest.approx(0.9)
    assert pass_all(5, 4, 2) == pytest.approx(0.6)


def test_the_estimator_by_enumeration() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            marks = [1] * c + [0] * (n - c)
            for k in range(1, n + 1):
                drawn = list(combinations(marks, k))
                assert pass_at(n, c, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
                assert pass_all(n, c, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


def test_errors_leave_the_count_of_a_task() -> None:
    values = repeat_numbers(rows({"a": "11x0x", "b": "10000"})).values
    assert values["pass_at_1"] == pytest.approx((2 / 3 + 1 / 5) / 2)
    assert values["pass_at_3"] == pytest.approx((1.0 + 1 - math.comb(4, 3) / math.comb(5, 3)) / 2)
    assert values["pass_at_5"] == 1.0
    assert values["pass_left_out_5"] == 1
    assert "pass_left_out_3" not in values


def test_spread_between_runs_and_flips() -> None:
    table = {str(n): "".join("1" if n < wrong else "0" for wrong in (80, 84, 82)) for n in range(100)}
    values = repeat_numbers(rows(table)).values
    assert values["between_run_sd"] == pytest.approx(0.02)
    assert values["flip_rate"] == pytest.approx(0.04)
    ten = {str(n): "10" if n < 3 else "11" for n in range(10)}
    assert repeat_numbers(rows(ten)).values["flip_rate"] == pytest.approx(0.3)


def test_one_repeat_says_nothing() -> None:
    assert repeat_numbers(rows({"a": "1", "b": "0"})).values == {}
    assert values_by_repeat(rows({"a": "1"}), lambda part: cell_numbers(part, len(part))) == {}


def test_metrics_of_each_repeat() -> None:
    found = values_by_repeat(rows({"a": "10", "b": "11"}), lambda part: cell_numbers(part, len(part)))
    assert found["score"] == [1.0, 0.5]
    assert found["samples"] == [2, 2]
    assert "ci_method" not in found
