"""The table of pairs (TTY-13): two sides of the same tasks, and how sure their difference is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.reports.format import UNKNOWN, percent, safe
from pytest_benchkit.reports.table import Column

Pair = Mapping[str, Any]


def pair_columns(pairs: Sequence[Pair]) -> list[Column]:
    """One row a pair; a column that no row fills is left out."""
    return [
        Column("suite", "name", [safe(pair["suite"]) for pair in pairs]),
        Column("model", "name", [safe(pair["model"]) for pair in pairs]),
        Column("pair", "name", [f"{safe(pair['side_a'])} → {safe(pair['side_b'])}" for pair in pairs]),
        Column("n", "core", [str(pair["n"]) for pair in pairs]),
        Column("scores", "core", [_scores(pair) for pair in pairs]),
        Column("Δ pp", "core", [_signed(pair.get("delta_pp")) for pair in pairs]),
        Column("[95 %]", "tail", [_interval(pair) for pair in pairs]),
        Column("gains", "more", [str(pair.get("gains", UNKNOWN)) for pair in pairs]),
        Column("losses", "more", [str(pair.get("losses", UNKNOWN)) for pair in pairs]),
        Column("p", "more", [_p(pair) for pair in pairs]),
        Column("same choice", "more", [_share(pair) for pair in pairs]),
        Column("dropped", "more", [_dropped(pair) for pair in pairs]),
    ]


def _scores(pair: Pair) -> str:
    if "score_a" not in pair:
        return UNKNOWN
    return f"{percent(pair['score_a'], pair['n'])} → {percent(pair['score_b'], pair['n'])}"


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.1f}"


def _interval(pair: Pair) -> str:
    if "ci_pp" not in pair:
        return ""
    low, high = pair["ci_pp"]
    return f"[{low:+.1f}, {high:+.1f}]"


def _p(pair: Pair) -> str:
    if "p" not in pair:
        return UNKNOWN
    return f"{pair['p']:.3f}" if pair["p"] >= 0.001 else "<0.001"


def _share(pair: Pair) -> str:
    return percent(pair["consistency"], pair["n"]) + " %" if "consistency" in pair else ""


def _dropped(pair: Pair) -> str:
    return ", ".join(f"{count} {safe(outcome)}" for outcome, count in sorted(pair["dropped"].items()))
