"""A private shuffle whose result is the same on every Python, now and later."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence


T = TypeVar("T")


def generator(*words: str | int) -> random.Random:
    """A Mersenne Twister seeded by sha256 of the words joined by NUL.

    Only :meth:`random.Random.getrandbits` of it is used: the derived methods of :mod:`random` have
    changed between versions of Python, the bit stream never did.
    """
    text = "\0".join(str(word) for word in words)
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def below(bits: random.Random, n: int) -> int:
    """A uniform integer from 0 to n - 1; draws again instead of folding, so there is no bias."""
    width = (n - 1).bit_length()
    while True:
        drawn = bits.getrandbits(width) if width else 0
        if drawn < n:
            return drawn


def permutation(n: int, bits: random.Random) -> list[int]:
    """A uniform order of ``range(n)`` (Fisher-Yates, from the last place down)."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = below(bits, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def shuffled(items: Sequence[T], bits: random.Random) -> list[T]:
    """A new list with the items in a uniform random order."""
    return [items[place] for place in permutation(len(items), bits)]
