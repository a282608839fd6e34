"""What repair rounds came to, in numbers."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.runs.metrics import cell_numbers
from pytest_benchkit.runs.repair import repair_curve, repair_numbers
from pytest_benchkit.runs.speed import speed_numbers
from tests.support.rows import row


def repaired(number: int, scores: list[float | None], **fields: Any) -> dict[str, Any]:
    """A row whose attempts scored so; ``None`` is an error."""
    words = {1.0: "correct", 0.0: "incorrect", None: "harness_error"}
    attempts = []
    for place, score in enumerate(scores):
        attempt: dict[str, Any] = {
            "number": place,
            "outcome": words.get(score, "partial"),
            "usage": {"output_tokens": 10 * (place + 1)},
            "timing": {"sent_at": 100.0 + 2 * place, "end_ms": 1000.0},
            "ask": {"tries": 1},
        }
        if score is not None:
            attempt["score"] = score
        else:
            attempt["error"] = {"kind": "http_500", "message": "no", "retryable": False}
        attempts.append(attempt)
    first = attempts[0]
    extra = {"attempts": attempts} if len(attempts) > 1 else {}
    own = {name: first[name] for name in ("score", "usage", "timing", "ask")}
    return dict(row(number, first["outcome"], **{**own, **extra, **fields}))


ROWS = [
    repaired(0, [1.0]),
    repaired(1, [0.0, 1.0]),
    repaired(2, [0.0, 0.0, 0.0]),
    repaired(3, [0.5, 0.25, 1.0]),
    repaired(4, [0.0, None], flags=["repair_unfinished"]),
]


def test_the_score_is_that_of_first_attempts() -> None:
    assert cell_numbers(ROWS, 5).values["score"] == pytest.approx(0.3)


def test_numbers_of_repair() -> None:
    values = repair_numbers(ROWS, 2).values
    assert values["repaired_score"] == pytest.approx(0.6)
    assert values["repair_delta_pp"] == pytest.approx(30.0)
    assert values["repair_attempted"] == 4
    assert values["repair_successes"] == 2
    assert values["repair_turns"] == 6
    assert values["repair_regressions"] == 1
    assert values["repair_unfinished"] == 1


def test_the_curve() -> None:
    curve = repair_curve(ROWS, 2)
    assert [point["score"] for point in curve] == pytest.approx([0.3, 0.45, 0.6])
    assert [point["attempted"] for point in curve] == [5, 4, 2]
    assert [point["new_passes"] for point in curve] == [1, 1, 1]
    assert [point["delta_pp"] for point in curve] == pytest.approx([0, 15, 15])
    assert [point["cumulative_delta_pp"] for point in curve] == pytest.approx([0, 15, 30])


def test_without_rounds_there_is_nothing() -> None:
    assert repair_numbers(ROWS, 0).values == {}
    assert repair_curve(ROWS, 0) == []
    assert repair_numbers([], 2).absent["repaired_score"] == "no score"


def test_guessing_by_elimination() -> None:
    rows = [repaired(n, [0.0], choices=4) for n in range(3)]
    assert [p["elimination"] for p in repair_curve(rows, 3)] == pytest.approx([0.25, 0.5, 0.75, 0.75])
    pairs = [repaired(n, [0.0], choices=2) for n in range(3)]
    assert [p["elimination"] for p in repair_curve(pairs, 1)] == pytest.approx([0.5, 0.5])
    assert "elimination" not in repair_curve([*rows, repaired(9, [0.0])], 1)[0]


def test_tokens_and_requests_count_every_attempt_and_speed_each_span() -> None:
    values = cell_numbers(ROWS, 5).values
    assert values["output_tokens"] == 10 + (10 + 20) + (10 + 20 + 30) * 2 + (10 + 20)
    speed = speed_numbers(ROWS).values
    assert speed["requests"] == 11
    assert speed["busy_s"] == pytest.approx(3.0)
    assert speed["speed_samples"] == 10
