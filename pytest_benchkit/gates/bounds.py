"""Holding a value against a bound, in exact decimals. :func:`compare` is pure, total, and never raises.

Order of composition: repeats are combined, their spread is checked, confidence replaces the value by its
limit, noise is applied once. Both edges are inclusive. Floats count as the decimal of their shortest
text, so 49.97 + 0.05 meets 50.02 (binary64 says it does not).
"""

from __future__ import annotations

import math
import statistics
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pytest_benchkit.gates import sampling
from pytest_benchkit.gates.metrics import SHARES, MetricValue
from pytest_benchkit.gates.schema import Bound, Combine

DEFAULT_COMBINE: dict[str, Combine] = {
    "proportion": "mean",
    "mean01": "mean",
    "composite": "mean",
    "count": "worst",
    "rate": "median",
    "duration": "median",
    "quantile": "median",
}


@dataclass(frozen=True, slots=True)
class BoundResult:
    """``low`` and ``high`` are the effective thresholds; ``limit`` the confidence limit, if one was asked."""

    metric: str
    ok: bool
    code: str | None
    message: str
    value: int | float | None
    bound: Bound
    n: int | None = None
    limit: float | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    headroom: Fraction | None = None
    notes: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """For JSON: a number that is not finite is null, with its text."""
        found: dict[str, Any] = {
            "metric": self.metric,
            "state": "ok" if self.ok else "failed",
            "code": self.code,
            "message": self.message,
            "bound": self.bound.plain(),
            "n": self.n,
            "limit": self.limit,
            "notes": list(self.notes),
        }
        for name in ("low", "high", "headroom"):
            number = getattr(self, name)
            found[name] = None if number is None else as_float(number)
        finite = self.value is not None and _is_number(self.value)
        found["value"] = self.value if finite else None
        if self.value is not None and not finite:
            found["text"] = repr(self.value)
        return found


def exact(value: float | Decimal) -> Fraction:
    """The number as written (a float: its shortest text). Finite numbers only."""
    if isinstance(value, float):
        return Fraction(repr(value))
    return Fraction(value)


def as_float(number: Fraction) -> float:
    """The nearest float, the largest one where the number lies beyond."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(sys.float_info.max, number)


def thresholds(bound: Bound) -> tuple[Fraction | None, Fraction | None]:
    """``min - noise`` and ``max + noise``; noise that is not finite or negative allows nothing."""
    noise = Fraction(0)
    if bound.noise is not None and bound.noise.is_finite() and bound.noise > 0 and not bound.pin:
        noise = exact(bound.noise)
    low = exact(bound.min) - noise if bound.min is not None else None
    high = exact(bound.max) + noise if bound.max is not None else None
    return low, high


def compare(
    metric: str, value: MetricValue | None, bound: Bound, combine: Combine | None = None
) -> BoundResult:
    """The verdict on one bound. What cannot be decided fails."""

    def failed(code: str, words: str, **more: Any) -> BoundResult:
        return BoundResult(metric, False, code, f"{metric}: {words}", bound=bound, **{"value": None, **more})

    sides = [side for side in (bound.min, bound.max) if side is not None]
    if not sides:
        return failed("bound-empty", "the bound has neither min nor max")
    if not all(side.is_finite() for side in sides):
        return failed("bound-not-finite", "the bound is not a finite number")
    if len(sides) == 2 and sides[0] > sides[1]:
        return failed("bound-order", f"min {sides[0]} is above max {sides[1]}")
    if value is None or value.value is None:
        reason = value.absent_reason if value is not None else ""
        return failed("metric-missing", "the run has no such metric" + (f" ({reason})" if reason else ""))
    bad = [x for x in (value.value, *value.by_repeat) if not _is_number(x)]
    if bad:
        words = f"{bad[0]!r} is not a finite number"
        return failed("metric-not-finite", words, value=value.value, n=value.n)
    return _compare_numbers(metric, value, bound, combine)


def _is_number(value: float) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or math.isfinite(value))


def _compare_numbers(metric: str, value: MetricValue, bound: Bound, combine: Combine | None) -> BoundResult:
    low, high = thresholds(bound)
    at_floor, at_ceiling = _combined(value, combine or DEFAULT_COMBINE[value.kind], bound.pin)
    code, words = _point(at_floor, at_ceiling, low, high, bound)
    limit = None
    if code is None and (code := _spread(value, bound)) is not None:
        span = f"repeats span {_text(_span(value))}" if value.by_repeat else "no values of several repeats"
        words = f"{span}, max_spread is {bound.max_spread}"
    if code is None and bound.confidence is not None:
        code, limit, words = _proof(value, at_floor, at_ceiling, low, high, bound, words)
    low_side = None if low is None else at_floor - low
    high_side = None if high is None else high - at_ceiling
    headroom = min((side for side in (low_side, high_side) if side is not None), default=None)
    if bound.pin:
        headroom = Fraction(0) if code is None else None
    said = at_floor if low is not None and (code != "above-ceiling") else at_ceiling
    return BoundResult(
        metric=metric,
        ok=code is None,
        code=code,
        message=f"{metric}: {words}" + (f" (n {value.n})" if value.n is not None else ""),
        value=_number(said, value),
        bound=bound,
        n=value.n,
        limit=limit,
        low=low,
        high=high,
        headroom=headroom,
        notes=_thin(value, at_floor, at_ceiling, low, high) if not bound.pin else (),
    )


def _combined(value: MetricValue, combine: Combine, pin: bool) -> tuple[Fraction, Fraction]:
    """The value of all repeats, as it counts against a floor and against a ceiling."""
    point = exact(value.value if value.value is not None else 0)
    repeats = [exact(x) for x in value.by_repeat]
    if len(repeats) < 2:
        return point, point
    if combine == "worst" or pin:
        return min(repeats), max(repeats)
    middle = statistics.median(repeats) if combine == "median" else sum(repeats, Fraction(0)) / len(repeats)
    return Fraction(middle), Fraction(middle)


def _point(
    at_floor: Fraction, at_ceiling: Fraction, low: Fraction | None, high: Fraction | None, bound: Bound
) -> tuple[str | None, str]:
    """The plain rule of one side or two."""
    if bound.pin and low is not None:
        if at_floor == at_ceiling == low:
            return None, f"{_text(at_floor)} = {bound.min}, as pinned"
        found = _text(at_floor) if at_floor == at_ceiling else f"{_text(at_floor)} to {_text(at_ceiling)}"
        return "pin-mismatch", f"expected exactly {bound.min}, found {found}: another instrument was used"
    plus = f" + noise {bound.noise}" if bound.noise else ""
    minus = f" - noise {bound.noise}" if bound.noise else ""
    if low is not None and at_floor < low:
        short = _text(low - at_floor)
        return "below-floor", f"{_said(at_floor, low)}{plus} < min {bound.min}, short by {short}"
    if high is not None and at_ceiling > high:
        over = _text(at_ceiling - high)
        return "above-ceiling", f"{_said(at_ceiling, high)}{minus} > max {bound.max}, over by {over}"
    words = []
    if low is not None:
        words.append(f"{_said(at_floor, low)}{plus} >= min {bound.min}")
    if high is not None:
        words.append(f"{_said(at_ceiling, high)}{minus} <= max {bound.max}")
    return None, ", ".join(words)


def _span(value: MetricValue) -> Fraction:
    repeats = [exact(x) for x in value.by_repeat]
    return max(repeats) - min(repeats) if repeats else Fraction(0)


def _spread(value: MetricValue, bound: Bound) -> str | None:
    if bound.max_spread is None:
        return None
    several = len(value.by_repeat) > 1  # a spread that was not measured never passes
    allowed = several and bound.max_spread.is_finite() and _span(value) <= exact(bound.max_spread)
    return None if allowed else "spread-exceeded"


def _proof(
    value: MetricValue,
    at_floor: Fraction,
    at_ceiling: Fraction,
    low: Fraction | None,
    high: Fraction | None,
    bound: Bound,
    words: str,
) -> tuple[str | None, float | None, str]:
    """Whether each side is shown at the asked confidence: (code, limit, words)."""
    asked_for = bound.confidence
    confidence = float(asked_for) if asked_for is not None and asked_for.is_finite() else 0.0
    if not 0.5 < confidence < 1:
        return "confidence-range", None, f"confidence {bound.confidence} is not between 0.5 and 1"
    asked = f"at confidence {bound.confidence}"
    limit = None
    for side, point, t in (("floor", at_floor, low), ("ceiling", at_ceiling, high)):
        if t is None:
            continue
        code = f"not-proven-{side}"
        if value.kind in SHARES:
            if not value.n:
                return "n-missing", None, f"{words}, but the value carries no n to show it {asked}"
            p, level = (point, t) if side == "floor" else (1 - point, 1 - t)
            here = sampling.wilson_lower(min(max(p, Fraction(0)), Fraction(1)), value.n, confidence)
            limit = here if side == "floor" else 1.0 - here
            if not sampling.proven_above(p, value.n, level, confidence):
                return code, limit, f"{words}, but {_why(p, value.n, level, confidence, asked, limit, side)}"
        elif value.by_repeat:
            found = sampling.limit_of_repeats(
                [as_float(exact(x)) for x in value.by_repeat], confidence, floor=side == "floor"
            )
            if found is None:
                need = sampling.needed_repeats(confidence)
                return code, None, f"{words}, but {asked} it takes {need} repeats, not {len(value.by_repeat)}"
            limit = found
            if exact(found) < t if side == "floor" else exact(found) > t:
                return code, limit, f"{words}, but its limit {asked} is {found:.6g}"
        else:
            return "n-missing", None, f"{words}, but the value carries no n and no repeats to show it {asked}"
    return None, limit, f"{words}, limit {limit:.4f} {asked}" if limit is not None else words


def _why(p: Fraction, n: int, t: Fraction, confidence: float, asked: str, limit: float, side: str) -> str:
    count, more = sampling.needed_count(n, t, confidence), sampling.needed_n(p, t, confidence)
    parts = [f"its limit {asked} is {limit:.4f}"]
    what = "right" if side == "floor" else "without"
    parts.append(
        f"it takes {count} of {n} {what}" if count is not None else f"no result on {n} tasks can show it"
    )
    parts.append(
        f"or n = {more} at this level" if more is not None else "and no sample size will do at this level"
    )
    return "; ".join(parts)


def _thin(
    value: MetricValue, at_floor: Fraction, at_ceiling: Fraction, low: Fraction | None, high: Fraction | None
) -> tuple[str, ...]:
    """The note that another run of this quality could fall on the other side."""
    if value.kind not in SHARES or not value.n:
        return ()
    for point, t in ((at_floor, low), (at_ceiling, high)):
        if t is None or not 0 < t < 1:
            continue
        h = sampling.half_width(point, value.n)
        if abs(as_float(point - t)) < h:
            return (
                f"thin: another run of this quality could fall on the other side (sampling error {h:.4f})",
            )
    return ()


def _number(point: Fraction, value: MetricValue) -> int | float:
    if len(value.by_repeat) < 2 and value.value is not None:
        return value.value
    return int(point) if point.denominator == 1 else as_float(point)


def _text(number: Fraction) -> str:
    """Six significant digits, without a trailing zero."""
    return f"{as_float(number):.6g}"


def _said(value: Fraction, threshold: Fraction) -> str:
    """The value with as many digits as make the comparison with the threshold true as printed."""
    for digits in range(6, 18):
        text = f"{as_float(value):.{digits}g}"
        there = Fraction(text)
        if (there < threshold) == (value < threshold) and (there > threshold) == (value > threshold):
            return text
    return str(value)
