"""The two rates of Code-Verifier: of programs that were judged, not of programs that were missed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.registry import find_suite


def row(gold: str, said: str | None) -> dict[str, Any]:
    return {
        "expected": gold,
        "extracted": said,
        "score": float(gold == said),
        "category": gold,
        "rule": "bare" if said else "none",
        "also": [],
        "flags": [],
    }


def test_rows_without_an_answer_are_neither_accepted_nor_rejected() -> None:
    rows = [
        *(row("yes", said) for said in ("yes", "no", None, None)),
        *(row("no", said) for said in ("no", "yes", "yes", None, None)),
    ]
    found = find_suite("code-verifier")().metrics(rows)
    assert found["false_reject_rate"] == pytest.approx(1 / 4)
    assert found["false_accept_rate"] == pytest.approx(2 / 5)
    assert found["balanced_accuracy"] == pytest.approx((1 / 4 + 1 / 5) / 2)
    assert (found["n_passing"], found["n_failing"]) == (4, 5)


def test_rates_of_rows_that_are_not_there_are_absent() -> None:
    found = find_suite("code-verifier")().metrics([row("no", "yes")])
    assert found["false_accept_rate"] == 1.0
    assert not {"false_reject_rate", "balanced_accuracy"} & set(found)
