"""The search for the number of units, with recipes of ours."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.datasets.ruler.cells import SAFE_RATIOS
from pytest_benchkit.datasets.ruler.recipes import Draft, Golds
from pytest_benchkit.datasets.ruler.sizes import PROBES, estimated, sized
from pytest_benchkit.sizing import PlainSizer


class Line:
    """A prompt of ``fixed`` characters and ``grain`` for each unit."""

    kind = "noise"

    def __init__(self, fixed: int, grain: int, least: int, most: int, guess: float = 0.0) -> None:
        self.fixed, self.each, self.least, self.most = fixed, grain, least, most
        self.grain = guess or float(grain)
        self.golds = Golds(["gold"])
        self.built: list[int] = []

    def build(self, units: int) -> Draft:
        assert self.least <= units <= self.most
        self.built.append(units)
        text = "x" * (self.fixed + self.each * units)
        return Draft(text, {"noise": len(text)})


class Counter(PlainSizer):
    """Counts characters times ``per``, and gives up after ``good`` counts."""

    def __init__(self, per: float, good: int = 10**9) -> None:
        super().__init__()
        self.per, self.good = per, good

    def count(self, text: str) -> int | None:
        self.good -= 1
        return math.ceil(len(text) * self.per) if self.good >= 0 else None


@given(
    fixed=st.integers(0, 3000),
    grain=st.integers(1, 40),
    least=st.integers(1, 50),
    per=st.floats(0.2, 1.0),
    budget=st.integers(200, 4000),
    guess=st.floats(0.5, 80.0),
)
def test_never_too_long_and_full_where_units_are_small(
    fixed: int, grain: int, least: int, per: float, budget: int, guess: float
) -> None:
    recipe = Line(fixed, grain, least, 100_000, guess)
    found = sized([recipe], budget, Counter(per), "cell")
    smallest = math.ceil((fixed + grain * least) * per)
    if found is None:
        assert smallest > budget
        return
    assert found.tokens == math.ceil(len(found.draft.prompt) * per) <= budget
    assert found.method == "exact"
    one_more = math.ceil((len(found.draft.prompt) + grain) * per)
    assert found.tokens >= 0.97 * budget or one_more > budget
    assert len(recipe.built) <= PROBES + 20


@given(st.integers(100, 3000), st.integers(1, 30))
def test_without_a_counter_the_safe_figures_bound_the_text(budget: int, grain: int) -> None:
    found = sized([Line(50, grain, 1, 100_000)], budget, PlainSizer(), "cell")
    assert found is not None
    assert len(found.draft.prompt) / SAFE_RATIOS["noise"] <= found.tokens <= budget
    assert found.method == "estimated"
    measured = sized([Line(50, grain, 1, 100_000)], budget, PlainSizer(ratios={"noise": 4.0}), "cell")
    assert measured is not None
    assert len(measured.draft.prompt) > len(found.draft.prompt)
    assert measured.method == "calibrated"


def test_counter_that_stops_answering_is_not_asked_again() -> None:
    sizer = Counter(0.1, good=1)
    found = sized([Line(10_000, 1, 1, 10), Line(10, 10, 1, 10_000, 400.0)], 1000, sizer, "cell")
    assert found is not None
    assert found.method == "estimated"
    assert estimated(found.draft, sizer) <= 1000


def test_next_recipe_is_taken_when_one_does_not_fit() -> None:
    recipes = [Line(9000, 10, 5, 100), Line(100, 10, 5, 100)]
    found = sized(recipes, 500, Counter(1.0), "cell")
    assert found is not None
    assert found.recipe is recipes[1]
    assert sized(recipes[:1], 500, Counter(1.0), "cell") is None
    assert sized([], 500, Counter(1.0), "cell") is None


def test_last_good_number_of_units_is_tried_first() -> None:
    sizer = Counter(0.3)
    first = Line(100, 7, 1, 10_000, 70.0)
    assert sized([first], 2000, sizer, "cell") is not None
    second = Line(100, 7, 1, 10_000, 70.0)
    found = sized([second], 2000, sizer, "cell")
    assert found is not None
    assert second.built == [first.built[-1]] == [found.units]
    assert len(first.built) > 1


def test_recipe_that_runs_out_of_units_gives_all_of_them() -> None:
    found = sized([Line(10, 10, 1, 30)], 5000, Counter(1.0), "cell")
    assert found is not None
    assert found.units == 30


@pytest.mark.parametrize("kind", SAFE_RATIOS)
def test_every_kind_of_content_has_a_safe_figure(kind: str) -> None:
    assert estimated(Draft("", {kind: 1000}), PlainSizer()) == math.ceil(1000 / SAFE_RATIOS[kind])
