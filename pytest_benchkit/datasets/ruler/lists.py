"""Words to be counted: ``cwe``, the most common words of a list, and ``fwe``, those of a coded text."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.ruler import draws
from pytest_benchkit.datasets.ruler.recipes import PLAIN, Draft, Golds, assemble, bits
from pytest_benchkit.datasets.shuffle import permutation, shuffled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_benchkit.datasets.ruler.cells import Cell
    from pytest_benchkit.datasets.ruler.corpora import Corpora

COMMON, LEAST_OTHERS = 10, 20
EXAMPLE_WORDS, EXAMPLE_COMMON, EXAMPLE_OTHER = 40, 10, 3
SHAPES = ((True, 30, 3), (False, 30, 3), (False, 20, 2), (False, 10, 1))
"""Whether a worked example stands before the list, and how often common and other words occur: the first that
fits is taken. All but the first are for the shortest prompts without a tokenizer (RU-8a)."""
MOST_OTHERS = 100_000

ZETA_2 = math.pi**2 / 6
DOTS = "..."
LEAST_CODED = 120
"""Tokens of coded text from which rank 4 is more frequent than rank 5, which occurs at all."""


class WordList:
    """What all shapes of one ``cwe`` row share: the example's words, the common ones, and the others."""

    def __init__(self, cell: Cell, corpora: Corpora) -> None:
        own = bits(cell)
        everything = corpora.words.all
        text = " ".join(everything)
        order = iter(permutation(len(everything), own))
        words = (everything[place] for place in order)
        left: list[str] = []
        self.common: list[str] = []
        while len(self.common) < COMMON:
            word = next(words)
            alone = text.count(word) == 1  # part of no other word of the list
            (self.common if alone and len(word) > 2 else left).append(word)
        left += words
        self.example = left[:EXAMPLE_WORDS]
        self.example_order = shuffled(
            [
                word
                for place, word in enumerate(self.example)
                for _ in range(COMMON if place < EXAMPLE_COMMON else EXAMPLE_OTHER)
            ],
            own,
        )
        self.others = draws.Stream(self._others(cell, corpora, left[EXAMPLE_WORDS:]))

    def _others(self, cell: Cell, corpora: Corpora, words: Sequence[str]) -> Iterator[str]:
        """The rest of the words; then upstream's longer list where it is installed, else pairs."""
        yield from words
        stream = bits(cell, "more")
        known = corpora.words.all
        if corpora.english:
            new = set(corpora.english) - set(known)
            yield from (word for word in shuffled(sorted(new), stream) if not self._holds_gold(word))
        for word in draws.different(partial(draws.pair, stream, corpora.words), known):
            if not self._holds_gold(word):
                yield word

    def _holds_gold(self, word: str) -> bool:
        return any(gold in word for gold in self.common)


class CommonWords:
    """One shape of a ``cwe`` row; a unit is one of the other words, with its repeats."""

    kind = "numbered"
    least, most = LEAST_OTHERS, MOST_OTHERS

    def __init__(self, cell: Cell, words: WordList, shape: tuple[bool, int, int]) -> None:
        self._cell, self._words = cell, words
        self._with_example, self._often, self._seldom = shape
        self.grain = 15.0 * self._seldom
        shown = "example" if self._with_example else "no example"
        facts = {} if shape == SHAPES[0] else {"shape": f"{self._often}/{self._seldom}, {shown}"}
        self.golds = Golds(words.common, facts)

    def build(self, units: int) -> Draft:
        counted = [(word, self._often) for word in self._words.common]
        counted += [(word, self._seldom) for word in self._words.others.first(units)]
        entries = [word for word, times in counted for _ in range(times)]
        entries = shuffled(entries, bits(self._cell, "order", str(self._often)))
        parts = [
            (PLAIN, "Below is a numbered list of words. Some of them occur more often than the others.\n\n")
        ]
        if self._with_example:
            answer = ", ".join(self._words.example[:EXAMPLE_COMMON])
            parts += [
                (PLAIN, "An example.\n"),
                ("numbered", numbered(self._words.example_order)),
                (PLAIN, f"\n{QUESTION}\n{answer}\n\nNow the list.\n"),
            ]
        parts += [("numbered", numbered(entries)), (PLAIN, f"\n{QUESTION}")]
        return assemble(parts)


QUESTION = "Which ten words are the most common in the list? Reply with these ten words and nothing else."


def numbered(entries: Sequence[str], first: int = 1) -> str:
    """``1. word 2. word``, one line."""
    return " ".join(f"{place}. {word}" for place, word in enumerate(entries, first))


class CodedWords:
    """``fwe``: a coded text whose words follow a zeta distribution; a unit is one word of the text.

    The word of rank k occurs floor(N / (k² ζ(2))) times; the most frequent one is three dots.
    """

    kind, grain = "coded", 5.3
    least, most = LEAST_CODED, 10_000_000

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        own = bits(cell)
        texts = [self._intro, self._question]
        vocabulary = (cell.tokens - 50) // 50
        words = draws.different(partial(draws.letters, own, 6, draws.LOWER))
        self._ranked = [DOTS]
        while len(self._ranked) < vocabulary:
            word = next(words)
            if not any(word in text for text in texts):
                self._ranked.append(word)
        self.golds = Golds(self._ranked[1:4])

    _intro = "The text below is coded: its words mean nothing, and dots are to be ignored.\n\n"
    _question = (
        "\n\nWhich three coded words are the most frequent in the text above, dots ignored? Reply with these "
        "three words and nothing else."
    )

    def build(self, units: int) -> Draft:
        entries = coded(self._ranked, units)
        entries = shuffled(entries, bits(self._cell, "order"))
        return assemble([(PLAIN, self._intro), ("coded", " ".join(entries)), (PLAIN, self._question)])


def coded(ranked: Sequence[str], units: int) -> list[str]:
    """Each word as often as its rank says, in order of rank; words that would not occur are left out."""
    counts = [math.floor(units / (rank * rank * ZETA_2)) for rank in range(1, len(ranked) + 1)]
    return [word for word, count in zip(ranked, counts, strict=True) for _ in range(count)]
