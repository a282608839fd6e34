"""Watching a cell for the gates that hold it: each finished row is looked at once, and when every gate of
the cell is decided the rest need not be asked. Pure; :mod:`pytest_benchkit.plugin.early` stops the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from pytest_benchkit.gates.bounds import BoundResult, compare, exact
from pytest_benchkit.gates.early import Decision, Progress, Sprt, certain, ends_of
from pytest_benchkit.gates.metrics import MetricValue
from pytest_benchkit.gates.result import ERRORS
from pytest_benchkit.gates.schema import Entry
from pytest_benchkit.gates.verdict import GateVerdict
from pytest_benchkit.score import COUNTED, Outcome

Mode = Literal["certain", "sprt"]
SCORE = "score"


def settled(verdict: GateVerdict, rows: Sequence[Mapping[str, Any]], planned: int) -> GateVerdict:
    """The verdict on a stored run whose rest was not asked: what is certain of it, whatever that rest were.

    ``rows`` are those of the gate's cell, ``planned`` is how many it would have.
    """
    if verdict.entry is None or not verdict.counts.unasked:
        return verdict
    keys = [row["key"] for row in rows] + [f"unasked {number}" for number in range(planned - len(rows))]
    watch = Watch(verdict.entry, keys, "certain", clustered=any("group" in row for row in rows))
    for row in rows:
        watch.note(row)
    return watch.applied_to(verdict)


class Watch:
    """One gate over one cell. ``keys``: the cell's rows in dispatch order; ``clustered``: whether its rows
    hang together in groups, whose number at the end cannot be told early."""

    def __init__(self, entry: Entry, keys: Sequence[str], mode: Mode, *, clustered: bool = False) -> None:
        self.entry = entry
        self.bounds = dict(entry.metrics or {})
        self.free = frozenset(
            name for name, b in self.bounds.items() if clustered and b.confidence is not None
        )
        self.decision: Decision | None = None
        self._places = {key: place for place, key in enumerate(keys, start=1)}
        self._seen: set[str] = set()
        self._total = Fraction(0)
        self._outcomes: Counter[str] = Counter()
        levels = entry.sequential if mode == "sprt" else None
        self.sequential = levels if levels is not None and levels.metric == SCORE else None
        self._sprt = Sprt(self.sequential, len(keys)) if self.sequential is not None else None

    def note(self, row: Mapping[str, Any]) -> Decision | None:
        """A finished row; rows of other cells and rows seen before change nothing."""
        key, outcome = row["key"], row["outcome"]
        place = self._places.get(key)
        if self.decision is not None or place is None or key in self._seen:
            return self.decision
        self._seen.add(key)
        self._outcomes[outcome] += 1
        score = exact(row.get("score") or 0) if outcome in COUNTED else Fraction(0)
        self._total += score
        tested = None
        if self._sprt is not None:
            tested = self._sprt.add(place, None if outcome == Outcome.SKIPPED else float(score))
        progress = self.progress
        if progress.errors > self.entry.allow_errors or progress.skipped > self.entry.allow_skipped:
            return None  # not judged, however it goes on
        if tested is not None and (tested.verdict == "fail" or self._others_hold(progress)):
            self.decision = tested
        else:
            self.decision = certain(self.bounds, progress, self.free)
        return self.decision

    @property
    def progress(self) -> Progress:
        errors = sum(self._outcomes[outcome] for outcome in ERRORS)
        skipped = self._outcomes[Outcome.SKIPPED]
        counts = {outcome.value: self._outcomes[outcome] for outcome in COUNTED} | {
            "errors": self._outcomes[Outcome.HARNESS_ERROR],
            "contaminated": self._outcomes[Outcome.CONTAMINATED],
            "skipped": skipped,
        }
        return Progress(
            len(self._places), sum(self._outcomes.values()) - skipped, self._total, skipped, errors, counts
        )

    def _others_hold(self, progress: Progress) -> bool:
        """Whether every bound but the tested floor holds at its worst end."""
        for metric, bound in self.bounds.items():
            rest = replace(bound, min=None) if metric == SCORE else bound
            if rest.min is None and rest.max is None:
                continue
            ends = ends_of(metric, progress) if metric not in self.free else None
            if ends is None or not all(compare(metric, end, rest).ok for end in ends):
                return False
        return True

    def applied_to(self, verdict: GateVerdict) -> GateVerdict:
        """The verdict on a run whose rest was not asked. What else forbids judging still does."""
        decision = self.decision
        if decision is None or not verdict.counts.unasked:
            return verdict
        reasons = tuple(reason for reason in verdict.reasons if reason.code != "incomplete")
        intervals = {
            metric: ends_of(metric, self.progress) for metric in self.bounds if metric not in self.free
        }
        early = {
            "mode": decision.code.removeprefix("decided-"),
            "code": decision.code,
            "verdict": decision.verdict,
            "after": decision.after,
            "of": decision.of,
            "metric": decision.metric,
            "intervals": {m: [end.value for end in ends] for m, ends in intervals.items() if ends},
        }
        if decision.level is not None and self.sequential is not None:
            rates = ("good", "bad", "alpha", "beta")
            early |= {name: float(getattr(self.sequential, name)) for name in rates}
            early["log_ratio"] = decision.level
        return replace(
            verdict,
            verdict="not-judged" if reasons else decision.verdict,
            reasons=reasons,
            bounds=tuple(
                self._shown(bound, intervals.get(bound.metric), decision) for bound in verdict.bounds
            ),
            early=early,
        )

    def _shown(
        self, sofar: BoundResult, ends: tuple[MetricValue, MetricValue] | None, decision: Decision
    ) -> BoundResult:
        """A bound at the end that decides: the best one if even that fails, else the worst."""
        if ends is None or (decision.level is not None and sofar.metric == SCORE):
            return replace(sofar, message=f"so far {sofar.message}")
        low, high = (compare(sofar.metric, end, sofar.bound, self.entry.combine) for end in ends)
        worst, best = (low, high) if sofar.bound.min is not None else (high, low)
        if not (low.ok or high.ok) and decision.verdict == "fail":
            return replace(best, message=f"at best {best.message}", notes=())
        if decision.verdict == "pass":
            return replace(worst, message=f"at worst {worst.message}", notes=())
        return replace(sofar, message=f"so far {sofar.message}")
