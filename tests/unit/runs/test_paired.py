"""Paired differences: published vectors, brute force, coverage."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.runs.paired import bootstrap, detectable, difference, mcnemar, newcombe


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


def power(n: int, differ: float, delta: float) -> float:
    """How often the exact test of ``n`` pairs shows a gain of ``delta``, over every table there can be."""
    up, down = (differ + delta) / 2, (differ - delta) / 2
    total = 0.0
    for gains, losses in itertools.product(range(n + 1), repeat=2):
        if gains + losses > n or gains <= losses or mcnemar(gains, losses) >= 0.05:
            continue
        ways = math.comb(n, gains) * math.comb(n - gains, losses)
        total += ways * up**gains * down**losses * (1 - differ) ** (n - gains - losses)
    return total


@pytest.mark.parametrize(("n", "discordant"), [(6, 0), (12, 2), (20, 8), (40, 5), (40, 20)])
def test_the_detectable_difference_by_enumeration(n: int, discordant: int) -> None:
    least = detectable(n, discordant)
    assert least is not None
    share = max(1, discordant) / n
    assert power(n, max(share, least), least) == pytest.approx(0.8, abs=0.002)


def test_what_the_exact_test_can_never_show() -> None:
    """Five pairs that differ one way have p = 0.0625, six have 0.03125."""
    assert [detectable(n, 1) for n in (1, 5)] == [None, None]
    found = [detectable(n, 0) for n in (6, 10, 50, 200, 1000)]
    assert all(
        least is not None and n * least > 6 for n, least in zip((10, 50, 200, 1000), found[1:], strict=True)
    )
    assert found == sorted(found, key=lambda least: -(least or 2))


def test_the_detectable_difference_of_many_pairs() -> None:
    """Near the normal approximation, and never below it: the exact test is the more careful one."""
    for n, discordant in ((1000, 140), (1000, 160), (1319, 200), (14_000, 3000)):
        least, normal = detectable(n, discordant), 2.8016 * math.sqrt(discordant) / n
        assert least is not None
        assert normal * 0.99 < least < normal * 1.12
