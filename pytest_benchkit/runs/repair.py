"""What repair rounds came to (§10.2, §12.4): the score after each round. Pure.

``score`` is always that of first attempts; everything here stands beside it. A task whose rounds ended early
(``repair_unfinished``: an error, or the end of the run) keeps the score of its last counted attempt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.runs.metrics import Numbers, Row, counted, score_of

UNFINISHED = "repair_unfinished"
"""Flag of a task whose rounds ended early: by an error, or because the run stopped."""


def repair_numbers(rows: Sequence[Row], rounds: int) -> Numbers:
    """``repaired_score``, ``repair_delta_pp``, ``repair_attempted`` (tasks with a round),
    ``repair_successes`` (tasks then right), ``repair_turns`` (rounds made), ``repair_regressions``
    (attempts that scored less than one before); nothing when the run makes no rounds."""
    numbers = Numbers()
    scored = counted(rows)
    curve = repair_curve(rows, rounds)
    if not rounds:
        return numbers
    nothing = "no score"
    numbers.put("repaired_score", curve[-1]["score"] if curve else None, nothing)
    numbers.put("repair_delta_pp", curve[-1]["cumulative_delta_pp"] if curve else None, nothing)
    later = [scores for row in scored if len(scores := _scores(row)) > 1]
    numbers.values["repair_attempted"] = sum(len(row.get("attempts", ())) > 1 for row in scored)
    numbers.values["repair_successes"] = sum(scores[-1] == 1.0 for scores in later)
    numbers.values["repair_turns"] = sum(max(0, len(row.get("attempts", ())) - 1) for row in scored)
    numbers.values["repair_regressions"] = sum(
        scores[n] < max(scores[:n]) for scores in later for n in range(1, len(scores))
    )
    if cut := sum(UNFINISHED in row.get("flags", ()) for row in scored):
        numbers.values[UNFINISHED] = cut
    return numbers


def repair_curve(rows: Sequence[Row], rounds: int) -> list[dict[str, Any]]:
    """The score after r = 0 ... ``rounds`` rounds: ``round``, ``score``, ``delta_pp`` to the round before,
    ``cumulative_delta_pp``, ``attempted`` (tasks asked in this round), ``new_passes``,
    ``elimination`` (what guessing without repeating an answer would reach) for suites of choices."""
    scored = counted(rows)
    curve: list[dict[str, Any]] = []
    if not rounds or not scored:
        return curve
    for number in range(rounds + 1):
        found = score_of([{**row, "score": _after(row, number)} for row in scored])
        score = found.mean if found else 0.0
        first, last = (curve[0]["score"], curve[-1]["score"]) if curve else (score, score)
        entry: dict[str, Any] = {
            "round": number,
            "score": score,
            "delta_pp": 100 * (score - last),
            "cumulative_delta_pp": 100 * (score - first),
            "attempted": sum(len(row.get("attempts", (row,))) > number for row in scored),
            "new_passes": sum(_after(row, number) == 1.0 > _before(row, number) for row in scored),
        }
        guessed = _elimination(scored, number)
        curve.append(entry if guessed is None else {**entry, "elimination": guessed})
    return curve


def _elimination(scored: Sequence[Row], rounds: int) -> float | None:
    """The score that guessing by elimination reaches: (r + 1) / k of a task with k choices and r rounds, at
    most k - 2 of them (R-6). ``None`` where an answer is not one of known choices."""
    choices = [row.get("choices") for row in scored]
    shares = [(min(rounds, max(0, k - 2)) + 1) / k for k in choices if k]
    return math.fsum(shares) / len(shares) if shares and len(shares) == len(choices) else None


def _scores(row: Row) -> list[float]:
    """The scores of the attempts that count, in order."""
    attempts: Sequence[Mapping[str, Any]] = row.get("attempts") or (row,)
    return [float(attempt["score"]) for attempt in attempts if "score" in attempt]


def _after(row: Row, number: int) -> float:
    """The score after this many rounds, carried forward where there was no further one."""
    return _scores(row)[: number + 1][-1]


def _before(row: Row, number: int) -> float:
    return _after(row, number - 1) if number else 0.0
