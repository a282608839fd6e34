"""A text of each kind of content, for measuring how many characters a token of a model holds."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.ruler import draws
from pytest_benchkit.datasets.ruler.cells import ESSAYS, GENERATOR, HOTPOTQA, SQUAD, WORDS
from pytest_benchkit.datasets.ruler.lists import DOTS, coded, numbered
from pytest_benchkit.datasets.ruler.needles import NOISE, assignments, needle
from pytest_benchkit.datasets.shuffle import generator, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_benchkit.datasets.ruler.corpora import Corpora

CHARACTERS = 2000
CODED_WORDS, CODED_VOCABULARY = 400, 80
FIRST_NUMBER = 1000
"""Numbers of four digits are, in one vocabulary or another, about as many tokens as those of any list."""


def texts(corpora: Corpora) -> dict[str, str]:
    """About 2,000 characters by kind of content; kinds whose corpora are not installed are left out."""
    missing = set(corpora.missing)
    made = {
        kind: "\n".join(islice(lines, CHARACTERS // 20))[:CHARACTERS]
        for kind, lines in _lines(corpora, missing)
    }
    bits = generator(GENERATOR, "samples", "coded")
    words = draws.different(partial(draws.letters, bits, 6, draws.LOWER))
    ranked = [DOTS, *islice(words, CODED_VOCABULARY)]
    made["coded"] = " ".join(shuffled(coded(ranked, CODED_WORDS), bits))
    if WORDS not in missing:
        entries = shuffled(corpora.words.all, generator(GENERATOR, "samples", "numbered"))
        made["numbered"] = numbered(entries[: CHARACTERS // 14], FIRST_NUMBER)
    return made


def _lines(corpora: Corpora, missing: set[str]) -> Iterator[tuple[str, Iterator[str]]]:
    """Kinds that are made of lines, each with an endless or long enough sequence of them."""
    bits = generator(GENERATOR, "samples", "lines")

    def needles(draw: Callable[[], str], value: Callable[[], str], noun: str) -> Iterator[str]:
        return (needle(key, value(), noun) for key in draws.different(draw))

    uuid, number = partial(draws.uuid4, bits), partial(draws.number, bits)
    yield "noise", iter([NOISE] * 100)
    yield "uuids", needles(uuid, uuid, "UUID")
    yield "chains", iter(assignments([draws.letters(bits, 5, draws.UPPER) for _ in range(100)], number()[:5]))
    if WORDS not in missing:
        yield "needles", needles(partial(draws.pair, bits, corpora.words), number, "number")
    if ESSAYS not in missing:
        yield "essay", iter([" ".join(corpora.essays.sentences(CHARACTERS // 4))])
    if SQUAD not in missing or HOTPOTQA not in missing:
        yield "documents", iter((corpora.squad if SQUAD not in missing else corpora.hotpotqa).documents)
