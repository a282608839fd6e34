"""Brier score and calibration: the published vectors."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.runs.decisions import decision_numbers, expected_error, reliability


def row(confidence: float, right: bool, **more: Any) -> dict[str, Any]:
    facts = {
        "confidence": confidence,
        "p_gold": confidence if right else 1 - confidence,
        "gold": "A",
        "brier": 0.1,
    }
    return {"score": float(right), "flags": [], "decision": {**facts, **more}}


SEEN = [row(0.95, True), row(0.90, True), row(0.85, False), row(0.55, True), row(1.0, True)]


def test_expected_calibration_error() -> None:
    assert expected_error(SEEN) == pytest.approx(0.29)


def test_the_last_bin_holds_its_right_edge() -> None:
    bins = reliability(SEEN)
    assert [part["n"] for part in bins] == [0, 0, 0, 0, 0, 1, 0, 0, 1, 3]
    assert bins[9]["accuracy"] == 1.0
    assert "accuracy" not in bins[0]
    assert bins[9]["high"] == 1.0


def test_means() -> None:
    rows = [row(0.9, True, brier=0.02, latency_ms=10.0), row(0.6, False, brier=0.72, latency_ms=30.0)]
    values = decision_numbers(rows).values
    assert values["brier"] == pytest.approx(0.37)
    assert values["confidence_mean"] == pytest.approx(0.75)
    assert values["p_gold_mean"] == pytest.approx(0.65)
    assert values["latency_p50_rank_ms"] == 10.0
    assert values["latency_p95_rank_ms"] == 30.0
    assert decision_numbers([{"score": 1.0, "flags": []}]).values == {}


def test_yes_or_no_suites_are_calibrated_per_side() -> None:
    rows = [row(1.0, True, gold="yes"), row(1.0, False, gold="no")]
    values = decision_numbers(rows).values
    assert (values["ece.yes"], values["ece.no"], values["ece"]) == (0.0, 1.0, pytest.approx(0.5))


def test_a_certain_mistake_is_finite() -> None:
    assert decision_numbers([row(1.0, False)]).values["nll"] == pytest.approx(27.631, abs=1e-3)
