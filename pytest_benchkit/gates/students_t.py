"""Student's t distribution, which the standard library lacks: CDF by the incomplete beta function's
continued fraction (Lentz's method), quantile by bisection. Good to about 1e-10."""

from __future__ import annotations

import math
from functools import cache

TINY = 1e-300
STEPS = 300


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function for 0 <= x <= 1."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1 / _away(1 + numerator * d)
            c = _away(1 + numerator / c)
            total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * total / a


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY


def cdf(t: float, df: int) -> float:
    """P(T <= t) with ``df`` degrees of freedom."""
    tail = _beta(df / 2, 0.5, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


@cache
def quantile(p: float, df: int) -> float:
    """The t with P(T <= t) = p, for 0 < p < 1."""
    if p < 0.5:
        return -quantile(1 - p, df)
    low, high = 0.0, 1.0
    while cdf(high, df) < p:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if cdf(middle, df) < p else (low, middle)
    return (low + high) / 2
