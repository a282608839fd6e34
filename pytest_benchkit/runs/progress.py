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
        self._arrivals: deque[tuple[float, bool]] = deque()
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
        self._arrivals.append((now, asked))
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
        while self._asked_within > RATE_TASKS + 1 and arrivals[0][0] <= now - RATE_S:
            self._asked_within -= arrivals.popleft()[1]
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
        times = [time for time, asked in self._arrivals if asked]
        start = self.started if self._asked <= RATE_TASKS else times[-RATE_TASKS - 1]
        start = max(self.started, min(start, now - RATE_S))
        recent = [time for time in times if time > start]
        if not recent or now <= start:
            return None
        paced = sum(time >= recent[0] for time, _ in self._arrivals)
        return left * (now - start) / paced

    def tok_s(self, now: float) -> float | None:
        """Output tokens a second of the tasks that finished in the last 10 s; ``None`` when none told."""
        self._forget(now)
        span = min(TOKENS_S, now - self.started)
        if not self._tokens or span <= 0:
            return None
        return sum(tokens for _, tokens in self._tokens) / span
