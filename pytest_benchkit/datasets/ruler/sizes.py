"""How many units fill a budget of tokens: counted by the model's tokenizer, by a measured ratio, or
safely."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pytest_benchkit.datasets.ruler.cells import SAFE_RATIOS

if TYPE_CHECKING:
    from pytest_benchkit.datasets.ruler.recipes import Draft, Recipe
    from pytest_benchkit.sizing import Sizer

PROBES = 8
FULL = 0.97
AIM = 0.985
"""Share of the budget that the next probe aims at: between full and too much."""

Measure = Callable[["Draft"], int]


class Uncounted(Exception):
    """The server's tokenizer did not answer."""


class Sized(NamedTuple):
    """A prompt that fits: its recipe, units, tokens, and ``exact``, ``calibrated`` or ``estimated``."""

    recipe: Recipe
    units: int
    draft: Draft
    tokens: int
    method: str


def sized(recipes: Iterable[Recipe], budget: int, sizer: Sizer, cell: str) -> Sized | None:
    """The fullest prompt of at most ``budget`` tokens by the first recipe that has one; ``None`` when none
    has. ``cell`` names what the last good number of units is remembered for."""
    exact = True
    for number, recipe in enumerate(recipes):
        name = f"{cell}-{number}"
        found = None
        if exact:
            try:
                found = _search(recipe, budget, _counting(sizer), sizer.recall(name), sizer)
            except Uncounted:
                exact = False
        if not exact:
            found = _search(recipe, budget, lambda draft: estimated(draft, sizer), sizer.recall(name), sizer)
        if found is not None:
            units, draft, tokens = found
            sizer.keep(name, units)
            unexact = "estimated" if sizer.ratio(recipe.kind) is None else "calibrated"
            return Sized(recipe, units, draft, tokens, "exact" if exact else unexact)
    return None


def estimated(draft: Draft, sizer: Sizer) -> int:
    """Tokens of a draft by characters per token: as measured for this run, else the safe figures."""
    return math.ceil(sum(count / _ratio(kind, sizer) for kind, count in draft.chars.items()))


def _ratio(kind: str, sizer: Sizer) -> float:
    return sizer.ratio(kind) or SAFE_RATIOS[kind]


def _counting(sizer: Sizer) -> Measure:
    def measure(draft: Draft) -> int:
        if (tokens := sizer.count(draft.prompt)) is None:
            raise Uncounted
        return tokens

    return measure


def _search(
    recipe: Recipe, budget: int, measure: Measure, start: int | None, sizer: Sizer
) -> tuple[int, Draft, int] | None:
    """The best of at most eight probes by secant steps; should all be too long, shorter ones until one fits.

    ``None`` when not even the least number of units does.
    """
    if start is None:
        start = int(AIM * budget * _ratio(recipe.kind, sizer) / recipe.grain)
    below, above = recipe.least - 1, recipe.most + 1
    units = min(max(start, recipe.least), recipe.most)
    best: tuple[int, Draft, int] | None = None
    seen: list[tuple[int, int]] = []
    for _ in range(PROBES):
        draft = recipe.build(units)
        tokens = measure(draft)
        seen.append((units, tokens))
        if tokens > budget:
            above = units
        else:
            best, below = (units, draft, tokens), units
            if tokens >= FULL * budget:
                break
        if above - below <= 1:
            break
        units = min(max(_next(seen, AIM * budget), below + 1), above - 1)
    while best is None and above > recipe.least:
        above = max(recipe.least, above * 4 // 5)
        draft = recipe.build(above)
        if (tokens := measure(draft)) <= budget:
            best = (above, draft, tokens)
    return best


def _next(seen: list[tuple[int, int]], target: float) -> int:
    """Where the line through the last two probes (through the origin, after one) meets the target."""
    (units, tokens), (units_before, tokens_before) = seen[-1], seen[-2] if len(seen) > 1 else (0, 0)
    slope = (tokens - tokens_before) / (units - units_before)
    return int(units + (target - tokens) / slope) if slope > 0 else int(units * target / tokens)
