"""Needles in a haystack: the eight ``niah`` families, and ``vt``, whose needles are a chain of variables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.ruler import draws
from pytest_benchkit.datasets.ruler.recipes import PLAIN, Draft, Golds, assemble, bits
from pytest_benchkit.datasets.shuffle import below, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from pytest_benchkit.datasets.ruler.cells import Cell
    from pytest_benchkit.datasets.ruler.corpora import Corpora

NOISE = "The lake is calm. The road is long. The moon is bright. We walk on. Then we turn round."
DEPTHS = 40
"""Evenly spaced places of an essay, first and last word included, where a needle may lie."""
MOST_UNITS = 10_000_000
HOPS = 4


def needle(key: str, value: str, noun: str) -> str:
    return f"One registered {noun} of {key} is {value}."


class Niah:
    """Keys with values hidden in a haystack; asked for all values of some of the keys.

    Distractors are drawn as the targets are, so nothing but the question tells them apart.
    """

    def __init__(self, cell: Cell, corpora: Corpora) -> None:
        family = cell.family
        self._cell, self._corpora, self._haystack = cell, corpora, family.haystack
        self._noun = "number" if family.value_form == "number" else "UUID"
        own = bits(cell)
        avoid = _hay(family.haystack, corpora)
        keys = draws.apart(self._key(own), family.keys, avoid)
        values = draws.apart(self._value(own), family.keys * family.values, avoid)
        per_key = family.values
        pairs = [
            (key, value) for n, key in enumerate(keys) for value in values[n * per_key : (n + 1) * per_key]
        ]
        self._asked = keys[: family.asked]
        self._pairs = shuffled(pairs, own)
        self._places = draws.places(own, len(pairs), DEPTHS)
        self.golds = Golds([value for key, value in pairs if key in self._asked])
        self._needles = [needle(key, value, self._noun) for key, value in self._pairs]
        self._needle_kind = "uuids" if "uuid" in (family.key_form, family.value_form) else "needles"
        self.kind = {"essay": "essay", "noise": "noise"}.get(family.haystack, self._needle_kind)
        self.least, self.most = (40, MOST_UNITS) if family.haystack == "essay" else (len(pairs), MOST_UNITS)
        self.grain = {"essay": 5.8, "noise": len(NOISE) + 1.0, "needles": 68.0, "uuids": 108.0}[self.kind]
        self._lines = draws.Stream(self._distractors(keys, values))

    def _distractors(self, keys: Sequence[str], values: Sequence[str]) -> Iterator[str]:
        """Needles like the targets, of other keys and values."""
        stream = bits(self._cell, "distractors")
        other_values = draws.different(self._value(stream), values)
        for key in draws.different(self._key(stream), keys):
            if not any(mine in key for mine in keys):
                yield needle(key, next(other_values), self._noun)

    def _key(self, stream: Random) -> Callable[[], str]:
        if self._cell.family.key_form == "uuid":
            return partial(draws.uuid4, stream)
        return partial(draws.pair, stream, self._corpora.words)

    def _value(self, stream: Random) -> Callable[[], str]:
        return partial(draws.number if self._cell.family.value_form == "number" else draws.uuid4, stream)

    @property
    def question(self) -> str:
        count = len(self.golds.texts)
        of = (
            self._asked[0]
            if len(self._asked) == 1
            else f"{', '.join(self._asked[:-1])} and {self._asked[-1]}"
        )
        if count == 1:
            asked = f"Which {self._noun} is registered for {of} in the text above?"
            return f"{asked} Reply with that {self._noun} only."
        return (
            f"Which {self._noun}s are registered for {of} in the text above? There are {count}. "
            f"Reply with all of these {self._noun}s and nothing else."
        )

    def build(self, units: int) -> Draft:
        if self._haystack == "essay":
            lines, depths = self._in_essay(units)
            joint = " "
        else:
            lines, depths = self._in_lines(units)
            joint = "\n"
        intro = (
            f"Somewhere in the text below, {self._noun}s are registered. You will be asked about them "
            "afterwards.\n\n"
        )
        mine = sum(map(len, self._needles))
        draft = assemble(
            [(PLAIN, intro), (self.kind, joint.join(lines)), (PLAIN, f"\n\n{self.question}")], depths
        )
        chars = dict(draft.chars)
        chars[self.kind] -= mine
        chars[self._needle_kind] = chars.get(self._needle_kind, 0) + mine + _size(self._asked)
        draft.chars = chars
        return draft

    def _in_essay(self, words: int) -> tuple[list[str], list[float]]:
        sentences = self._corpora.essays.sentences(words)
        spots = [round(len(sentences) * place / (DEPTHS - 1)) for place in self._places]
        for spot, text in sorted(zip(spots, self._needles, strict=True), reverse=True):
            sentences.insert(spot, text)
        return sentences, self._gold_depths([place / (DEPTHS - 1) for place in self._places])

    def _in_lines(self, count: int) -> tuple[list[str], list[float]]:
        hay = [NOISE] * count if self._haystack == "noise" else self._lines.first(count)
        total = count + len(self._needles)
        spots = draws.places(bits(self._cell, "places"), len(self._needles), total)
        return _woven(hay, spots, self._needles), self._gold_depths([spot / (total - 1) for spot in spots])

    def _gold_depths(self, depths: Sequence[float]) -> list[float]:
        """In the order of the golds; ``depths`` is in the order of the needles."""
        found = {value: depth for (_, value), depth in zip(self._pairs, depths, strict=True)}
        return [round(found[gold], 4) for gold in self.golds.texts]


class Tracing:
    """``vt``: a chain of assignments among noise; asked for every variable that holds the value."""

    kind, grain = "noise", len(NOISE) + 1.0
    least, most = HOPS + 1, MOST_UNITS

    def __init__(self, cell: Cell) -> None:
        own = bits(cell)
        self._cell = cell
        texts = [NOISE, self._question(""), self._intro]
        names = draws.apart(partial(draws.letters, own, 5, draws.UPPER), HOPS + 1, texts)
        example = draws.apart(partial(draws.letters, own, 3, draws.UPPER), HOPS + 1, [*texts, *names])
        values = draws.different(lambda: str(10_000 + below(own, 89_999)))
        self._value, example_value = next(values), next(values)
        self.golds = Golds(names)
        self._chain = assignments(names, self._value)
        lines = assignments(example, example_value)
        shown = "\n".join(text for line in lines for text in (NOISE, line))
        self._example = [
            (PLAIN, "An example.\n"),
            ("chains", f"{shown}\n{self._question(example_value)}\n{', '.join(example)}\n\n"),
        ]

    _intro = (
        "Variables get values in the text below, directly or from one another. Follow who holds what.\n\n"
    )

    def _question(self, value: str) -> str:
        return (
            f"Which variables hold the value {value}? There are {HOPS + 1}. Reply with all of their "
            "names and nothing else."
        )

    def build(self, units: int) -> Draft:
        total = units + len(self._chain)
        spots = sorted(draws.places(bits(self._cell, "places"), len(self._chain), total))
        lines = _woven([NOISE] * units, spots, self._chain)
        draft = assemble(
            [
                (PLAIN, self._intro),
                *self._example,
                (PLAIN, "Now the text.\n"),
                ("noise", "\n".join(lines)),
                (PLAIN, f"\n{self._question(self._value)}"),
            ],
            [round(spot / (total - 1), 4) for spot in spots],
        )
        mine = _size(self._chain)
        chars = dict(draft.chars)
        chars["noise"] -= mine
        chars["chains"] += mine
        draft.chars = chars
        return draft


def _hay(haystack: str, corpora: Corpora) -> list[str]:
    """Text in which no key and no value may occur by chance."""
    if haystack == "essay":
        return [corpora.essays.text]
    return [NOISE] if haystack == "noise" else []


def assignments(names: Sequence[str], value: str) -> list[str]:
    """``VAR AAA = 12345``, then each variable from the one before it."""
    sources = [value, *(f"VAR {name}" for name in names[:-1])]
    return [f"VAR {name} = {source}" for name, source in zip(names, sources, strict=True)]


def _woven(hay: Sequence[str], spots: Sequence[int], texts: Sequence[str]) -> list[str]:
    """The hay with each text at its place among all lines."""
    mine = dict(zip(spots, texts, strict=True))
    rest = iter(hay)
    return [mine[place] if place in mine else next(rest) for place in range(len(hay) + len(texts))]


def _size(texts: Sequence[str]) -> int:
    return sum(map(len, texts))
