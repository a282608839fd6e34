"""A lane: finds that the last symbols of a stream repeat with some period, at O(1) work per symbol.

A rolling hash of the last ``WIDTH`` symbols finds an earlier place that looks the same; from there on each
symbol is compared with the one a period back. Earlier text is never read again.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from pytest_benchkit.engine.loops.symbols import WORD

WIDTH = 24
REACH = 1024
"""The longest period."""
MASK = 2 * REACH - 1
PRIME = 2**61 - 1
BASE = 0x1B873593_0000_4F2D % PRIME
LEAVING = pow(BASE, WIDTH, PRIME)
CONFIRM_SYMBOLS, CONFIRM_CHARS = 32, 256
WORDLESS_TIMES = 4
"""A cycle without any word of letters (tables of digits) may go on this many times as long."""


class Level(IntEnum):
    NONE = 0
    ADVISORY = 1
    ACTIONABLE = 2
    CONFIRMED = 3


class Rule(NamedTuple):
    """When a cycle says something (``advisory``) and when it may end a request (``actionable``): the longest
    period, the fewest repetitions, the shortest span in symbols. ``fewest_words``: of letters, a period."""

    kind: str
    advisory: tuple[int, int, int]
    actionable: tuple[int, int, int] | None
    fewest_words: int = 0


EXACT = Rule("exact_cycle", (1024, 3, 48), (512, 4, 64))
NUMERIC = Rule("numeric_cycle", (1024, 4, 64), (512, 6, 96), fewest_words=3)
STRUCTURAL = Rule("structural_cycle", (1024, 4, 64), None)


@dataclass(slots=True)
class Cycle:
    """A stretch of symbols that repeats. ``onset``: position of its first symbol. ``killed_at``: position at
    which it ended the request; ``broken_at``: of the symbol that did not fit."""

    kind: str
    period: int
    onset: int
    span: int
    level: Level
    killed_at: int | None = None
    broken_at: int | None = None

    @property
    def repetitions(self) -> int:
        return self.span // self.period

    @property
    def weight(self) -> tuple[int, int]:
        """By which the more telling of two cycles is found."""
        return self.level, self.span


class Lane:
    """Follows one stream of symbols. ``limit``: symbols from confirmation to the kill, 0 for never;
    ``at``: position of the first symbol."""

    __slots__ = (
        "_chars", "_grace", "_limit", "_next", "_older", "_recent", "_ring", "_rolling", "_since",
        "best", "killed", "level", "onset", "period", "rule", "seen", "span",
    )  # fmt: skip

    def __init__(self, rule: Rule, limit: int = 0, at: int = 0) -> None:
        self.rule = rule
        self.seen = at
        self.period = 0
        self.span = 0
        self.onset = 0
        self.level = Level.NONE
        self.killed = False
        self.best: Cycle | None = None
        """The most telling cycle that is over."""
        self._limit = limit
        self._next = 0  # the span at which the level may change
        self._since = 0  # the span at which the present level began
        self._chars = 0  # and the place in the text
        self._grace = 0  # symbols that a confirmed cycle may go on
        self._rolling = 0
        self._ring = array("Q", bytes(8 * (MASK + 1)))
        # two generations of places by hash: dropping the older forgets what is out of reach
        self._recent: dict[int, int] = {}
        self._older: dict[int, int] = {}

    def see(self, value: int, chars: int) -> None:
        """Takes the next symbol; ``chars`` is the place of its end in the text."""
        n = self.seen
        self.seen = n + 1
        ring = self._ring
        code = (self._rolling * BASE + value - ring[(n - WIDTH) & MASK] * LEAVING) % PRIME
        self._rolling = code
        ring[n & MASK] = value
        recent = self._recent
        if period := self.period:
            if ring[(n - period) & MASK] == value:
                self.span += 1
                if self.span >= self._next:
                    self._reached(chars)
            else:
                self._break(n)
        if not self.period:
            place = recent.get(code)
            if place is None:
                place = self._older.get(code)
            if place is not None and n - place <= REACH:
                self._begin(n, n - place)
        recent[code] = n
        if not n % REACH:
            self._older, self._recent = recent, {}

    def current(self) -> Cycle | None:
        """The cycle that goes on, if it says anything."""
        if self.level is Level.NONE:
            return None
        killed_at = self.seen - 1 if self.killed else None
        return Cycle(self.rule.kind, self.period, self.onset, self.span, self.level, killed_at)

    @property
    def left(self) -> int | None:
        """Symbols until the kill; ``None`` without a confirmed cycle, or where nothing is killed."""
        if self.level is not Level.CONFIRMED or not self._limit:
            return None
        return max(0, self._since + self._grace - self.span)

    # ------------------------------------------------------------------ a cycle's life

    def _begin(self, n: int, period: int) -> None:
        ring = self._ring
        if any(ring[(n - i) & MASK] != ring[(n - i - period) & MASK] for i in range(WIDTH)):
            return  # two places with one hash
        self.period = period
        self.span = period + WIDTH
        self.onset = n + 1 - self.span
        self._next = self._least(self.rule.advisory)

    def _break(self, n: int) -> None:
        self._keep(n)
        self.period = self.span = 0
        self.level = Level.NONE

    def _keep(self, n: int) -> None:
        """Remembers the cycle that ends, unless a more telling one is known."""
        cycle = self.current()
        if cycle is not None and (self.best is None or cycle.weight >= self.best.weight):
            cycle.broken_at = n
            self.best = cycle

    def _least(self, bound: tuple[int, int, int]) -> int:
        _, repetitions, span = bound
        return max(repetitions * self.period, span)

    def _reached(self, chars: int) -> None:
        """The span has come to where the level may rise."""
        if self.level is Level.NONE:
            self.level = Level.ADVISORY
            bound = self.rule.actionable
            acts = bound is not None and self.period <= bound[0]
            self._next = self._least(bound) if bound is not None and acts else 1 << 62
        elif self.level is Level.ADVISORY:
            if not self._acts():
                self._next = self.span + self.period
                return
            self.level = Level.ACTIONABLE
            self._since, self._chars = self.span, chars
            self._next = self.span + CONFIRM_SYMBOLS
        elif self.level is Level.ACTIONABLE:
            if chars < self._chars + CONFIRM_CHARS:
                self._next = self.span + 1
                return
            self.level = Level.CONFIRMED
            self._since = self.span
            self._grace = self._limit * (1 if self._words() else WORDLESS_TIMES)
            self._next = self.span + self._grace if self._limit else 1 << 62
        else:
            self.killed = True

    def _acts(self) -> bool:
        return self._words() >= self.rule.fewest_words

    def _words(self) -> int:
        """Words of letters in a period."""
        end, ring = self.seen, self._ring
        return sum(ring[(end - i) & MASK] & 3 == WORD for i in range(1, self.period + 1))


LISTS = 16
"""Periods whose numbers are remembered."""


class NumericLane(Lane):
    """A lane in which all numbers are alike: the same sentence with a number that is stuck.

    Numbers that progress are no loop: at most every other of the last ``LISTS`` periods may have a list of
    numbers of its own.
    """

    __slots__ = ("_left", "_list", "_lists")

    def __init__(self, limit: int = 0) -> None:
        super().__init__(NUMERIC, limit)
        self._lists: deque[int] = deque(maxlen=LISTS)
        self._list = 0
        self._left = 0

    def see_number(self, value: int, chars: int, number: int) -> None:
        """As :meth:`see`; ``number`` tells numbers apart, 0 for other symbols."""
        self.see(value, chars)
        if not self.period:
            return
        if not self._left:  # it begins with the next symbol
            self._left = self.period
            return
        if number:
            self._list = (self._list * BASE + number) % PRIME
        self._left -= 1
        if not self._left:
            self._turn()

    def _begin(self, n: int, period: int) -> None:
        super()._begin(n, period)
        self._lists.clear()
        self._list = self._left = 0

    def _turn(self) -> None:
        """A period is over."""
        self._lists.append(self._list)
        self._list, self._left = 0, self.period
        if self.level >= Level.ACTIONABLE and not self._stuck():
            self._keep(self.seen - 1)
            self.level = Level.ADVISORY
            self._next = self.span + self.period

    def _stuck(self) -> bool:
        return 2 * len(set(self._lists)) <= len(self._lists)

    def _acts(self) -> bool:
        return super()._acts() and self._stuck()
