"""Which rows a session wants: ``--bench`` slices, and what ``-k`` and ``-m`` rule out before reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from pytest_benchkit.errors import UsageProblem

if TYPE_CHECKING:
    from pytest_benchkit.task import TaskIndex

MOST_OPEN = 8
"""``-k`` words tried both ways; with more of them the suite is collected and pytest decides."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows that ``--bench=KEY[:SLICE]`` names: all, a sample of N, the first N, a data variant."""

    key: str
    kind: str = "all"
    count: int | None = None
    variant: str | None = None

    def describe(self, rows: int) -> dict[str, object]:
        """The ``selection`` entry of ``run.json``."""
        if self.count is None or self.count >= rows:
            return {"kind": "all"}
        return {"kind": self.kind, "n": self.count}


def parse_slice(text: str) -> Slice:
    """Raises :class:`UsageProblem` with the forms that exist."""
    key, colon, rest = text.partition(":")
    if not key or (colon and not rest):
        raise _bad_slice(text)
    if not rest:
        return Slice(key)
    variant: str | None = None
    kind = "sample"
    count: int | None = None
    for part in rest.split(":"):
        if count is not None:
            raise _bad_slice(text)
        if part.isascii() and part.isdigit() and int(part) > 0:
            count = int(part)
        elif part == "head":
            kind = "head"
        elif variant is None and re.fullmatch(r"[a-z][a-z0-9.-]*", part):
            variant = part
        else:
            raise _bad_slice(text)
    if kind == "head" and count is None:
        raise _bad_slice(text)
    return Slice(key, kind if count is not None else "all", count, variant)


def _bad_slice(text: str) -> UsageProblem:
    return UsageProblem(
        f"--bench={text}: write KEY, KEY:N for a sample of N rows, KEY:head:N for the first N, "
        "or KEY:VARIANT[:N]"
    )


def rows_of(slice_: Slice | None, index: TaskIndex, key: str) -> list[int]:
    """Positions of the chosen rows. A sample is a prefix of the plan order, so a larger one holds it."""
    from pytest_benchkit.datasets.order import plan_order

    if slice_ is not None and slice_.kind == "head" and slice_.count is not None:
        return list(range(min(slice_.count, len(index))))
    order = list(range(len(index))) if index.planned else plan_order(key, index.ids, index.categories)
    return order if slice_ is None or slice_.count is None else order[: slice_.count]


class NameFilter:
    """Decides from ``-k`` whether any item of a suite could be selected, without knowing its rows.

    An identifier that occurs in one of the suite's own names is true for all its items; one that cannot
    occur in an item name is false; the rest are tried both ways.
    """

    def __init__(self, expression: str) -> None:
        self._evaluate = _compile(expression)

    def matches(self, names: Iterable[str]) -> bool:
        """Whether an item is selected that carries these names and no others."""
        if self._evaluate is None:
            return True
        carried = [name.lower() for name in names]
        return self._evaluate(lambda word: any(word.lower() in name for name in carried))

    def may_match(self, fixed: Iterable[str], pieces: Sequence[str], id_words: Sequence[str] | None) -> bool:
        """``fixed``: names every item carries. ``pieces``: the fixed texts of an item's name (key, model,
        harness). ``id_words``: the words of which task ids are made, ``None`` when not known."""
        if self._evaluate is None:
            return True
        always = [text.lower() for text in fixed]
        known = [text.lower() for text in (*pieces, *(id_words or ()))]
        open_words: list[str] = []

        def settled(word: str) -> bool | None:
            lower = word.lower()
            if any(lower in text for text in always):
                return True
            if id_words is not None and not _could_occur(lower, known):
                return False
            return None

        def probe(word: str) -> bool:
            value = settled(word)
            if value is None and word not in open_words:
                open_words.append(word)
            return bool(value)

        if self._evaluate(probe):
            return True
        if len(open_words) > MOST_OPEN:
            return True
        for values in product((False, True), repeat=len(open_words)):
            chosen = dict(zip(open_words, values, strict=True))
            if self._evaluate(lambda word, c=chosen: c.get(word, bool(settled(word)))):  # type: ignore[misc]
                return True
        return False


def _could_occur(word: str, pieces: Sequence[str]) -> bool:
    """Whether a word can be part of a name like ``key[model-harness-0042]``: each of its runs without
    digits and separators must be part of a known piece."""
    runs = re.split(r"[\d\[\]-]+", word)
    return all(any(run in piece for piece in pieces) for run in runs if run)


def _compile(expression: str) -> Callable[[Callable[[str], bool]], bool] | None:
    """pytest's own grammar of ``-k``; ``None`` when there is nothing to decide."""
    if not expression.strip():
        return None
    from _pytest.mark.expression import Expression

    try:
        compiled = Expression.compile(expression)
    except Exception:
        return None  # pytest itself reports it
    return lambda matcher: compiled.evaluate(_Matcher(matcher))


class _Matcher:
    def __init__(self, matcher: Callable[[str], bool]) -> None:
        self._matcher = matcher

    def __call__(self, name: str, /, **kwargs: object) -> bool:
        return self._matcher(name)
