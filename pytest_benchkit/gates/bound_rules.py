"""The rules of one bound (B1-B16). Pure; everything wrong is reported at once."""

from __future__ import annotations

import difflib
import math
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from pytest_benchkit.gates import sampling
from pytest_benchkit.gates.bounds import compare, exact, thresholds
from pytest_benchkit.gates.metrics import (
    SHARES,
    SPEEDS,
    MetricSpec,
    MetricValue,
    SuiteFacts,
    known_names,
    spec_of,
)
from pytest_benchkit.gates.problems import Sink, Where, shown
from pytest_benchkit.gates.schema import Bound, Entry

NOISE_SHARE = Fraction(5, 100)
LARGEST_EXACT = 2**53


def check(
    metric: str,
    bound: Bound,
    entry: Entry,
    sink: Sink,
    where: Where,
    suite: SuiteFacts | None,
    resolution: Literal["warn", "refuse", "off"],
) -> None:
    """Reports everything wrong with one bound; the rules on metric and n need the suite."""
    add = _Adder(metric, bound, sink, where)
    sound = _numbers(add)
    _noise(add)
    spec = spec_of(metric, suite)
    _confidence(add, entry, spec)
    if suite is not None and spec is None and suite.closed:
        near = difflib.get_close_matches(metric, known_names(suite), n=1, cutoff=0.6)
        add(
            "unknown-metric",
            f"{suite.key} has no metric {metric}",
            f"did you mean {near[0]}" if near else "see docs/gates.md for the names",
        )
    if bound.max_spread is not None and entry.repeats == 1:
        add(
            "spread-without-repeats",
            "max_spread with repeats = 1 checks nothing",
            "set repeats, or remove max_spread",
        )
    if not sound:
        return
    if suite is not None and spec is not None:
        _range(add, spec)
    if bound.measured is not None:
        plain = Bound(bound.min, bound.max, bound.noise)
        if not compare(metric, MetricValue(_plain_number(bound.measured)), plain).ok:
            add(
                "measured-outside-bound",
                f"measured {bound.measured} fails the bound itself",
                "calibrate again",
                "measured",
            )
    if spec is not None:
        _resolution(add, entry, spec, suite, resolution)


class _Adder:
    """Adds problems of one bound."""

    def __init__(self, metric: str, bound: Bound, sink: Sink, where: Where) -> None:
        self.metric, self.bound, self.sink, self.where = metric, bound, sink, where

    def __call__(
        self,
        code: str,
        message: str,
        remedy: str,
        key: str = "",
        severity: Literal["error", "warning"] | None = None,
    ) -> None:
        where = (*self.where, key) if key else self.where
        self.sink.add(
            code, message, remedy, where=where, metric=self.metric, key=key or None, severity=severity
        )


def _numbers(add: _Adder) -> bool:
    """B1-B4; whether min and max can be reasoned about."""
    bound, sound = add.bound, True
    for key in ("min", "max", "measured", "max_spread"):
        value = getattr(bound, key)
        if value is None:
            continue
        if not value.is_finite() or math.isinf(float(value)) or (key == "max_spread" and value <= 0):
            words = (
                "not a finite number" if not value.is_finite() or math.isinf(float(value)) else "not above 0"
            )
            add("bound-not-finite", f"{key} is {shown(value)}, {words}", "write a finite number", key)
            sound = False
        elif value == value.to_integral_value() and abs(value) > LARGEST_EXACT and _whole(value):
            add(
                "bound-not-exact",
                f"{key} is {value}, beyond 2^53",
                "write a number that a float holds exactly",
                key,
            )
    if bound.min is None and bound.max is None:
        add("bound-empty", "the bound has neither min nor max", "add min, max or both")
        return False
    if sound and bound.min is not None and bound.max is not None and bound.min > bound.max:
        add("bound-order", f"min {bound.min} is above max {bound.max}", "exchange them", "min")
        return False
    return sound


def _whole(value: Decimal) -> bool:
    """Written as an integer, without point or exponent."""
    exponent = value.as_tuple().exponent
    return exponent == 0


def _noise(add: _Adder) -> None:
    """B5-B8."""
    bound, noise = add.bound, add.bound.noise
    if noise is None:
        return
    if not noise.is_finite() or noise < 0:
        add("noise-invalid", f"noise is {noise}", "write a number from 0", "noise")
        return
    sides = [side for side in (bound.min, bound.max) if side is not None and side.is_finite()]
    if not sides:
        return
    if bound.pin:
        add(
            "noise-on-pin",
            f"noise {noise} would turn the exact pin {bound.min} into a range",
            "remove noise",
            "noise",
        )
        return
    magnitude = min(abs(exact(side)) for side in sides)
    if noise > 0 and magnitude == 0:
        add("noise-on-zero", f"noise {noise} on a bound of 0", "move the bound instead", "noise")
    first = abs(exact(sides[0]))  # the origin's magnitude: the floor if there is one
    ours = magnitude != 0 and exact(noise) > NOISE_SHARE * magnitude
    origins = first != 0 and exact(noise) > NOISE_SHARE * first
    if ours or (add.sink.compat and origins):
        severity: Literal["error", "warning"] = "error" if origins or not add.sink.compat else "warning"
        add(
            "noise-too-large",
            f"noise {noise} is over 5 % of {float(magnitude):g}: {float(NOISE_SHARE * magnitude):g}",
            "move the bound itself, so that reviewers see it",
            "noise",
            severity,
        )


def _confidence(add: _Adder, entry: Entry, spec: MetricSpec | None) -> None:
    """B9."""
    bound = add.bound
    if bound.confidence is None:
        return
    if not (bound.confidence.is_finite() and Decimal("0.5") < bound.confidence < 1):
        add(
            "confidence-range",
            f"confidence is {bound.confidence}",
            "write a number between 0.5 and 1",
            "confidence",
        )
        return
    if bound.pin:
        add("confidence-on-pin", "an exact pin is met or not", "remove confidence", "confidence")
    elif spec is not None and spec.kind not in (*SHARES, *SPEEDS):
        add(
            "confidence-unsupported",
            f"a metric of kind {spec.kind} has no sampling error that is known",
            "remove confidence",
            "confidence",
        )
    elif spec is not None and spec.kind in SPEEDS:
        need = sampling.needed_repeats(float(bound.confidence))
        if entry.repeats < need:
            add(
                "bound-unresolvable",
                f"confidence {bound.confidence} takes {need} repeats, not {entry.repeats}",
                f"set repeats = {need}",
                "confidence",
            )


def _range(add: _Adder, spec: MetricSpec) -> None:
    """B11-B13."""
    bound = add.bound
    low, high = thresholds(bound)
    span = f"{add.metric} lies between {spec.lowest:g} and {spec.highest:g}"
    if low is not None and low > spec.highest:
        hint = "lower it"
        if bound.min is not None and spec.highest == 1 and 0 < exact(bound.min) / 100 <= 1:
            hint = f"write {bound.min / 100}"
        add("bound-unreachable", f"min {bound.min} cannot be reached: {span}", hint, "min")
    if high is not None and high < spec.lowest:
        add("bound-unreachable", f"max {bound.max} cannot be met: {span}", "raise it", "max")
    if low is not None and high is None and low <= spec.lowest:
        add("bound-vacuous", f"min {bound.min} cannot fail: {span}", "raise it, or remove the bound", "min")
    if high is not None and low is None and high >= spec.highest:
        add("bound-vacuous", f"max {bound.max} cannot fail: {span}", "lower it, or remove the bound", "max")
    only = "floor" if high is None else "ceiling" if low is None else ""
    if (only == "floor" and spec.better == "lower") or (only == "ceiling" and spec.better == "higher"):
        add(
            "direction-odd",
            f"only a {only}, while {spec.better} is better for {add.metric}",
            "bound the other side",
        )


def _resolution(
    add: _Adder,
    entry: Entry,
    spec: MetricSpec,
    suite: SuiteFacts | None,
    resolution: Literal["warn", "refuse", "off"],
) -> None:
    """B15: whether n tasks can carry the bound."""
    n = tasks_of(entry, suite)
    if n is None or spec.kind not in SHARES or add.bound.pin:
        return
    bound = add.bound
    for side, t in zip(("min", "max"), thresholds(bound), strict=True):
        if t is None:
            continue
        level = t if side == "min" else 1 - t
        if bound.confidence is not None and Decimal("0.5") < bound.confidence < 1:
            c = float(bound.confidence)
            if sampling.needed_count(n, level, c) is None:
                need = sampling.needed_n(Fraction(1), level, c)
                words = f"it takes n >= {need}" if need else "no sample size will do"
                add(
                    "bound-unresolvable",
                    f"with n = {n} even a perfect result does not show {side} "
                    f"{getattr(bound, side)} at {bound.confidence}; {words}",
                    f"ask at least {need} tasks" if need else "move the bound",
                    "confidence",
                )
            continue
        if bound.measured is not None and bound.measured.is_finite() and resolution != "off":
            p = exact(bound.measured) if side == "min" else 1 - exact(bound.measured)
            if 0 <= p <= 1 and p > level and float(p - level) < (h := sampling.half_width(p, n)):
                add(
                    "bound-within-sampling-error",
                    f"measured {bound.measured} lies {float(p - level):.4g} from the limit, below the "
                    f"sampling error {h:.4g} at n = {n}",
                    "ask more tasks, or move the bound away from the level",
                    side,
                    "error" if resolution == "refuse" else None,
                )
        if side == "min" and 0 < level < 1 and math.floor(n * (1 - level)) == 0:
            add(
                "bound-means-all",
                f"with n = {n} min {bound.min} allows no miss at all",
                "ask more tasks, or lower min",
                "min",
            )


def tasks_of(entry: Entry, suite: SuiteFacts | None) -> int | None:
    """n at lint: the pin on samples, else the number of rows that ``tasks`` means."""
    samples = (entry.metrics or {}).get("samples")
    if samples is not None and samples.pin and samples.min is not None and samples.min > 0:
        return int(samples.min)
    variant, _, count = entry.wanted
    rows = suite.rows.get(variant) if suite is not None else None
    if count is None or rows is None:
        return count if count is not None else rows
    return min(count, rows)


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
