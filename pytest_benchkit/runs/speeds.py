"""How the times of two runs compare: medians, their ratio and a bootstrap interval (Q-7). Pure."""

from __future__ import annotations

import hashlib
import math
import random
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_benchkit.runs.metrics import Row
from pytest_benchkit.runs.speed import completed, why_no_speed

if TYPE_CHECKING:
    from pytest_benchkit.runs.compare import Side

TIMES = {"ttft_ms": "ttft_ms", "e2e_ms": "e2e_ms", "decode_tok_s": "decode_tok_s"}
DRAWS = 1000
MOST_VALUES = 2000
"""Requests of a side that are drawn from; more of them are thinned evenly."""


def speed_ratios(a: Side, b: Side, *, allow_hardware: bool) -> list[dict[str, Any]]:
    """An entry per time both sides have: ``median_a``, ``median_b``, ``ratio`` (b to a) and its interval. One
    entry with ``why`` where times cannot be compared at all."""
    if a.rows is None or b.rows is None:
        return [{"why": "records missing"}]
    mine = [[row for row in side.rows or () if row["model"] == side.model] for side in (a, b)]
    for side, rows in zip((a, b), mine, strict=True):
        if (why := why_no_speed(side.info, side.model, rows)) is not None:
            return [{"why": f"{side.name}: {why}"}]
    if a.info.get("hardware") != b.info.get("hardware") and not allow_hardware:
        return [{"why": "measured on different machines (--allow hardware compares them all the same)"}]
    found = []
    for name in TIMES:
        first, second = (_values(rows, name) for rows in mine)
        if first and second:
            found.append({"time": name, **_ratio(first, second)})
    return found or [{"why": "no request of both sides was timed"}]


def _values(rows: Sequence[Row], name: str) -> list[float]:
    found = [
        value for row in rows if completed(row) and (value := (row.get("timing") or {}).get(name)) is not None
    ]
    step = max(1, math.ceil(len(found) / MOST_VALUES))
    return sorted(found)[::step]


def _ratio(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    one, two = statistics.median(first), statistics.median(second)
    entry: dict[str, Any] = {"median_a": one, "median_b": two, "n_a": len(first), "n_b": len(second)}
    if one <= 0:
        return entry
    digest = hashlib.sha256(repr((list(first), list(second))).encode()).digest()
    bits = random.Random(int.from_bytes(digest, "big"))
    ratios = sorted(_median(bits, second) / max(_median(bits, first), 1e-9) for _ in range(DRAWS))
    entry["ratio"] = two / one
    entry["ci"] = [ratios[math.floor(0.025 * (DRAWS - 1))], ratios[math.ceil(0.975 * (DRAWS - 1))]]
    return entry


def _median(bits: random.Random, values: Sequence[float]) -> float:
    """The median of a sample of ordered values, drawn with replacement: by its rank alone, which is the
    middle of as many uniform ranks."""
    n = len(values)
    place = bits.betavariate((n + 1) / 2, (n + 1) / 2)
    return values[min(n - 1, int(place * n))]
