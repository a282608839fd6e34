"""The random texts of RULER: keys, values, variables and coded words, from a private stream of bits."""

from __future__ import annotations

import uuid
from itertools import islice
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.shuffle import below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from random import Random

    from pytest_benchkit.datasets.ruler.corpora import Words

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()


def number(bits: Random) -> str:
    """Seven digits."""
    return str(1_000_000 + below(bits, 9_000_000))


def uuid4(bits: Random) -> str:
    """A UUID of version 4 out of 128 drawn bits."""
    return str(uuid.UUID(int=bits.getrandbits(128), version=4))


def letters(bits: Random, size: int, alphabet: str) -> str:
    return "".join(alphabet[below(bits, 26)] for _ in range(size))


def pair(bits: Random, words: Words) -> str:
    """``adjective-noun``."""
    adjective = words.adjectives[below(bits, len(words.adjectives))]
    return f"{adjective}-{words.nouns[below(bits, len(words.nouns))]}"


def different(draw: Callable[[], str], taken: Iterable[str] = ()) -> Iterator[str]:
    """Draws without repeats, none equal to one of ``taken``; drawn again until true."""
    seen = set(taken)
    while True:
        found = draw()
        if found not in seen:
            seen.add(found)
            yield found


def apart(draw: Callable[[], str], count: int, texts: Sequence[str] = ()) -> list[str]:
    """So many draws, none of them part of another or of one of ``texts`` (case-blind)."""
    lowered = [text.lower() for text in texts]
    kept: list[str] = []
    draws = different(draw)
    while len(kept) < count:
        found = next(draws)
        low = found.lower()
        inside = any(low in text for text in lowered)
        if not inside and not any(low in other.lower() or other.lower() in low for other in kept):
            kept.append(found)
    return kept


def places(bits: Random, count: int, of: int) -> list[int]:
    """Different places below ``of``, in the order drawn."""
    seen: dict[int, None] = {}
    while len(seen) < count:
        seen.setdefault(below(bits, of))
    return list(seen)


class Stream:
    """An endless sequence of draws, kept as far as it was needed: a longer prefix holds the shorter one."""

    def __init__(self, draws: Iterator[str]) -> None:
        self._draws = draws
        self._kept: list[str] = []

    def first(self, count: int) -> list[str]:
        if count > len(self._kept):
            self._kept += islice(self._draws, count - len(self._kept))
        return self._kept[:count]
