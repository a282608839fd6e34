"""What every family gives: a :class:`Recipe` that builds the prompt of so many units, as a :class:`Draft`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from random import Random

from pytest_benchkit.datasets.ruler.cells import GENERATOR
from pytest_benchkit.datasets.shuffle import generator

if TYPE_CHECKING:
    from pytest_benchkit.datasets.ruler.cells import Cell

PLAIN = "essay"
"""The kind of content that instructions and questions count as: English prose."""


@dataclass(slots=True)
class Draft:
    """A prompt, the characters in it by kind of content, and where the golds are (0..1 of the haystack)."""

    prompt: str
    chars: Mapping[str, int]
    depths: Sequence[float] = ()


@dataclass(slots=True)
class Golds:
    """What a reply is held against, drawn before any size is known; ``facts`` go into the record."""

    texts: Sequence[str]
    facts: dict[str, Any] = field(default_factory=dict)


class Recipe(Protocol):
    """Builds prompts of one row. More units give a longer prompt; equal units an equal one."""

    kind: str
    """Kind of content of the haystack."""
    grain: float
    """Characters per unit, roughly: where the search for the number of units begins."""
    least: int
    most: int
    golds: Golds

    def build(self, units: int) -> Draft:
        """The prompt with ``least`` to ``most`` units of haystack."""


def bits(cell: Cell, *purpose: str) -> Random:
    """The private generator of a row: for what is asked, or with a purpose for what depends on the size."""
    return generator(GENERATOR, cell.tokens, cell.family.name, cell.sample, *purpose)


def assemble(parts: Sequence[tuple[str, str]], depths: Sequence[float] = ()) -> Draft:
    """A draft of (kind, text) parts in order."""
    chars: dict[str, int] = {}
    for kind, text in parts:
        chars[kind] = chars.get(kind, 0) + len(text)
    return Draft("".join(text for _, text in parts), chars, depths)
