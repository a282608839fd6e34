"""Metrics that many suites share, from the records in the denominator. Pure; fractions are 0..1.

A record here is a mapping with the fields of a task record: ``score``, ``extracted``, ``expected``,
``rule``, ``also`` (list of ``rule``, ``extracted``, ``score``), ``category``, ``labels``, ``flags``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def mean(values: Iterable[float]) -> float | None:
    """The plain mean, ``None`` of nothing."""
    kept = list(values)
    return sum(kept) / len(kept) if kept else None


def common(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """``rule.<name>`` (rows per rule that fired), ``also.<rule>`` (mean of each other reading over the rows
    of the denominator, an absent reading counts 0), ``score_official`` and ``official_gap_pp`` (headline
    minus official, in percentage points) where some row has an official reading."""
    if not rows:
        return {}
    found: dict[str, float] = {}
    for rule, count in sorted(Counter(row.get("rule") or "none" for row in rows).items()):
        found[f"rule.{rule}"] = count
    readings: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        for reading in row.get("also") or ():
            readings[reading["rule"]] += reading["score"] or 0.0
    for rule, total in sorted(readings.items()):
        found[f"also.{rule}"] = total / len(rows)
    if "official" in readings:
        official = readings["official"] / len(rows)
        headline = sum(row.get("score") or 0.0 for row in rows) / len(rows)
        found["score_official"] = official
        found["official_gap_pp"] = 100 * (headline - official)
    return found


def ambiguous_rate(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Share of replies that stated two different answers."""
    return mean(float("ambiguous" in (row.get("flags") or ())) for row in rows)


def letters(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """For choice suites: ``chance`` (mean of 1/options), ``letter.<L>`` (share of the extracted letters),
    ``letter.gold.<L>`` (share of the golds), so that a constant answer is seen at a glance, and
    ``ambiguous_rate``."""
    found: dict[str, float] = {}
    if (ambiguous := ambiguous_rate(rows)) is not None:
        found["ambiguous_rate"] = ambiguous
    sizes = [size for row in rows if (size := (row.get("labels") or {}).get("options"))]
    if sizes:
        found["chance"] = sum(1 / size for size in sizes) / len(sizes)
    golds = Counter(row.get("expected") for row in rows)
    read = Counter(row["extracted"] for row in rows if row.get("extracted"))
    for letter in sorted({letter for letter in (*golds, *read) if letter}):
        found[f"letter.{letter}"] = read[letter] / max(1, read.total())
        found[f"letter.gold.{letter}"] = golds[letter] / len(rows)
    return found


def macro(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The plain mean over categories of their mean scores, ``None`` without a category."""
    by_category: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        if (category := row.get("category")) is not None:
            by_category[category].append(row.get("score") or 0.0)
    return mean(sum(scores) / len(scores) for scores in by_category.values())
