"""Deciding a gate before its run ends: when no completion can change the verdict (``certain``), or when a
sequential probability ratio test says so (``sprt``; Wald 1945, thresholds by the martingale bound, which
holds for any independent scores in [0, 1]). Pure; nothing here stops anything.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pytest_benchkit.gates.bounds import compare, exact, thresholds
from pytest_benchkit.gates.metrics import MetricValue
from pytest_benchkit.gates.schema import Bound, Sequential

Word = Literal["pass", "fail"]
GROWING = frozenset({"errors", "contaminated", "skipped", "excluded"})
"""Counters that never shrink as a run goes on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A gate's run so far. ``decided`` tasks have a score or an allowed error, ``total`` is the sum of the
    scores, ``errors`` the allowed errors among the decided (0 for a floor, 1 for a ceiling); ``counts``:
    decided tasks by outcome, and the growing counters."""

    planned: int
    decided: int = 0
    total: Fraction = Fraction(0)
    skipped: int = 0
    errors: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return self.planned - self.decided - self.skipped


@dataclass(frozen=True, slots=True)
class Decision:
    """An early verdict; ``after`` tasks of ``of``. ``level``: the log ratio of a sequential test."""

    verdict: Word
    code: str
    after: int
    of: int
    metric: str | None = None
    level: float | None = None


def certain(bounds: Mapping[str, Bound], progress: Progress, free: Collection[str] = ()) -> Decision | None:
    """*fail* once one bound fails at its best end, *pass* once all hold at their worst end.

    Excluded rows among the rest can only move the final value inwards. Metrics that the rest can move
    freely (latencies, composites, those named ``free``) are never decided.
    """
    held = 0
    for metric, bound in sorted(bounds.items()):
        ends = ends_of(metric, progress) if metric not in free else None
        if ends is None:
            continue
        results = [compare(metric, value, bound).ok for value in ends]
        if not any(results) and not _between(bound, ends):
            return _decision("fail", progress, metric)
        held += all(results)
    return _decision("pass", progress, None) if held == len(bounds) and bounds else None


def _decision(word: Word, progress: Progress, metric: str | None) -> Decision:
    return Decision(word, "decided-certain", progress.decided, progress.planned, metric)


def _between(bound: Bound, ends: tuple[MetricValue, MetricValue]) -> bool:
    """Whether the bound may hold somewhere between two ends that both fail (two-sided bounds and pins)."""
    low, high = thresholds(bound)
    if low is None or high is None:
        return False
    first, last = (exact(end.value or 0) for end in ends)
    return first < low and last > high


def ends_of(metric: str, progress: Progress) -> tuple[MetricValue, MetricValue] | None:
    """The least and the greatest final value; ``None`` when the rest can move it freely."""
    n = progress.decided + progress.left
    if metric == "score" or (metric.endswith("_rate") and metric.removesuffix("_rate") in progress.counts):
        sofar = (
            progress.total if metric == "score" else Fraction(progress.counts[metric.removesuffix("_rate")])
        )
        if n == 0:
            return None
        kind: Literal["mean01", "proportion"] = "mean01" if metric == "score" else "proportion"
        low, high = (float(x) for x in (sofar / n, (sofar + progress.errors + progress.left) / n))
        return MetricValue(low, kind, n), MetricValue(high, kind, n)
    if metric == "samples":
        scored = n - progress.errors
        return MetricValue(scored, "count"), MetricValue(scored, "count")
    if metric in GROWING and metric in progress.counts:
        least = progress.counts[metric]
        return MetricValue(least, "count"), MetricValue(least + progress.left, "count")
    return None


class Sprt:
    """The sequential test over scores in dispatch order. ``consume`` takes them as a completed prefix."""

    def __init__(self, levels: Sequential, planned: int) -> None:
        good, bad = float(levels.good), float(levels.bad)
        self._right = math.log(good / bad)
        self._wrong = math.log((1 - good) / (1 - bad))
        self._pass = math.log(1 / float(levels.beta))
        self._fail = -math.log(1 / float(levels.alpha))
        self._least = levels.min_tasks
        self._planned = planned
        self._waiting: dict[int, float | None] = {}
        self._next = 1
        self.level = 0.0
        self.consumed = 0
        self.decision: Decision | None = None

    def add(self, position: int, score: float | None) -> Decision | None:
        """A finished task by its place in dispatch order (from 1); ``None`` for one that was skipped.

        Counts when all before it have: slow tasks are wrong more often, so arrival order would favour a
        pass."""
        self._waiting[position] = score
        while self.decision is None and self._next in self._waiting:
            following = self._waiting.pop(self._next)
            self._next += 1
            if following is not None:
                self.consume([following])
        return self.decision

    def consume(self, scores: Iterable[float]) -> Decision | None:
        """The next scores in dispatch order; once decided, the rest changes nothing."""
        for score in scores:
            if self.decision is not None:
                break
            self.consumed += 1
            self.level += score * self._right + (1 - score) * self._wrong
            if self.consumed < self._least:
                continue
            word: Word | None = (
                "pass" if self.level >= self._pass else "fail" if self.level <= self._fail else None
            )
            if word is not None:
                self.decision = Decision(word, "decided-sprt", self.consumed, self._planned, level=self.level)
        return self.decision


def weaker_than_confidence(levels: Sequential, bound: Bound) -> bool:
    """``sprt-weaker-than-confidence``: a pass would be less sure than the bound asks for."""
    return bound.confidence is not None and levels.beta > 1 - bound.confidence
