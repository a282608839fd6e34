"""How well a decision model's probabilities fit what is true: Brier score, calibration error. Pure.

Sources: Brier (1950), summed over all classes, 0..2; expected calibration error over ten equal bins of the
top probability (Guo et al. 2017, arXiv 1706.04599).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pytest_benchkit.runs.metrics import Numbers, Row

BINS = 10
STABLE_FROM = 100
"""Rows below which a calibration error says little."""
LEAST_P = 1e-12


def decided(rows: Sequence[Row]) -> list[Row]:
    """The rows that carry a distribution."""
    return [row for row in rows if "decision" in row and "score" in row]


def decision_numbers(rows: Sequence[Row]) -> Numbers:
    """``brier`` (0..2), ``ece``, ``nll`` (nats), ``confidence_mean``, ``p_gold_mean``, ``ece.<key>`` of each
    gold of a yes-or-no suite, latencies by nearest rank. ``decisions_per_s`` comes with the speed."""
    numbers = Numbers()
    found = decided(rows)
    if not found:
        return numbers
    facts = [row["decision"] for row in found]
    n = len(facts)
    numbers.values.update(
        brier=math.fsum(f["brier"] for f in facts) / n,
        ece=expected_error(found),
        nll=math.fsum(-math.log(max(f["p_gold"], LEAST_P)) for f in facts) / n,
        confidence_mean=math.fsum(f["confidence"] for f in facts) / n,
        p_gold_mean=math.fsum(f["p_gold"] for f in facts) / n,
        decision_samples=n,
        ties=sum("tie" in row.get("flags", ()) for row in found),
    )
    by_gold: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_gold[row["decision"]["gold"]].append(row)
    if set(by_gold) <= {"yes", "no"}:
        numbers.values.update({f"ece.{gold}": expected_error(part) for gold, part in by_gold.items()})
    times = sorted(t for f in facts if (t := f.get("latency_ms")) is not None)
    for share in (50, 95):
        value = times[math.ceil(share / 100 * len(times)) - 1] if times else None
        numbers.put(f"latency_p{share}_rank_ms", value, "not measured")
    return numbers


def reliability(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The bins of the reliability diagram, from ``low`` up to ``high``; the last one holds 1.0. Accuracy is
    the suite's own verdict on the chosen key."""
    bins: list[list[Row]] = [[] for _ in range(BINS)]
    for row in decided(rows):
        bins[min(BINS - 1, math.floor(BINS * row["decision"]["confidence"]))].append(row)
    found = []
    for place, part in enumerate(bins):
        entry: dict[str, Any] = {"low": place / BINS, "high": (place + 1) / BINS, "n": len(part)}
        if part:
            entry["accuracy"] = math.fsum(row["score"] for row in part) / len(part)
            entry["confidence"] = math.fsum(row["decision"]["confidence"] for row in part) / len(part)
        found.append(entry)
    return found


def expected_error(rows: Sequence[Row]) -> float:
    """Σ share of a bin × |accuracy - mean confidence|."""
    bins = reliability(rows)
    n = sum(part["n"] for part in bins)
    return math.fsum(part["n"] / n * abs(part["accuracy"] - part["confidence"]) for part in bins if part["n"])
