"""Comparing and sampling: vectors 26-36, properties P1 and P2."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.gates import sampling
from pytest_benchkit.gates.bounds import BoundResult, compare, exact
from pytest_benchkit.gates.metrics import MetricValue
from pytest_benchkit.gates.schema import Bound


def bound(**sides: str) -> Bound:
    return Bound(**{name: Decimal(value) for name, value in sides.items()})


def code(value: float | None, limits: Bound) -> str | None:
    return compare("m", MetricValue(value), limits).code


@pytest.mark.parametrize(
    ("limits", "value", "expected"),
    [
        (bound(min="83.64", noise="0.40"), 83.24, None),
        (bound(min="83.64", noise="0.40"), 83.23, "below-floor"),
        (bound(max="390"), 390, None),
        (bound(max="390"), 390.01, "above-ceiling"),
        (bound(min="995", max="995"), 994, "pin-mismatch"),
        (bound(min="995", max="995"), 995.0, None),
        (bound(min="10", max="20", noise="0.5"), 9.5, None),
        (bound(min="10", max="20", noise="0.5"), 20.5, None),
        (bound(min="10", max="20", noise="0.5"), 20.51, "above-ceiling"),
        (bound(min="50.02", noise="0.05"), 49.97, None),
        (bound(max="50.01", noise="0.05"), 50.06, None),
        (bound(max="0.3"), 0.1 + 0.2, "above-ceiling"),
        (bound(min="0.86"), 860 / 1000, None),
        (bound(max="0"), -0.0, None),
        (bound(min="0"), math.nan, "metric-not-finite"),
        (bound(min="0"), math.inf, "metric-not-finite"),
        (bound(min="0"), None, "metric-missing"),
        (bound(), 1.0, "bound-empty"),
        (bound(min="5", max="4"), 4.5, "bound-order"),
        (bound(min="NaN"), 4.5, "bound-not-finite"),
        (bound(min="1", confidence="0.3"), 4.5, "confidence-range"),
    ],
)
def test_compare(limits: Bound, value: float | None, expected: str | None) -> None:
    assert code(value, limits) == expected


def test_binary64_would_fail_the_written_edges() -> None:
    assert not 49.97 + 0.05 >= 50.02
    assert not 50.06 - 0.05 <= 50.01


def test_an_absent_metric_tells_why() -> None:
    result = compare("m", MetricValue(None, absent_reason="the model makes its times up"), bound(min="1"))
    assert "the model makes its times up" in result.message


def test_repeats() -> None:
    value = MetricValue(26.0, "rate", by_repeat=(22.0, 30.0))
    assert compare("m", value, bound(min="20", max_spread="5")).code == "spread-exceeded"
    unknown = compare("m", MetricValue(26.0, "rate"), bound(min="20", max_spread="5"))
    assert (unknown.code, "no values" in unknown.message) == ("spread-exceeded", True)
    worst = compare("m", value, bound(min="25"), "worst")
    assert (worst.code, worst.value) == ("below-floor", 22)
    assert compare("m", value, bound(min="25")).ok
    assert compare("m", value, bound(max="29"), "worst").code == "above-ceiling"
    assert compare("m", value, bound(min="26", max="26")).code == "pin-mismatch"


def shares(k: int, n: int, limits: Bound) -> BoundResult:
    return compare("score", MetricValue(k / n, "proportion", n), limits)


def test_confidence_on_a_floor() -> None:
    asked = bound(min="0.85", confidence="0.95")
    good, bad = shares(179, 200, asked), shares(178, 200, asked)
    assert good.ok
    assert good.limit == pytest.approx(0.8539, abs=1e-4)
    assert bad.code == "not-proven-floor"
    assert bad.limit == pytest.approx(0.8483, abs=1e-4)
    assert "179 of 200" in bad.message
    plain = shares(172, 200, bound(min="0.85"))
    assert plain.ok
    assert plain.notes
    assert "0.0404" in plain.notes[0]
    assert "no sample size" in shares(170, 200, asked).message


@pytest.mark.parametrize(("noise", "least"), [("0", 1156), ("0.004", 1151)])
def test_the_least_passing_count(noise: str, least: int) -> None:
    asked = bound(min="0.86", confidence="0.95", noise=noise)
    assert shares(least, 1319, asked).ok
    assert not shares(least - 1, 1319, asked).ok


def test_confidence_on_a_ceiling() -> None:
    asked = bound(max="0.05", confidence="0.95")
    good, bad = shares(4, 200, asked), shares(5, 200, asked)
    assert good.ok
    assert good.limit == pytest.approx(0.0438, abs=1e-4)
    assert bad.code == "not-proven-ceiling"
    assert bad.limit == pytest.approx(0.0505, abs=1e-4)


def test_needed_n() -> None:
    levels = [(0.9, 0.85), (0.868, 0.85), (0.85, 0.86)]
    assert [sampling.needed_n(exact(p), exact(t), 0.95) for p, t in levels] == [138, 1065, None]


def test_confidence_of_repeats() -> None:
    asked = bound(min="10", confidence="0.95")

    def rate(*values: float) -> BoundResult:
        return compare(
            "decode_tok_s", MetricValue(sorted(values)[len(values) // 2], "rate", by_repeat=values), asked
        )

    assert rate(9.0, 11.0, 12.0, 13.0).code == "not-proven-floor"
    assert rate(9.0, 11.0, 12.0, 13.0, 14.0).limit == 9.0
    assert rate(9.0, 10.5, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0).limit == 10.5
    assert rate(10.0, 10.0, 10.0, 10.0, 10.0).ok
    assert [sampling.needed_repeats(c) for c in (0.90, 0.95, 0.99)] == [4, 5, 7]


def test_confidence_without_n_is_no_proof() -> None:
    asked = bound(min="0.5", confidence="0.9")
    assert compare("score", MetricValue(0.9, "proportion"), asked).code == "n-missing"
    assert compare("ttft", MetricValue(0.9, "rate"), asked).code == "n-missing"


# ---------------------------------------------------------------------- properties

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
DECIMALS = st.decimals(-1000, 1000, places=3)
BOUNDS = st.builds(
    Bound,
    min=st.none() | DECIMALS,
    max=st.none() | DECIMALS,
    noise=st.none() | st.decimals(0, 10, places=2),
    confidence=st.none() | st.decimals("0.51", "0.99", places=2),
)
WILD = st.builds(
    Bound,
    min=st.none() | st.decimals(),
    max=st.none() | st.decimals(),
    noise=st.none() | st.decimals(),
    confidence=st.none() | st.decimals(),
    max_spread=st.none() | st.decimals(),
)
VALUES = st.builds(
    MetricValue,
    st.none() | NUMBERS | st.integers(),
    st.sampled_from(["proportion", "mean01", "count", "rate", "duration", "quantile", "composite"]),
    st.none() | st.integers(0, 10**6),
    st.lists(NUMBERS, max_size=4).map(tuple),
)


@given(VALUES, WILD)
def test_compare_is_total(value: MetricValue, limits: Bound) -> None:
    result = compare("m", value, limits)
    assert result.ok == (result.code is None)
    result.plain()


@given(
    st.floats(-1100, 1100), st.floats(0, 50), st.decimals(-1000, 1000, places=3), st.decimals(0, 10, places=2)
)
def test_a_floor_is_monotone(value: float, more: float, floor: Decimal, noise: Decimal) -> None:
    limits = Bound(min=floor, noise=noise)
    if code(value, limits) is None:
        assert code(value + more, limits) is None


@given(st.floats(-1100, 1100), BOUNDS, st.decimals(0, 10, places=2))
def test_more_noise_never_fails_a_pass(value: float, limits: Bound, noise: Decimal) -> None:
    more = Bound(limits.min, limits.max, (limits.noise or Decimal(0)) + noise)
    if code(value, Bound(limits.min, limits.max, limits.noise)) is None:
        assert code(value, more) is None


@given(
    st.integers(0, 300),
    st.integers(1, 300),
    st.decimals("0.01", "0.99", places=2),
    st.decimals("0.51", "0.99", places=2),
)
def test_confidence_never_turns_a_failure_into_a_pass(
    k: int, n: int, floor: Decimal, confidence: Decimal
) -> None:
    k = min(k, n)
    if not shares(k, n, Bound(min=floor)).ok:
        assert not shares(k, n, Bound(min=floor, confidence=confidence)).ok


@given(st.floats(-1100, 1100), st.decimals(-1000, 1000, places=3), st.sampled_from(["min", "max"]))
def test_the_printed_comparison_is_true(value: float, limit: Decimal, side: str) -> None:
    result = compare("m", MetricValue(value), Bound(**{side: limit}))
    words = result.message.removeprefix("m: ").split(",")[0].split()
    shown, sign, written = Fraction(words[0]), words[1], Fraction(words[3])
    assert written == Fraction(limit)
    assert {"<": shown < written, ">": shown > written, ">=": shown >= written, "<=": shown <= written}[sign]


@given(
    st.integers(1, 3000),
    st.fractions(Fraction(1, 100), Fraction(99, 100)),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_the_closed_form_count_is_the_least_passing(n: int, t: Fraction, confidence: float) -> None:
    count = sampling.needed_count(n, t, confidence)
    if count is None:
        assert not sampling.proven_above(Fraction(1), n, t, confidence)
        return
    assert sampling.proven_above(Fraction(count, n), n, t, confidence)
    assert count == 0 or not sampling.proven_above(Fraction(count - 1, n), n, t, confidence)


@given(st.integers(0, 3000), st.integers(1, 3000), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_limits_enclose_the_share(k: int, n: int, confidence: float) -> None:
    p = min(k, n) / n
    low, high = sampling.wilson_lower(p, n, confidence), sampling.wilson_upper(p, n, confidence)
    assert low - 1e-12 <= p <= high + 1e-12
    assert sampling.wilson_lower(p, n, confidence + 0.005) <= low + 1e-12
