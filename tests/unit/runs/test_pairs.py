"""Pairs of clean and perturbed rows: who counts, and what is said of them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pytest_benchkit.runs.pairs import metrics_of, pairs
from pytest_benchkit.score import COUNTED, Outcome


def row(task: str, outcome: str, perturbation: str = "none", **more: Any) -> dict[str, Any]:
    found = {
        "key": f"arc|{task}|m|direct|{perturbation}|0",
        "task_id": task,
        "repeat": 0,
        "outcome": outcome,
        "perturbation": perturbation,
        **more,
    }
    if outcome in COUNTED:
        found["score"] = more.get("score", 1.0 if outcome == "correct" else 0.0)
    return found


def one(clean: list[dict[str, Any]], twin: list[dict[str, Any]]) -> dict[str, Any]:
    [pair] = pairs({("arc", "m", "direct", "none"): clean, ("arc", "m", "direct", "choice-order"): twin})
    return pair


def test_every_pair_of_outcomes() -> None:
    """A pair counts exactly if both sides are in the denominator; others are counted by outcome."""
    for first, second in itertools.product(Outcome, Outcome):
        pair = one([row("1", first)], [row("1", second, "choice-order")])
        if first in COUNTED and second in COUNTED:
            assert (pair["n"], pair["dropped"]) == (1, {})
        else:
            blamed = first if first not in COUNTED else second
            assert (pair["n"], pair["dropped"]) == (0, {blamed.value: 1})


def test_errors_change_n_and_not_the_difference() -> None:
    clean = [row(str(n), "correct" if n % 2 else "incorrect") for n in range(20)]
    twin = [row(str(n), "correct" if n % 4 else "incorrect", "choice-order") for n in range(20)]
    whole = one(clean, twin)
    assert (whole["n"], whole["gains"], whole["losses"]) == (20, 5, 0)
    assert whole["delta_pp"] == pytest.approx(25)
    more = one([*clean, row("x", "harness_error")], [*twin, row("x", "correct", "choice-order")])
    assert (more["n"], more["delta_pp"], more["dropped"]) == (20, whole["delta_pp"], {"harness_error": 1})


def test_sides_without_a_record_are_dropped() -> None:
    pair = one(
        [row("1", "correct"), row("2", "correct")], [row("2", "correct", "choice-order"), row("3", "correct")]
    )
    assert (pair["n"], pair["dropped"]) == (1, {"no_record": 2})


def test_without_a_clean_side_there_is_no_pair() -> None:
    assert pairs({("arc", "m", "direct", "choice-order"): [row("1", "correct", "choice-order")]}) == []


def test_choices_are_compared_by_original_place() -> None:
    order = [2, 0, 1]
    facts = {"name": "choice-order", "seed": 42, "order": order, "gold_before": "A", "gold_after": "B"}
    still = {**facts, "order": [0, 2, 1], "gold_after": "A"}
    clean = [
        row("1", "correct", extracted="A"),
        row("2", "incorrect", extracted="C"),
        row("3", "no_answer"),
        row("4", "incorrect", extracted="C"),
    ]
    twin = [
        row("1", "correct", "choice-order", extracted="B", perturbed=facts),
        row("2", "correct", "choice-order", extracted="B", perturbed=facts),
        row("3", "no_answer", "choice-order", perturbed=facts),
        row("4", "incorrect", "choice-order", extracted="B", perturbed=still),
    ]
    pair = one(clean, twin)
    assert pair["consistency"] == 2 / 4
    assert (pair["moved_n"], pair["moved_delta_pp"]) == (3, pytest.approx(100 / 3))
    assert pair["gold_letters_a"] == {"A": 4}
    assert pair["gold_letters_b"] == {"A": 1, "B": 3}
    assert metrics_of(pair)["pair.consistency"] == 0.5


def test_loops_and_tokens() -> None:
    clean = [row("1", "correct", usage={"output_tokens": 10}), row("2", "loop_killed")]
    twin = [
        row("1", "correct", "choice-order", usage={"output_tokens": 30}),
        row("2", "correct", "choice-order"),
    ]
    pair = one(clean, twin)
    assert pair["loop_kill_delta"] == -1
    assert pair["output_tokens_delta_mean"] == 20
