"""Cutting a bound from repeated runs of one subject: :func:`propose`, and whether runs may be used at all.

A floor that a healthy run misses with probability ``false_alarm``: mean minus t times the spread, where the
spread is the larger of sd, lower semi-deviation (skewed runs) and half the grid, never above what was seen.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, Literal

from pytest_benchkit.gates import students_t
from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.bounds import compare, exact, thresholds
from pytest_benchkit.gates.metrics import SHARES, SPEEDS, Kind, MetricSpec, MetricValue
from pytest_benchkit.gates.schema import Bound

Side = Literal["min", "max"]
LEAST_RUNS, FEW_RUNS = 3, 5
RELATIVE = 0.025
"""Least relative distance of a speed bound: timing differs that much between healthy machines' days."""
STALE = 3.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """What ``k`` runs say about one metric. ``drop_80`` and ``drop_95``: the fall that the bound catches
    with that probability. ``false_alarms``: shares of healthy runs that the existing bound fails, observed
    and predicted."""

    metric: str
    k: int
    mean: float
    sd: float
    low: float
    high: float
    bound: Bound | None
    headroom: float | None = None
    drop_80: float | None = None
    drop_95: float | None = None
    warnings: tuple[str, ...] = ()
    refusal: Reason | None = None
    false_alarms: tuple[float, float] | None = None
    stale: bool = False


def factor(k: int, false_alarm: float) -> float:
    """T: how many spreads below the mean of k runs the next healthy run falls with that probability."""
    return students_t.quantile(1 - false_alarm / 2, k - 1) * math.sqrt(1 + 1 / k)


def raw_floor(values: Sequence[float], resolution: float, q: float, false_alarm: float) -> float:
    """The floor before rounding. ``resolution``: the grid of the metric; ``q``: least relative distance."""
    k, mean = len(values), statistics.fmean(values)
    below = math.sqrt(2 * math.fsum(min(0.0, x - mean) ** 2 for x in values) / (k - 1))
    spread = max(statistics.stdev(values), below, resolution / 2)
    return min(mean - max(factor(k, false_alarm) * spread, q * abs(mean)), min(values)) - resolution


def step_for(spec: MetricSpec, mean: float) -> Decimal:
    """What a bound is rounded to: a thousandth of a share, a tenth of percent, two digits of a speed."""
    if spec.highest == 1:
        return Decimal("0.001")
    if spec.highest == 100:
        return Decimal("0.1")
    magnitude = math.floor(math.log10(abs(mean))) if mean else 0
    return Decimal(5).scaleb(magnitude - 2)


def propose(
    metric: str,
    values: Sequence[int | float],
    spec: MetricSpec,
    *,
    n: int | None = None,
    false_alarm: float = 0.01,
    step: Decimal | None = None,
    existing: Bound | None = None,
    one_boot: bool = False,
    allow_one_boot: bool = False,
) -> Proposal:
    """The bound for one metric. Counts that were equal in all runs become pins; other counts get none."""
    k = len(values)
    mean, low, high = statistics.fmean(values), min(values), max(values)
    sd = statistics.stdev(values) if k > 1 else 0.0
    facts: dict[str, Any] = {"metric": metric, "k": k, "mean": mean, "sd": sd, "low": low, "high": high}
    if k < LEAST_RUNS:
        words = f"{k} runs; a spread takes at least {LEAST_RUNS}"
        return Proposal(**facts, bound=None, refusal=Reason("too-few-runs", words, "measure more runs"))
    if one_boot and spec.kind in SPEEDS and not allow_one_boot:
        words = "all runs come from one server start, and speed differs between starts"
        remedy = "restart the server between runs, or say --allow-one-boot"
        return Proposal(**facts, bound=None, refusal=Reason("one-boot", words, remedy))
    if spec.kind == "count":
        return _count(facts, values)
    side: Side = "max" if spec.better == "lower" else "min"
    resolution = (spec.highest - spec.lowest) / n if spec.kind in SHARES and n else 0.0
    q = RELATIVE if spec.kind in SPEEDS else 0.0
    signed = [float(x) for x in values] if side == "min" else [-float(x) for x in values]
    raw = raw_floor(signed, resolution, q, false_alarm)
    level = _rounded(raw, side, step or step_for(spec, mean))
    if (level <= spec.lowest) if side == "min" else (level >= spec.highest):
        words = f"{side} {level} could not fail: the runs lie too near the end of the range, or too far apart"
        return Proposal(**facts, bound=None, refusal=Reason("bound-vacuous", words, "ask more tasks"))
    written = _written(mean)
    bound = Bound(min=level, measured=written) if side == "min" else Bound(max=level, measured=written)
    headroom = mean - float(level) if side == "min" else float(level) - mean
    return Proposal(
        **facts,
        bound=bound,
        headroom=headroom,
        drop_80=headroom + 0.8416 * sd,
        drop_95=headroom + 1.6449 * sd,
        warnings=tuple(_warnings(values, spec.kind, n, sd, mean, one_boot)),
        false_alarms=_false_alarms(values, existing, side, mean, sd),
        stale=_stale(existing, side, mean, headroom),
    )


def _count(facts: dict[str, Any], values: Sequence[int | float]) -> Proposal:
    if len(set(values)) == 1:
        pin = Decimal(int(values[0]))
        return Proposal(**facts, bound=Bound(min=pin, max=pin))
    reason = Reason("different-subject", "the count differs between the runs", "measure runs of one plan")
    return Proposal(**facts, bound=None, refusal=reason)


def _rounded(raw: float, side: Side, step: Decimal) -> Decimal:
    """Rounded away from the runs, written without an exponent."""
    value = Decimal(repr(raw if side == "min" else -raw))
    rounding = ROUND_FLOOR if side == "min" else ROUND_CEILING
    steps = (value / step).quantize(Decimal("1e-9")).to_integral_value(rounding)
    return Decimal(format(steps * step, "f"))


def _written(mean: float) -> Decimal:
    return Decimal(f"{mean:.6g}")


def _warnings(
    values: Sequence[int | float], kind: Kind, n: int | None, sd: float, mean: float, one_boot: bool
) -> list[str]:
    k, found = len(values), []
    if k < FEW_RUNS:
        found.append("few-runs")
    if one_boot:
        found.append("one-boot")
    if sd == 0:
        found.append("zero-spread")
    if kind == "proportion" and n and 0 < mean < 1 and sd > 1.5 * math.sqrt(mean * (1 - mean) / n):
        found.append("overdispersed")
    ranked = sorted(values)
    gaps = [b - a for a, b in pairwise(ranked)]
    if k >= FEW_RUNS and max(gaps) > (ranked[-1] - ranked[0]) / 2 > 0:
        found.append("bimodal")
    return found


def _false_alarms(
    values: Sequence[int | float], existing: Bound | None, side: Side, mean: float, sd: float
) -> tuple[float, float] | None:
    """Shares of healthy runs that the existing bound fails: of these, and of a t distribution like them."""
    if existing is None:
        return None
    plain = Bound(existing.min, existing.max, existing.noise)
    observed = sum(not compare("", MetricValue(x), plain).ok for x in values) / len(values)
    level = thresholds(plain)[0 if side == "min" else 1]
    if level is None or sd == 0:
        return observed, observed
    distance = (float(level) - mean) / sd if side == "min" else (mean - float(level)) / sd
    return observed, students_t.cdf(distance, len(values) - 1)


def _stale(existing: Bound | None, side: Side, mean: float, headroom: float) -> bool:
    if existing is None:
        return False
    level = thresholds(existing)[0 if side == "min" else 1]
    if level is None:
        return False
    room = exact(mean) - level if side == "min" else level - exact(mean)
    return float(room) > STALE * headroom
