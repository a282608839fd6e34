"""Text cut into symbols, and what each of the three lanes takes a symbol for. Pure.

A symbol is a run of word characters or one punctuation mark, case-folded. A run longer than ``LONGEST``
characters (base64, a letter held down) is several symbols, so that no symbol is waited for without end.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from typing import NamedTuple

LONGEST = 32
CACHED = 16_384
PIECE = re.compile(rf"\n[ \t]{{0,{LONGEST}}}|\w{{1,{LONGEST}}}|[^\w\s]")
"""A line break with the indent behind it, which is no symbol, or a symbol."""
SYMBOL = re.compile(rf"\w{{1,{LONGEST}}}|[^\w\s]")

MARK, WORD, NUMBER = 0, 1, 2
ANY_NUMBER, ANY_NAME = 1 << 34 | NUMBER, 1 << 34 | WORD
"""Stand for every number and every identifier; beyond what a checksum can be."""

KEYWORDS = frozenset(
    SYMBOL.findall(
        "and as async await break case catch class const continue def default do elif else end enum export"
        " extends finally fn for foreach from func function if impl import in include int interface lambda"
        " let match mut namespace new not or package private protected public pub raise return select"
        " self static struct switch then this throw try type use using val var void where while with yield"
    )
)
"""Of the common languages, case-folded."""


class Look(NamedTuple):
    """A symbol as numbers: itself, with numbers alike, with identifiers alike too; and its kind.

    The two lowest bits of each number are the kind.
    """

    exact: int
    numeric: int
    structural: int
    kind: int


@lru_cache(CACHED)
def look(symbol: str) -> Look:
    """What the lanes see of a case-folded symbol. Equal in every process: a checksum, no salted hash."""
    if symbol[0].isdigit():
        kind = NUMBER
    elif any(map(str.isalpha, symbol)):
        kind = WORD
    else:
        kind = MARK
    exact = zlib.crc32(symbol.encode("utf-8", "surrogatepass")) << 2 | kind
    numeric = ANY_NUMBER if kind == NUMBER else exact
    structural = ANY_NAME if kind == WORD and symbol not in KEYWORDS else numeric
    return Look(exact, numeric, structural, kind)


def is_open(piece: str) -> bool:
    """Whether a piece at the end of what has arrived may still grow: a word, or an indent."""
    first = piece[0]
    if first == "\n":
        return len(piece) <= LONGEST
    return len(piece) < LONGEST and (first == "_" or first.isalnum())


def count(text: str) -> int:
    """Number of symbols in a whole text."""
    return len(SYMBOL.findall(text.casefold()))
