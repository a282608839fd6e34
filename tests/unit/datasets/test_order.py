from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.datasets.order import plan_order

SIZES = {
    "14 uneven categories": [717, 789, 1132, 410, 844, 969, 818, 381, 1101, 1351, 924, 499, 1299, 798],
    "77 even ones": [40] * 77,
    "gpqa": [93, 86, 19],
    "18 of xstest": [25] * 18,
}


def labels(sizes: list[int]) -> tuple[list[str], list[str | None]]:
    categories: list[str | None] = [f"c{number}" for number, size in enumerate(sizes) for _ in range(size)]
    return [f"{place:05}" for place in range(len(categories))], categories


def exact(key: str, ids: list[str], categories: list[str | None]) -> list[int]:
    """The rule with exact fractions, as it is written down."""
    firsts = list(dict.fromkeys(categories))
    counts = Counter(categories)
    ranked: Counter[str | None] = Counter()
    keyed = []
    for row in sorted(
        range(len(ids)), key=lambda row: hashlib.sha256(f"{key}\0{ids[row]}".encode()).digest()
    ):
        category = categories[row]
        place = Fraction(2 * ranked[category] + 1, 2 * counts[category])
        ranked[category] += 1
        keyed.append((place, firsts.index(category), row))
    return [row for _, _, row in sorted(keyed)]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.text(max_size=5), st.randoms())
@settings(max_examples=60, deadline=None)
def test_equals_the_rule_in_exact_fractions(sizes: list[int], key: str, mixed: object) -> None:
    ids, categories = labels(sizes)
    mixed.shuffle(categories)  # type: ignore[attr-defined]
    assert plan_order(key, ids, categories) == exact(key, ids, categories)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_prefix_is_bound_to_the_shares(sizes: list[int]) -> None:
    """Each count is within 1/2 of n*x at the prefix's fraction x, and m within C/2 of N*x."""
    assert worst_gap(sizes) <= 0.5 + max(sizes) / sum(sizes) * len(sizes) / 2 + 1e-9


@given(st.integers(1, 12), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_categories_of_one_size_stay_within_one_row(count: int, size: int) -> None:
    assert worst_gap([size] * count) <= 1 + 1e-9


@pytest.mark.parametrize("name", SIZES)
def test_prefix_bound_for_real_shapes(name: str) -> None:
    assert worst_gap(SIZES[name]) < 1


def worst_gap(sizes: list[int]) -> float:
    ids, categories = labels(sizes)
    total = len(ids)
    seen: Counter[str | None] = Counter()
    counts = Counter(categories)
    worst = 0.0
    for length, row in enumerate(plan_order("key", ids, categories), 1):
        seen[categories[row]] += 1
        worst = max(worst, *(abs(seen[name] - length * counts[name] / total) for name in counts))
    return worst


def test_order_is_a_permutation_that_ignores_the_data_order() -> None:
    ids, categories = labels([5, 9, 2])
    order = plan_order("key", ids, categories)
    assert sorted(order) == list(range(16))
    back = list(reversed(range(16)))
    turned = plan_order("key", [ids[row] for row in back], [categories[row] for row in back])
    mine = [ids[row] for row in order if categories[row] == "c1"]
    assert mine == [ids[back[row]] for row in turned if categories[back[row]] == "c1"]


def test_golden_order_and_seed() -> None:
    ids = [f"{place:04}" for place in range(1319)]
    nothing: list[str | None] = [None] * 1319
    assert plan_order("gsm8k", ids, nothing)[:10] == [1286, 259, 224, 711, 199, 1141, 617, 400, 879, 229]
    seeded = plan_order("gsm8k", ids, nothing, seed=7)
    assert seeded != plan_order("gsm8k", ids, nothing)
    assert seeded == plan_order("gsm8k", ids, nothing, seed=7)


def test_empty_data_has_an_empty_order() -> None:
    assert plan_order("key", [], []) == []
