"""What asking every task several times tells (§10.5): pass@k, and how much runs differ. Pure.

Source: the unbiased estimator of pass@k of Chen et al. 2021, arXiv 2107.03374, section 2.1.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence

from pytest_benchkit.runs.metrics import Numbers, Row, counted, score_of

SHOWN = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200)
"""Values of k for which pass@k is given, up to the number of repeats; that number itself always is."""


def repeat_numbers(rows: Sequence[Row]) -> Numbers:
    """``pass_at_<k>``, ``pass_all_<k>``, ``pass_left_out_<k>`` (tasks with fewer than k repeats in the
    denominator), ``between_run_sd``, ``flip_rate``; nothing when every task was asked once."""
    numbers = Numbers()
    repeats = 1 + max((row["repeat"] for row in rows), default=0)
    if repeats < 2:
        return numbers
    tasks: defaultdict[str, list[Row]] = defaultdict(list)
    for row in counted(rows):
        tasks[row["task_id"]].append(row)
    counts = [(len(part), sum(row["score"] == 1.0 for row in part)) for part in tasks.values()]
    for k in sorted({k for k in SHOWN if k <= repeats} | {repeats}):
        enough = [(n, c) for n, c in counts if n >= k]
        why = f"no task has {k} repeats that count"
        numbers.put(f"pass_at_{k}", _mean([pass_at(n, c, k) for n, c in enough]), why)
        numbers.put(f"pass_all_{k}", _mean([pass_all(n, c, k) for n, c in enough]), why)
        if len(enough) < len(counts):
            numbers.values[f"pass_left_out_{k}"] = len(counts) - len(enough)
    scores = [found.mean for part in by_repeat(rows) if (found := score_of(counted(part))) is not None]
    spread = statistics.stdev(scores) if len(scores) > 1 else None
    numbers.put("between_run_sd", spread, "fewer than two repeats have a score")
    flips = [len({row["outcome"] for row in part}) > 1 for part in tasks.values() if len(part) > 1]
    numbers.put("flip_rate", _mean([float(flip) for flip in flips]), "no task was counted twice")
    return numbers


def by_repeat(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each repeat, in order."""
    parts: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        parts[row["repeat"]].append(row)
    return [parts[repeat] for repeat in sorted(parts)]


def values_by_repeat(
    rows: Sequence[Row], numbers_of: Callable[[Sequence[Row]], Numbers]
) -> dict[str, list[float]]:
    """Each metric's value in every repeat, for those that all repeats have; empty for a single one."""
    parts = by_repeat(rows)
    if len(parts) < 2:
        return {}
    found = [numbers_of(part).values for part in parts]
    names = [name for name in found[0] if all(_is_number(values.get(name)) for values in found)]
    return {name: [values[name] for values in found] for name in names}


def pass_at(n: int, c: int, k: int) -> float:
    """The chance that at least one of k replies, drawn from n of which c are right, is right."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_all(n: int, c: int, k: int) -> float:
    """The chance that all of k replies, drawn from n of which c are right, are right."""
    return math.comb(c, k) / math.comb(n, k)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
