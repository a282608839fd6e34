"""Options recognised by their text: the answer is one of them, or mentions exactly one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_benchkit.scoring.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
EDGES = " \t\r\n*_`\"'“”‘’.,;:!?"
SPACE = re.compile(r"\s+")
OTHER = re.compile(r"[\W_]+")

Hit = tuple[str, int, int]


def option_text(text: str, rules: object, options: Sequence[str]) -> list[Hit]:
    """The option that the whole answer, or its last line, equals: as written, then with punctuation and
    spaces collapsed, then without letter case; at each step only if it is exactly one option."""
    shown = [fold(option).text for option in options]
    longest = max(len(option) for option in shown)
    whole = text.strip()
    last = whole.rpartition("\n")[2]
    for part in (whole, last):
        # Nothing much longer than the longest option can equal one.
        if not part or len(part) > 2 * longest + 100:
            continue
        for form in (_as_written, _collapsed, _uncased):
            wanted = form(part)
            same = [place for place, option in enumerate(shown) if wanted and form(option) == wanted]
            if len(same) == 1:
                start = text.rindex(part)
                return [(LETTERS[same[0]], start, start + len(part))]
    return []


def _as_written(text: str) -> str:
    return SPACE.sub(" ", text).strip(EDGES)


def _collapsed(text: str) -> str:
    return OTHER.sub(" ", text).strip()


def _uncased(text: str) -> str:
    return _collapsed(text).casefold()


def contained_option(text: str, rules: object, options: Sequence[str]) -> list[Hit]:
    """The only option whose text occurs as whole words; an occurrence inside that of a longer option does
    not count. Letter case matters only where two options differ in nothing else."""
    shown = [fold(option).text.strip(EDGES) for option in options]
    lower: Callable[[str], str] = str.lower if len({o.lower() for o in shown}) == len(set(shown)) else str
    plain = lower(text)
    if len(plain) != len(text):
        plain = text
    taken = bytearray(len(plain))
    left: dict[int, Hit] = {}
    for place in sorted(range(len(shown)), key=lambda place: -len(shown[place])):
        option = lower(shown[place])
        start = plain.find(option) if option else -1
        while start >= 0:
            end = start + len(option)
            if _whole(plain, start, end) and not (taken[start] and taken[end - 1]):
                left.setdefault(place, (LETTERS[place], start, end))
                taken[start:end] = b"\1" * len(option)
            start = plain.find(option, end)
    return list(left.values()) if len(left) == 1 else []


def _whole(text: str, start: int, end: int) -> bool:
    """Whether the stretch is not a part of a longer word or number."""
    before = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    return before and (end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum()))
