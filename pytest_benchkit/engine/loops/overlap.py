"""How much of a text's words was said before: advisory signals that end no request. O(1) work per word.

Share: of words inside an 8-word sequence that was seen before. Likeness: overlap of the 3-word sets of a
window of 64 words and an earlier one. Both look back 2,048 to 4,096 words.
"""

from __future__ import annotations

from array import array
from collections import Counter

from pytest_benchkit.engine.loops.cycles import BASE, PRIME

SEQUENCE, BLOCK, WINDOW, STRIDE = 8, 20, 64, 16
GENERATION = 2048
FEWEST_WORDS = 128
SHARE, LIKENESS = 0.18, 0.72
MASK = WINDOW - 1
LEAVING = pow(BASE, SEQUENCE, PRIME)
SECOND = BASE * BASE % PRIME


class Overlap:
    """Takes words one after the other. ``likeness``: the greatest so far; ``longest``: most windows in a row
    that were as like as ``LIKENESS``; ``block``: whether any 20 words came twice."""

    def __init__(self) -> None:
        self.words = 0
        self.likeness = 0.0
        self.longest = 0
        self.block = False
        self._again = 0
        self._again_to = -1
        self._row = 0
        self._run = self._distance = 0
        self._rolling = 0
        self._ring = array("Q", bytes(8 * WINDOW))
        self._sequences: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._threes: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._window = array("Q", bytes(8 * WINDOW))  # the last 3-word sequences
        self._places = array("q", [-1] * WINDOW)  # and where each was a window ago, or before

    @property
    def share(self) -> float | None:
        return self._again / self.words if self.words else None

    @property
    def suspicious(self) -> bool:
        if self.words < FEWEST_WORDS:
            return False
        return self._again / self.words >= SHARE or self.block or self.longest > 0

    def see(self, value: int) -> None:
        """Takes the next word."""
        n, ring = self.words, self._ring
        self.words = n + 1
        code = (self._rolling * BASE + value - ring[(n - SEQUENCE) & MASK] * LEAVING) % PRIME
        self._rolling = code
        ring[n & MASK] = value
        recent, older = self._sequences
        if n >= SEQUENCE - 1:
            place = recent.get(code)
            if place is None:
                place = older.get(code)
            if place is not None:
                self._seen_before(n, n - place)
            recent[code] = n
        three = (value + ring[(n - 1) & MASK] * BASE + ring[(n - 2) & MASK] * SECOND) % PRIME
        fresh, stale = self._threes
        old = self._window[n & MASK]
        if n >= WINDOW:  # known from now on: a window is not like itself
            fresh[old] = n - WINDOW
        place = fresh.get(three)
        if place is None:
            place = stale.get(three, -1)
        self._window[n & MASK] = three
        self._places[n & MASK] = place
        if not (n + 1) % STRIDE and n >= 2 * WINDOW - 1:
            self._compare()
        if not (n + 1) % GENERATION:
            self._sequences = ({}, recent)
            self._threes = ({}, fresh)

    def _seen_before(self, n: int, distance: int) -> None:
        self._again += min(SEQUENCE, n - self._again_to)
        follows = self._again_to == n - 1 and distance == self._distance
        self._run = self._run + 1 if follows else 1
        self._again_to, self._distance = n, distance
        self.block = self.block or self._run > BLOCK - SEQUENCE

    def _compare(self) -> None:
        """The likeness of the last window to the earlier one that shares most with it."""
        found = dict(zip(self._window, self._places, strict=True))
        votes = Counter(place // STRIDE for place in found.values() if place >= 0)
        # places are told to within a stride, so one stride more than a window may hold its copy
        reach = range(WINDOW // STRIDE + 1)
        shared = max((sum(votes[start + i] for i in reach) for start in votes), default=0)
        likeness = shared / (2 * len(found) - shared)
        self.likeness = max(self.likeness, likeness)
        self._row = self._row + 1 if likeness >= LIKENESS else 0
        self.longest = max(self.longest, self._row)
