"""What all readers of replies share: clipping, character folding with a way back to the original."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 1 << 20
"""Characters above which only the two ends of a reply are read."""
END = 64 << 10
"""Characters kept of each end."""
BRACES = re.compile(r"\\boxed\s{0,2}\{|[{}]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A reply ready for reading: ``text`` with compatibility characters folded.

    ``places[i]`` is where ``text[i]`` stood in the answer; absent when nothing moved.
    """

    text: str
    places: tuple[int, ...] | None
    clipped: bool

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the answer of ``text[start:end]`` (not empty)."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1

    def without(self, pattern: re.Pattern[str]) -> Folded:
        """Each match replaced by its last matched group (nothing, when it has none), places kept."""
        kept: list[tuple[int, int]] = []
        last = 0
        for hit in pattern.finditer(self.text):
            kept.append((last, hit.start()))
            if hit.lastindex is not None:
                kept.append(hit.span(hit.lastindex))
            last = hit.end()
        if not kept:
            return self
        kept.append((last, len(self.text)))
        places = self.places if self.places is not None else range(len(self.text))
        return Folded(
            "".join(self.text[start:end] for start, end in kept),
            tuple(place for start, end in kept for place in places[start:end]),
            self.clipped,
        )


def clip(text: str) -> tuple[str, bool]:
    """What to read of a text (above 1 MiB its first and last 64 KiB, one line break between), and if it was
    clipped."""
    if len(text) <= LIMIT:
        return text, False
    return text[:END] + "\n" + text[-END:], True


def fold(text: str, keep: str = "") -> Folded:
    """Clips, then folds each character to its NFKC form (full-width letters and digits become ASCII).

    Folded one by one, so that every character has a place in the answer. Characters in ``keep`` stay, and
    so do raised and lowered ones: ``10²`` must not become 102.
    """
    read, clipped = clip(text)
    if read.isascii() and not clipped:
        return Folded(read, None, False)
    folded: list[str] = []
    places: list[int] = []
    shift = len(text) - len(read)
    for place, char in enumerate(read):
        new = char if char in keep else folded_char(char)
        folded.append(new)
        original = place if not clipped or place <= END else place + shift
        places += [original] * len(new)
    return Folded("".join(folded), tuple(places), clipped)


@lru_cache(maxsize=4096)
def folded_char(char: str) -> str:
    """NFKC of one character; raised and lowered forms stay as they are."""
    if char.isascii() or unicodedata.decomposition(char).startswith(("<super>", "<sub>")):
        return char
    return unicodedata.normalize("NFKC", char)


def boxed(text: str, wanted: Callable[[str], bool]) -> tuple[str, int, int] | None:
    r"""The ``\boxed{...}`` that closes last and whose content (at most 200 characters) is wanted.

    Gives the content and its place. One pass with a stack, so a reply full of open boxes stays cheap.
    """
    found = None
    opened: list[int | None] = []
    for token in BRACES.finditer(text):
        if token[0] == "{":
            opened.append(None)
        elif token[0] != "}":
            opened.append(token.end())
        elif opened and (start := opened.pop()) is not None:
            content = text[start : token.start()]
            if 0 < len(content) <= 200 and wanted(content):
                found = (content, start, token.start())
    return found
