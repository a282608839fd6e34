"""The structural lane: code whose lines are built alike. Advisory; only while the text looks like code."""

from __future__ import annotations

from collections import deque

from pytest_benchkit.engine.loops.cycles import STRUCTURAL, Cycle, Lane
from pytest_benchkit.engine.loops.symbols import KEYWORDS, Look

KEYWORD_LINES, WITHIN = 3, 200
FENCE = 3
INDENT_SHIFT = 36


class Structure:
    """Watches line starts; feeds a lane with the shape of the symbols while they look like code."""

    def __init__(self) -> None:
        self._lane: Lane | None = None
        self._best: Cycle | None = None
        self._indent: int | None = 0  # of the line that begins with the next symbol
        self._fence = ""
        self._marks = 0
        self._open = False
        self._keywords: deque[int] = deque(maxlen=KEYWORD_LINES)

    def new_line(self, indent: int) -> None:
        self._indent = indent
        self._marks = 0

    def see(self, symbol: str, seen: Look, at: int, chars: int) -> None:
        """Takes the symbol at position ``at`` of its channel."""
        value = seen.structural
        first = self._indent is not None
        if first or self._marks:
            self._watch(symbol, at, first)
        if not self._open and not self._is_code(at):
            if self._lane is not None:
                self._best = self.best
                self._lane = None
            self._indent = None
            return
        if self._indent is not None:
            value |= (self._indent + 1) << INDENT_SHIFT
            self._indent = None
        if self._lane is None:
            self._lane = Lane(STRUCTURAL, at=at)
        self._lane.see(value, chars)

    @property
    def best(self) -> Cycle | None:
        """The most telling cycle so far."""
        lane = self._lane
        found = [self._best, *((lane.best, lane.current()) if lane is not None else ())]
        return max((c for c in found if c is not None), key=lambda c: c.weight, default=None)

    def _watch(self, symbol: str, at: int, first: bool) -> None:
        """Fences and keywords at the start of a line."""
        if first and symbol in "`~":
            self._fence, self._marks = symbol, 1
        elif self._marks and symbol == self._fence:
            self._marks += 1
            if self._marks == FENCE:
                self._open = not self._open
                self._marks = 0
        else:
            self._marks = 0
            if first and symbol in KEYWORDS:
                self._keywords.append(at)

    def _is_code(self, at: int) -> bool:
        return len(self._keywords) == KEYWORD_LINES and at - self._keywords[0] <= WITHIN
