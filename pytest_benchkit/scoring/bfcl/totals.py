"""The leaderboard's totals of a whole draw, in percent with two decimals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_benchkit.scoring import metrics
from pytest_benchkit.scoring.bfcl.verdict import CREDITS, GUARDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Rows = Sequence[Mapping[str, Any]]

SIMPLE = ("simple_java", "simple_javascript", "simple_python")
NON_LIVE = ("multiple", "parallel", "parallel_multiple")
LIVE = ("live_multiple", "live_parallel", "live_parallel_multiple", "live_simple")
HALLUCINATION = ("irrelevance", "live_irrelevance")
TOTALS = (
    "non_live",
    "live",
    "hallucination",
    "normalized_single_turn_score",
    "overall_accuracy",
    "overall_guarded",
    "normalized_guarded",
)
"""Totals of a draw: they say nothing of a part of it."""
COUNTS = ("greedy_miss", *CREDITS)


def totals_of(rows: Rows) -> dict[str, float]:
    """Totals and counts from the records in the denominator.

    ``non_live`` is the mean of multiple, parallel, parallel_multiple and the mean of the three simple
    subsets; ``live`` hits by rows over the four live call subsets; ``hallucination`` the mean of both
    irrelevance subsets; ``normalized_single_turn_score`` the mean of these three; ``overall_accuracy`` hits
    by rows. A total of which some subset has no row is absent. ``*_guarded`` are the same without the
    credits that ``also.guarded`` withholds. ``subset.<name>.hits`` and ``.n``, ``greedy_miss`` and the
    counts of credits are numbers of rows.
    """
    found: dict[str, float] = {}
    for subset, n in sorted(Counter(row["category"] for row in rows).items()):
        hits = sum(row["score"] for row in rows if row["category"] == subset)
        found |= {f"subset.{subset}.hits": int(hits), f"subset.{subset}.n": n}
    for flag in COUNTS:
        found[flag] = sum(flag in row["flags"] for row in rows)
    plain, guarded = _totals(rows, _headline), _totals(rows, _guarded)
    found |= plain
    for total, name in (
        ("overall_accuracy", "overall_guarded"),
        ("normalized_single_turn_score", "normalized_guarded"),
    ):
        if total in guarded:
            found[name] = guarded[total]
    return found


def _headline(row: Mapping[str, Any]) -> float:
    return float(row["score"])


def _guarded(row: Mapping[str, Any]) -> float:
    """The score without credit; a row that was not scored at all (timed out) has no other reading."""
    return float(next((r["score"] for r in row.get("also") or () if r["rule"] == GUARDED), row["score"]))


def _totals(rows: Rows, value: Callable[[Mapping[str, Any]], float]) -> dict[str, float]:
    def mean(*subsets: str) -> float | None:
        values = [value(row) for row in rows if row["category"] in subsets]
        complete = {row["category"] for row in rows} >= set(subsets)
        return metrics.mean(values) if complete else None

    simple = _mean_of([mean(subset) for subset in SIMPLE])
    non_live = _mean_of([simple, *(mean(subset) for subset in NON_LIVE)])
    live = mean(*LIVE)
    hallucination = _mean_of([mean(subset) for subset in HALLUCINATION])
    shares = {
        "non_live": non_live,
        "live": live,
        "hallucination": hallucination,
        "normalized_single_turn_score": _mean_of([non_live, live, hallucination]),
        "overall_accuracy": mean(*SIMPLE, *NON_LIVE, *LIVE, *HALLUCINATION),
    }
    return {name: round(100 * share, 2) for name, share in shares.items() if share is not None}


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return metrics.mean(known) if len(known) == len(values) else None
