"""Intervals, errors and percentiles against published and hand-computed values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.runs.statistics import clustered, estimate, percentile, t_quantile, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (16, 20, 0.5840, 0.9193),
        (20, 20, 0.8389, 1.0),
        (172, 200, 0.8051, 0.9013),
        (1145, 1319, 0.8487, 0.8853),
        (0, 20, 0.0, 0.1611),
    ],
)
def test_wilson_interval(right: int, n: int, low: float, high: float) -> None:
    assert wilson(right / n, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("freedom", "value"),
    [
        (1, 12.7062047362),
        (2, 4.3026527297),
        (3, 3.1824463053),
        (5, 2.5705818356),
        (10, 2.2281388520),
        (30, 2.0422724563),
        (100, 1.9839715185),
        (1000, 1.9623390808),
        (1_000_000, 1.9599663568),
    ],
)
def test_t_quantile_against_tables(freedom: int, value: float) -> None:
    assert t_quantile(freedom) == pytest.approx(value, rel=1e-9)


def test_t_quantile_of_another_level() -> None:
    assert t_quantile(10, 0.95) == pytest.approx(1.8124611228, rel=1e-9)
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(0)


CLUSTERED = ([1.0, 1, 0, 0, 0, 1, 1, 1, 1, 0], ["a"] * 3 + ["b"] * 2 + ["c"] * 4 + ["d"])


def test_clustered_error() -> None:
    values, clusters = CLUSTERED
    found = estimate(values, clusters)
    assert found is not None
    assert (found.mean, found.n, found.method) == (0.6, 10, "wilson-clustered")
    assert found.stderr == pytest.approx(0.2422, abs=5e-5)
    naive = estimate(values)
    assert naive is not None
    assert naive.stderr == pytest.approx(0.1549, abs=5e-5)
    effective = 10 / (0.242212 / 0.154919) ** 2
    assert (found.low, found.high) == pytest.approx(wilson(0.6, effective), abs=1e-4)


def test_clusters_of_one_widen_nothing_much() -> None:
    values = [1.0, 0.0] * 50
    apart = estimate(values, list(range(100)))
    plain = estimate(values)
    assert apart is not None
    assert plain is not None
    assert apart.low == pytest.approx(plain.low, abs=1e-3)


def test_graded_interval_by_hand() -> None:
    found = estimate([0.25, 0.5, 0.75, 1.0])
    assert found is not None
    stderr = math.sqrt((0.375**2 + 0.125**2) * 2 / 3 / 4)
    assert found.stderr == pytest.approx(stderr)
    assert found.method == "t"
    assert found.low == pytest.approx(0.625 - 3.1824463053 * stderr)
    assert found.high == 1.0  # cut


def test_what_cannot_be_had_is_absent_with_a_reason() -> None:
    assert estimate([]) is None
    one = estimate([0.5])
    assert one is not None
    assert (one.mean, one.low, one.stderr) == (0.5, None, None)
    assert one.why
    assert one.half is None
    same = estimate([1.0, 0.0], ["a", "a"])
    assert same is not None
    assert (same.low, same.why) == (None, "all rows share one cluster")


def test_weights_make_the_mean_of_task_means() -> None:
    # task a: 1, 0 (mean 0.5); task b: 1 (mean 1)
    found = clustered([1.0, 0.0, 1.0], [0.5, 0.5, 1.0], ["a", "a", "b"], shares=True)
    assert found.mean == pytest.approx(0.75)
    assert found.stderr == pytest.approx(math.sqrt(2 * (0.125**2 + 0.125**2)))


def test_percentiles_interpolate() -> None:
    assert percentile([1, 2, 3, 4], 0.5) == 2.5
    assert percentile(range(1, 21), 0.95) == pytest.approx(19.05)
    assert percentile([7], 0.5) == 7
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(("p", "needed"), [(0.95, 20), (0.05, 20), (0.99, 100)])
def test_tail_percentiles_need_values(p: float, needed: int) -> None:
    assert percentile(range(needed - 1), p) is None
    assert percentile(range(needed), p) is not None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 9))
def test_interval_holds_the_mean(values: list[float], clusters: int) -> None:
    for names in (None, [place % clusters for place in range(len(values))]):
        found = estimate(values, names)
        assert found is not None
        assert 0 <= found.mean <= 1
        if found.low is not None and found.high is not None:
            assert 0 <= found.low <= found.mean + 1e-9
            assert found.mean - 1e-9 <= found.high <= 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_percentile_stays_within(values: list[float], p: float) -> None:
    found = percentile(sorted(values), p)
    assert found is None or min(values) - 1e-3 <= found <= max(values) + 1e-3
