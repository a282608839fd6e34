"""Paired differences: published vectors, brute force, coverage."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.runs.paired import bootstrap, difference, mcnemar, newcombe


@pytest.mark.parametrize(
    ("gains", "losses", "p"), [(30, 12, 0.00792), (8, 1, 0.0391), (20, 10, 0.0987), (0, 0, 1.0), (5, 5, 1.0)]
)
def test_mcnemar(gains: int, losses: int, p: float) -> None:
    assert mcnemar(gains, losses) == pytest.approx(p, abs=5e-5)
    assert mcnemar(losses, gains) == mcnemar(gains, losses)


def test_mcnemar_by_enumeration() -> None:
    """Two-sided: every sign pattern at least as uneven as the one seen."""
    for n in range(1, 11):
        uneven = [abs(2 * sum(signs) - n) for signs in itertools.product((0, 1), repeat=n)]
        for gains in range(n + 1):
            share = sum(u >= abs(2 * gains - n) for u in uneven) / 2**n
            assert mcnemar(gains, n - gains) == pytest.approx(min(1.0, share))


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Newcombe 1998, table II, method 10 gives first minus second; ours is second minus first
        ((36, 12, 2, 0), -0.3404, -0.0569),
        ((0, 54, 0, 0), -1.0, -0.9061),
        ((30, 0, 0, 0), -0.1135, 0.1135),
        ((0, 0, 0, 30), -0.1135, 0.1135),
    ],
)
def test_newcombe(table: tuple[int, int, int, int], low: float, high: float) -> None:
    assert newcombe(*table) == pytest.approx((low, high), abs=6e-5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_interval_holds_the_difference(rows: list[tuple[bool, bool]]) -> None:
    first, second = [float(a) for a, _ in rows], [float(b) for _, b in rows]
    found = difference(first, second, [str(n) for n in range(len(rows))])
    assert found is not None
    assert found.test == "mcnemar"
    assert -1 <= found.low <= found.delta <= found.high <= 1
    back = difference(second, first, [str(n) for n in range(len(rows))])
    assert back is not None
    assert (back.gains, back.losses, back.p) == (found.losses, found.gains, found.p)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_a_run_against_itself() -> None:
    scores = [0.0, 1.0, 1.0]
    found = difference(scores, scores, list("abc"))
    assert found is not None
    assert (found.delta, found.p, found.gains, found.losses) == (0.0, 1.0, 0, 0)
    assert difference([], [], []) is None


def test_bootstrap_is_the_same_everywhere() -> None:
    deltas = [0.25, -0.5, 0.75, 0.0, 0.5, 0.25, -0.25, 1.0]
    keys = [f"k{n}" for n in range(8)]
    assert bootstrap(deltas, keys) == bootstrap(deltas, keys)
    assert bootstrap(deltas, keys) == pytest.approx(BOOTSTRAP, abs=1e-12)


def test_clusters_widen_the_interval() -> None:
    draw = random.Random(3)
    base = [draw.gauss(0.05, 0.2) for _ in range(30)]
    deltas = [value for value in base for _ in range(4)]
    keys = [str(n) for n in range(120)]
    low, high, _ = bootstrap(deltas, keys)
    wide_low, wide_high, _ = bootstrap(deltas, keys, [n // 4 for n in range(120)])
    assert wide_high - wide_low > 1.6 * (high - low)


def test_graded_scores_are_bootstrapped() -> None:
    found = difference([0.5, 0.25, 1.0], [0.75, 0.25, 0.5], list("abc"))
    assert found is not None
    assert (found.test, found.gains, found.losses) == ("bootstrap", 1, 1)


def test_bootstrap_coverage() -> None:
    """95 % intervals hold the true mean in 93-97 % of simulations, within what 200 of them can tell."""
    draw = random.Random(11)
    held = 0
    for number in range(200):
        deltas = [draw.choice((-0.5, 0.0, 0.0, 0.25, 0.5)) for _ in range(80)]
        low, high, _ = _quick(deltas, number)
        held += low <= 0.05 <= high
    assert 0.90 <= held / 200 <= 0.99


def _quick(deltas: list[float], number: int) -> tuple[float, float, float]:
    from pytest_benchkit.runs import paired

    most, paired.MOST_LOOKS = paired.MOST_LOOKS, 0  # the fewest draws: this is about the method
    try:
        return bootstrap(deltas, [f"{number}-{n}" for n in range(len(deltas))])
    finally:
        paired.MOST_LOOKS = most


BOOTSTRAP = (-0.0625, 0.5625, 0.1646)
