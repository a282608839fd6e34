"""Cutting bounds: vectors 73, 74, property P13, and the figures on public noise data."""

from __future__ import annotations

import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.gates import students_t
from pytest_benchkit.gates.calibrate import Proposal, factor, propose, raw_floor
from pytest_benchkit.gates.metrics import MetricSpec, spec_of
from pytest_benchkit.gates.schema import Bound

DATA = Path(__file__).parents[2] / "data" / "gate_noise.toml"


def spec(name: str) -> MetricSpec:
    found = spec_of(name)
    if found is None:
        raise LookupError(name)
    return found


def scores(*right: int) -> Proposal:
    return propose("score", [k / 1319 for k in right], spec("score"), n=1319)


def test_students_t() -> None:
    """Against tables: t(0.975; 1) = 12.7062, t(0.995; 4) = 4.6041, t(0.9; 30) = 1.3104."""
    assert students_t.quantile(0.975, 1) == pytest.approx(12.7062, abs=1e-4)
    assert students_t.quantile(0.995, 4) == pytest.approx(4.6041, abs=1e-4)
    assert students_t.quantile(0.1, 30) == pytest.approx(-1.3104, abs=1e-4)


def test_the_factor() -> None:
    found = [round(factor(k, 0.01), 2) for k in (3, 4, 5, 8, 10, 20, 50)]
    assert found == [11.46, 6.53, 5.04, 3.71, 3.41, 2.93, 2.71]


def test_floors_of_scores() -> None:
    five = scores(1145, 1141, 1149, 1147, 1143)
    assert five.bound == Bound(min=Decimal("0.855"), measured=Decimal("0.868082"))
    assert five.drop_80 == pytest.approx(0.0151, abs=1e-4)
    assert five.drop_95 == pytest.approx(0.0170, abs=1e-4)
    three = scores(1145, 1141, 1149)
    assert three.bound is not None
    assert three.bound.min == Decimal("0.832")
    assert three.warnings == ("few-runs",)
    same = scores(1145, 1145, 1145)
    assert same.bound is not None
    assert same.bound.min == Decimal("0.862")
    assert "zero-spread" in same.warnings


def test_speeds_and_counts() -> None:
    speed = propose("decode_tok_s", [25.9, 26.1, 26.0], spec("decode_tok_s"))
    assert speed.bound is not None
    assert speed.bound.min == Decimal("24.5")
    ttft = propose("ttft_p50_ms", [371, 368, 375, 372, 370], spec("ttft_p50_ms"))
    assert ttft.bound is not None
    assert (ttft.bound.min, ttft.bound.max) == (None, Decimal(390))
    boot = propose("decode_tok_s", [25.9, 26.1, 26.0], spec("decode_tok_s"), one_boot=True)
    assert boot.refusal is not None
    assert boot.refusal.code == "one-boot"
    two = propose("score", [0.8, 0.81], spec("score"), n=100)
    assert two.refusal is not None
    assert two.refusal.code == "too-few-runs"
    pin = propose("samples", [50, 50, 50], spec("samples"))
    assert pin.bound == Bound(min=Decimal(50), max=Decimal(50))
    assert propose("samples", [50, 49, 50], spec("samples")).refusal is not None


def test_a_floor_that_could_not_fail_is_refused() -> None:
    found = propose("score", [0.1, 0.5, 0.9], spec("score"), n=10)
    assert found.refusal is not None
    assert found.refusal.code == "bound-vacuous"


def test_odd_spreads_are_said() -> None:
    wide = propose("score", [0.7, 0.8, 0.75, 0.85, 0.9], spec("score"), n=1319)
    assert "overdispersed" in wide.warnings
    split = propose("score", [0.80, 0.81, 0.805, 0.89, 0.9], spec("score"), n=200)
    assert "bimodal" in split.warnings


@given(st.lists(st.integers(700, 1300), min_size=3, max_size=12))
def test_the_bound_passes_the_runs_it_was_cut_from(right: list[int]) -> None:
    found = propose("score", [k / 1319 for k in right], spec("score"), n=1319)
    if found.bound is not None and found.bound.min is not None:
        assert min(right) / 1319 >= float(found.bound.min)
    else:
        assert found.refusal is not None


@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=10),
    st.floats(0.5, 4),
    st.floats(-50, 50),
)
def test_scaling_and_shifting_the_data_does_so_to_the_raw_bound(
    values: list[float], scale: float, shift: float
) -> None:
    raw = raw_floor(values, 0.0, 0.0, 0.01)
    moved = raw_floor([scale * x + shift for x in values], 0.0, 0.0, 0.01)
    assert moved == pytest.approx(scale * raw + shift, rel=1e-6, abs=1e-6)


# ---------------------------------------------------------------------- public noise


def noise() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomli.loads(DATA.read_text())["noise"]
    return rows


def drawer(row: dict[str, Any], seed: int) -> Callable[[], float]:
    """Healthy runs of a row, on the grid of its n."""
    draw, n = random.Random(seed), row["n"]

    def one() -> float:
        if row.get("skewed"):
            value = row["mean"] - row["sd"] * (draw.gammavariate(2, 1) - 2) / math.sqrt(2)
        else:
            value = draw.gauss(row["mean"], row["sd"])
        return float(min(1.0, round(value * n) / n))

    return one


def floors(
    row: dict[str, Any], k: int, calibrations: int, seed: int
) -> tuple[list[float], Callable[[], float]]:
    one = drawer(row, seed)
    score = spec("score")
    found = []
    for _ in range(calibrations):
        bound = propose("score", [one() for _ in range(k)], score, n=row["n"]).bound
        if bound is None or bound.min is None:
            raise AssertionError("refused")
        found.append(float(bound.min))
    return found, one


@pytest.mark.parametrize("k", [5, 10, 30])
@pytest.mark.parametrize("row", noise(), ids=lambda row: f"{row['row']}-{row['sd']}")
def test_false_alarms_stay_below_one_percent(row: dict[str, Any], k: int) -> None:
    """Worst row when written: 0.75 %, the skewed one."""
    found, one = floors(row, k, 1000, seed=100 * row["row"] + k)
    fresh = sorted(one() for _ in range(4000))
    alarms = statistics.fmean(bisect_left(fresh, floor) / len(fresh) for floor in found)
    assert alarms < 0.01


@pytest.mark.parametrize(
    ("source", "k", "least"), [("#1382", 10, 0.98), ("#27342", 10, 0.98), ("#1382", 5, 0.85)]
)
def test_a_drop_of_three_points_is_caught(source: str, k: int, least: float) -> None:
    for row in noise():
        if source not in row["source"]:
            continue
        found, one = floors(row, k, 400, seed=row["row"] + k)
        fresh = sorted(one() - 0.03 for _ in range(2000))
        caught = statistics.fmean(sum(x < floor for x in fresh) / len(fresh) for floor in found)
        assert caught >= least, row["source"]


def test_gates_in_use_are_judged() -> None:
    def fed(row: dict[str, Any]) -> Proposal:
        one = drawer(row, 3)
        strict = Decimal("0.0001") if row.get("strict") else Decimal(0)
        existing = Bound(min=Decimal(str(row["gate"])) + strict)
        values = [one() for _ in range(2000)]
        return propose("score", values, spec("score"), n=row["n"], existing=existing)

    rows = {row["source"]: fed(row) for row in noise()}
    first = rows["sgl-project/sglang-jax #1333"].false_alarms
    assert first is not None
    assert first[0] == pytest.approx(0.202, abs=0.03)
    always = rows["sgl-project/sglang #27342, first model"].false_alarms
    assert always is not None
    assert always[0] >= 0.99
    assert rows["sgl-project/sglang #27342, second model"].stale
    assert not rows["sgl-project/sglang-jax #1382"].stale
