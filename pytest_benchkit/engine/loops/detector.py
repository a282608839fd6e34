"""The detector of one channel: cuts the text that arrives into symbols and shows them to the lanes."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_benchkit.engine.loops.cycles import EXACT, Cycle, Lane, Level, NumericLane
from pytest_benchkit.engine.loops.overlap import Overlap
from pytest_benchkit.engine.loops.structure import Structure
from pytest_benchkit.engine.loops.symbols import NUMBER, PIECE, WORD, is_open, look

RECOVERED_AFTER = 64
"""Symbols without the loop after which it counts as left."""


class Detector:
    """Takes the text of one channel in pieces of any size. ``limit``: symbols from confirmation to the kill,
    0 for never. ``killed``: the limit was reached; what comes later is not looked at."""

    def __init__(self, limit: int = 0) -> None:
        self.symbols = 0
        self.killed = False
        self.overlap = Overlap()
        self._exact = Lane(EXACT, limit)
        self._numeric = NumericLane(limit)
        self._structure = Structure()
        self._held = ""  # a word that may go on in the next piece
        self._chars = 0  # characters before the held ones

    @classmethod
    def of(cls, text: str | Iterable[str], limit: int = 0) -> Detector:
        """The detector after a whole text, given at once or in pieces."""
        detector = cls(limit)
        for piece in (text,) if isinstance(text, str) else text:
            detector.feed(piece)
        detector.finish()
        return detector

    def feed(self, text: str) -> None:
        if self.killed:
            return
        text = self._held + text.casefold()
        self._held = ""
        end = 0
        for match in PIECE.finditer(text):
            piece = match[0]
            end = match.end()
            if end == len(text) and is_open(piece):
                self._held = piece
                end = match.start()
                break
            self._take(piece, self._chars + end)
            if self.killed:
                return
        self._chars += len(text) - len(self._held)

    def finish(self) -> None:
        """The end of the text: the word that was waited for is whole."""
        held, self._held = self._held, ""
        if held and not self.killed:
            self._chars += len(held)
            self._take(held, self._chars)

    def _take(self, piece: str, chars: int) -> None:
        if piece[0] == "\n":
            self._structure.new_line(len(piece) - 1)
            return
        at = self.symbols
        self.symbols = at + 1
        seen = look(piece)
        exact, numeric, _, kind = seen
        self._exact.see(exact, chars)
        self._numeric.see_number(numeric, chars, exact if kind == NUMBER else 0)
        self._structure.see(piece, seen, at, chars)
        if kind == WORD:
            self.overlap.see(exact)
        if self._exact.killed or self._numeric.killed:
            self.killed = True

    # ------------------------------------------------------------------ what was found

    @property
    def left(self) -> int | None:
        """Symbols until the kill, of the loop that is nearest to it; ``None`` while none is confirmed."""
        return min((n for lane in (self._exact, self._numeric) if (n := lane.left) is not None), default=None)

    @property
    def looping(self) -> Cycle | None:
        """The confirmed loop that goes on, or was broken only just now."""
        for lane in (self._exact, self._numeric):
            if lane.killed:
                return lane.current()
        for lane in (self._exact, self._numeric):
            if lane.level is Level.CONFIRMED:
                return lane.current()
        recent = [c for c in self._confirmed() if self.symbols - (c.broken_at or 0) <= RECOVERED_AFTER]
        return max(recent, key=lambda c: c.weight, default=None)

    @property
    def left_behind(self) -> Cycle | None:
        """The longest confirmed loop that is over."""
        return max(self._confirmed(), key=lambda c: c.weight, default=None)

    def _confirmed(self) -> list[Cycle]:
        found = (self._exact.best, self._numeric.best)
        return [c for c in found if c is not None and c.level is Level.CONFIRMED]

    @property
    def evidence(self) -> Cycle | None:
        """The most telling cycle of any lane that is not confirmed."""
        lanes = (self._exact, self._numeric)
        found = [c for lane in lanes for c in (lane.best, lane.current())] + [self._structure.best]
        return max((c for c in found if c is not None), key=lambda c: c.weight, default=None)
