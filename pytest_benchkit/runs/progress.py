"""The live counters of a run: what is done, how fast, how long it will take. Pure: time comes in.

Counted are finished tasks as their records become durable, not items that pytest has reported.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_benchkit.runs.statistics import Z95, wilson
from pytest_benchkit.score import COUNTED, Outcome

Axes = tuple[str, str, str, str]
"""Suite, model, harness, perturbation."""
RATE_S, RATE_TASKS = 30.0, 20
"""The time left is told by the last 30 s or 20 tasks, whichever reach further back (TTY-4)."""
ETA_AFTER = 10
TOKENS_S = 10.0
MOMENT_S = 0.1


@dataclass(slots=True)
class Moment:
    """Tasks that finished within a tenth of a second; thousands a minute are counted, not listed."""

    time: float
    asked: int = 0
    finished: int = 0


@dataclass(slots=True)
class Tally:
    """Counts of one cell. ``planned`` is ``None`` while the plan is not known."""

    planned: int | None = None
    done: int = 0
    scored: int = 0
    total: float = 0.0
    squares: float = 0.0
    graded: int = 0
    errors: int = 0
    retries: int = 0

    def count(self, row: Mapping[str, Any], sign: int) -> None:
        self.done += sign
        if row["outcome"] in COUNTED:
            score = float(row.get("score", 0.0))
            self.scored += sign
            self.total += sign * score
            self.squares += sign * score * score
            self.graded += sign * (score not in (0.0, 1.0))
        elif row["outcome"] in (Outcome.HARNESS_ERROR, Outcome.CONTAMINATED):
            self.errors += sign
        self.retries += sign * len((row.get("ask") or {}).get("retries", ()))

    @property
    def score(self) -> float | None:
        return self.total / self.scored if self.scored else None

    @property
    def half(self) -> float | None:
        """Half the width of the score's interval, rows taken as independent."""
        n = self.scored
        if not n or (self.graded and n < 2):
            return None
        mean = min(1.0, self.total / n)
        if not self.graded:
            low, high = wilson(mean, n)
            return (high - low) / 2
        return Z95 * math.sqrt(max(0.0, self.squares - n * mean * mean) / (n - 1) / n)

    @property
    def over(self) -> bool:
        return self.planned is not None and self.done >= self.planned


class Progress:
    """Counts of every cell of a session, and the pace of its last tasks. Times are seconds of any clock."""

    def __init__(self, started: float) -> None:
        self.started = started
        self.tallies: dict[Axes, Tally] = {}
        self.current: Axes | None = None
        self._rows: dict[str, Mapping[str, Any]] = {}
        self._asked = 0
        self._arrivals: deque[Moment] = deque()
        self._asked_within = 0
        self._tokens: deque[tuple[float, int]] = deque()

    def plan(self, cells: Iterable[Mapping[str, Any]]) -> None:
        """Takes how many tasks each cell has, from the plan's ``cells``."""
        for cell in cells:
            axes = (cell["suite"], cell["model"], cell["harness"], cell["perturbation"])
            self.tallies.setdefault(axes, Tally()).planned = cell["planned"]

    def recall(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Counts rows that an earlier session finished; they say nothing about pace."""
        for row in rows:
            self._count(row)

    def add(self, record: Mapping[str, Any], now: float) -> Axes:
        """Counts a task that has just finished."""
        axes = self.current = self._count(record)
        asked = record["outcome"] != Outcome.SKIPPED
        self._asked += asked
        self._asked_within += asked
        if not self._arrivals or now - self._arrivals[-1].time >= MOMENT_S:
            self._arrivals.append(Moment(now))
        self._arrivals[-1].asked += asked
        self._arrivals[-1].finished += 1
        if (tokens := (record.get("usage") or {}).get("output_tokens")) is not None:
            self._tokens.append((now, tokens))
        self._forget(now)
        return axes

    def _count(self, row: Mapping[str, Any]) -> Axes:
        axes = (row["suite"], row["model"], row["harness"], row["perturbation"])
        tally = self.tallies.setdefault(axes, Tally())
        key = row["key"]
        if (earlier := self._rows.get(key)) is not None:  # asked again: the last row counts
            tally.count(earlier, -1)
        # only what counting reads: the record with its texts must not be held
        kept = {name: row[name] for name in ("outcome", "score", "ask") if name in row}
        self._rows[key] = kept
        tally.count(kept, 1)
        return axes

    def _forget(self, now: float) -> None:
        arrivals = self._arrivals
        while (
            arrivals
            and arrivals[0].time <= now - RATE_S
            and self._asked_within - arrivals[0].asked > RATE_TASKS
        ):
            self._asked_within -= arrivals.popleft().asked
        while self._tokens and self._tokens[0][0] <= now - TOKENS_S:
            self._tokens.popleft()

    @property
    def done(self) -> int:
        return sum(tally.done for tally in self.tallies.values())

    @property
    def planned(self) -> int:
        return sum(tally.planned or tally.done for tally in self.tallies.values())

    def eta_s(self, now: float) -> float | None:
        """Seconds until the last planned task, ``None`` before ten tasks were asked and answered.

        Skipped rows cost no time: those that came before the first answer of the window are no pace.
        """
        left = max(0, self.planned - self.done)
        if self._asked < ETA_AFTER:
            return None
        if not left:
            return 0.0
        start = max(self.started, min(self._twenty_ago(), now - RATE_S))
        recent = [moment for moment in self._arrivals if moment.time > start]
        while recent and not recent[0].asked:
            recent.pop(0)
        if not recent or now <= start:
            return None
        paced = recent[0].asked + sum(moment.finished for moment in recent[1:])
        return left * (now - start) / paced

    def _twenty_ago(self) -> float:
        """When the task before the last twenty that were asked had finished."""
        count = 0
        for moment in reversed(self._arrivals):
            count += moment.asked
            if count > RATE_TASKS:
                return moment.time
        return self.started

    def tok_s(self, now: float) -> float | None:
        """Output tokens a second of the tasks that finished in the last 10 s; ``None`` when none told."""
        self._forget(now)
        span = min(TOKENS_S, now - self.started)
        if not self._tokens or span <= 0:
            return None
        return sum(tokens for _, tokens in self._tokens) / span
