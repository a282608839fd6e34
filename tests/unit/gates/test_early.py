"""Deciding early: vectors 40-43, properties P6 and P7."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.gates.bounds import compare
from pytest_benchkit.gates.early import Decision, Progress, Sprt, certain, weaker_than_confidence
from pytest_benchkit.gates.metrics import MetricValue
from pytest_benchkit.gates.schema import Bound, Sequential


def first(bounds: dict[str, Bound], right: bool, *, skipped: int = 0) -> tuple[int, str] | None:
    """After how many equal outcomes 100 tasks are decided, and how."""
    for done in range(1, 101 - skipped):
        progress = Progress(100, done, Fraction(done if right else 0), skipped)
        if (decision := certain(bounds, progress)) is not None:
            assert decision.code == "decided-certain"
            return done, decision.verdict
    return None


FLOOR = {"score": Bound(min=Decimal("0.80"))}


def test_certain() -> None:
    assert first(FLOOR, right=False) == (21, "fail")
    assert first(FLOOR, right=True) == (80, "pass")
    assert first({"score": Bound(min=Decimal("0.80"), noise=Decimal("0.02"))}, right=True) == (78, "pass")
    sure = {"score": Bound(min=Decimal("0.80"), confidence=Decimal("0.95"))}
    assert first(sure, right=False) == (14, "fail")
    assert first(sure, right=True) == (87, "pass")


def test_skips_and_metrics_that_the_rest_can_move() -> None:
    assert first(FLOOR, right=False, skipped=10) == (19, "fail")
    both = FLOOR | {"ttft_p50_ms": Bound(max=Decimal(300))}
    assert first(both, right=True, skipped=10) is None
    assert first(both, right=False, skipped=10) == (19, "fail")


def test_counters_that_only_grow() -> None:
    bounds = {"errors": Bound(max=Decimal(2))}
    assert certain(bounds, Progress(100, 10, counts={"errors": 2})) is None
    decision = certain(bounds, Progress(100, 10, counts={"errors": 3}))
    assert decision is not None
    assert decision.verdict == "fail"


def test_a_two_sided_bound_between_the_ends_is_open() -> None:
    window = {"score": Bound(min=Decimal("0.4"), max=Decimal("0.6"))}
    assert certain(window, Progress(100)) is None
    assert certain(window, Progress(100, 61, Fraction(61))) is not None


LEVELS = Sequential(Decimal("0.9"), Decimal("0.8"), min_tasks=1)


@pytest.mark.parametrize(
    ("score", "least", "after", "verdict"),
    [(1.0, 1, 26, "pass"), (0.0, 1, 5, "fail"), (0.5, 1, 11, "fail"), (0.0, 20, 20, "fail")],
)
def test_sprt(score: float, least: int, after: int, verdict: str) -> None:
    test = Sprt(Sequential(LEVELS.good, LEVELS.bad, min_tasks=least), 1000)
    decision = test.consume([score] * 100)
    assert decision is not None
    assert (decision.after, decision.verdict, decision.code) == (after, verdict, "decided-sprt")


def test_sprt_consumes_a_completed_prefix() -> None:
    test = Sprt(LEVELS, 10)
    for position in (1, 3, 4):
        assert test.add(position, 1.0) is None
    assert test.consumed == 1
    test.add(2, 1.0)
    assert test.consumed == 4


def test_sprt_must_not_be_weaker_than_the_bound() -> None:
    assert weaker_than_confidence(LEVELS, Bound(min=Decimal("0.8"), confidence=Decimal("0.99")))
    assert not weaker_than_confidence(LEVELS, Bound(min=Decimal("0.8"), confidence=Decimal("0.95")))


@given(
    st.lists(st.sampled_from([None, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30),
    st.decimals("0.05", "0.95", places=2),
    st.sampled_from([None, Decimal("0.9")]),
    st.booleans(),
)
def test_a_certain_verdict_is_the_final_one(
    scores: list[float | None], limit: Decimal, confidence: Decimal | None, ceiling: bool
) -> None:
    """``None`` is a row that leaves the denominator. Once decided, the whole run says the same."""
    limits = Bound(max=limit, confidence=confidence) if ceiling else Bound(min=limit, confidence=confidence)
    decisions: list[Decision] = []
    done: list[float] = []
    skipped = 0
    for score in scores:
        if score is None:
            skipped += 1
        else:
            done.append(score)
        total = sum((Fraction(x) for x in done), Fraction(0))
        decision = certain({"score": limits}, Progress(len(scores), len(done), total, skipped))
        if decision is not None:
            decisions.append(decision)
    assert len({decision.verdict for decision in decisions}) <= 1
    if decisions and done:
        value = MetricValue(math.fsum(done) / len(done), "mean01", len(done))
        assert compare("score", value, limits).ok == (decisions[0].verdict == "pass")


@pytest.mark.parametrize(("level", "wrong"), [(0.9, "fail"), (0.8, "pass")])
def test_sprt_keeps_its_error_rates(level: float, wrong: str) -> None:
    draw = random.Random(7)
    runs = 2000
    mistakes = 0
    for _ in range(runs):
        decision = Sprt(LEVELS, 10**6).consume(float(draw.random() < level) for _ in range(5000))
        mistakes += decision is not None and decision.verdict == wrong
    assert mistakes / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@given(st.permutations(range(1, 13)), st.lists(st.booleans(), min_size=12, max_size=12))
def test_arrival_order_does_not_matter(order: list[int], right: list[bool]) -> None:
    arriving = Sprt(LEVELS, 12)
    for position in order:
        arriving.add(position, float(right[position - 1]))
    straight = Sprt(LEVELS, 12)
    straight.consume([float(x) for x in right])
    assert (arriving.decision, arriving.level) == (straight.decision, straight.level)
