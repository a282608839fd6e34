"""What RULER measures, as data: lengths, families, and the characters per token that are safe to assume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GENERATOR = "ruler/1"
"""Part of every seed and of the hash of the rows; raised when any generated text changes."""

LENGTHS = {"4k": 4096, "8k": 8192, "16k": 16384, "32k": 32768, "64k": 65536, "128k": 131072}
"""Tokens of prompt and answer together, template included."""

SAFE_RATIOS = {
    "noise": 3.2,
    "needles": 2.4,
    "uuids": 1.2,
    "essay": 3.3,
    "chains": 1.6,
    "numbered": 1.5,
    "coded": 1.8,
    "documents": 3.3,
}
"""Characters per token by kind of content, for models whose tokens nobody counts: rounded down from the
least efficient of five vocabularies (a SentencePiece one of 32k; Anthropic, DeepSeek, Qwen, Tekken)."""

Haystack = Literal["noise", "essay", "needles", "list", "coded", "documents"]


@dataclass(frozen=True, slots=True)
class Family:
    """One of the thirteen. ``keys`` × ``values`` needles are hidden, ``asked`` keys are asked about."""

    name: str
    haystack: Haystack
    answer_tokens: int
    keys: int = 1
    values: int = 1
    asked: int = 1
    key_form: Literal["word", "uuid"] = "word"
    value_form: Literal["number", "uuid"] = "number"
    any_gold: bool = False
    """Whether one of the golds is enough; else the score is the share of them."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora without which no row can be made."""

    @property
    def slug(self) -> str:
        """The family in a task id."""
        return self.name.replace("_", "-")


WORDS, ESSAYS, SQUAD, HOTPOTQA = "ruler/words", "ruler/pg-49", "ruler/squad", "ruler/hotpotqa"

FAMILIES = {
    family.name: family
    for family in (
        Family("niah_single_1", "noise", 128, corpora=(WORDS,)),
        Family("niah_single_2", "essay", 128, corpora=(WORDS, ESSAYS)),
        Family("niah_single_3", "essay", 128, value_form="uuid", corpora=(WORDS, ESSAYS)),
        Family("niah_multikey_1", "essay", 128, keys=4, corpora=(WORDS, ESSAYS)),
        Family("niah_multikey_2", "needles", 128, corpora=(WORDS,)),
        Family("niah_multikey_3", "needles", 128, key_form="uuid", value_form="uuid"),
        Family("niah_multivalue", "essay", 128, values=4, corpora=(WORDS, ESSAYS)),
        Family("niah_multiquery", "essay", 128, keys=4, asked=4, corpora=(WORDS, ESSAYS)),
        Family("vt", "noise", 30),
        Family("cwe", "list", 120, corpora=(WORDS,)),
        Family("fwe", "coded", 50),
        Family("qa_1", "documents", 32, any_gold=True, corpora=(SQUAD,)),
        Family("qa_2", "documents", 32, any_gold=True, corpora=(HOTPOTQA,)),
    )
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One row to generate: a family at a length, and which sample of it."""

    family: Family
    length: str
    sample: int

    @property
    def tokens(self) -> int:
        """The length in tokens."""
        return LENGTHS[self.length]

    @property
    def id(self) -> str:
        return f"{self.length}-{self.family.slug}-{self.sample:03d}"


def cell_at(place: int) -> Cell:
    """The cell of a row's place: by sample, then length, then family, so that every 78 rows hold all cells
    once."""
    rest, family = divmod(place, len(FAMILIES))
    sample, length = divmod(rest, len(LENGTHS))
    return Cell(tuple(FAMILIES.values())[family], tuple(LENGTHS)[length], sample)
