"""How far a number measured on n tasks, or in k repeats, can be trusted.

One-sided Wilson limits (Wilson 1927, JASA 22:209) for shares, order statistics for medians of repeats.
Tests are exact: shares and thresholds as fractions, only the normal quantile is a float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from statistics import NormalDist

Real = int | float | Fraction


@cache
def quantile(confidence: float) -> float:
    """z of a one-sided confidence in (0, 1)."""
    return NormalDist().inv_cdf(confidence)


def wilson_lower(p: Real, n: int, confidence: float) -> float:
    """One-sided lower limit of a share p of n."""
    z = quantile(confidence)
    share, square = float(p), z * z
    middle = share + square / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + square / n))


def wilson_upper(p: Real, n: int, confidence: float) -> float:
    """One-sided upper limit of a share p of n."""
    return 1.0 - wilson_lower(1 - Fraction(p), n, confidence)


def proven_above(p: Fraction, n: int, t: Fraction, confidence: float) -> bool:
    """Whether the lower limit of p of n reaches t: p > t and n(p - t)² >= z² t(1 - t)."""
    if t <= 0:
        return True
    if t >= 1 or p <= t:
        return False
    return n * (p - t) ** 2 >= Fraction(quantile(confidence)) ** 2 * t * (1 - t)


def needed_count(n: int, t: Fraction, confidence: float) -> int | None:
    """The least count of n that proves t; ``None`` when not even all do."""
    if t <= 0:
        return 0
    if t >= 1 or not proven_above(Fraction(1), n, t, confidence):
        return None
    z = quantile(confidence)
    count = math.ceil(n * float(t) + z * math.sqrt(n * float(t) * (1 - float(t))))
    while count > 0 and proven_above(Fraction(count - 1, n), n, t, confidence):
        count -= 1  # the closed form in binary64 may be one off
    while not proven_above(Fraction(count, n), n, t, confidence):
        count += 1
    return count


def needed_n(p: Fraction, t: Fraction, confidence: float) -> int | None:
    """The n at which a share p proves t; ``None`` when no n will do."""
    if not 0 < t < 1 or p <= t:
        return None
    return math.ceil(Fraction(quantile(confidence)) ** 2 * t * (1 - t) / (p - t) ** 2)


def half_width(p: Real, n: int) -> float:
    """h(p): the one-sided 95 % sampling error of a share."""
    share = float(p)
    return quantile(0.95) * math.sqrt(max(0.0, share * (1 - share)) / n)


def order_statistic(k: int, confidence: float) -> int | None:
    """Which of k sorted repeats (from 1) bounds their median from below at this confidence."""
    tail, best = Fraction(0), None
    for j in range(1, k + 1):
        tail += Fraction(math.comb(k, j - 1), 2**k)
        if tail > 1 - Fraction(confidence):
            break
        best = j
    return best


def needed_repeats(confidence: float) -> int:
    """The least number of repeats that carries this confidence."""
    return math.ceil(math.log2(1 / (1 - confidence)) - 1e-12)


def limit_of_repeats(values: Sequence[float], confidence: float, *, floor: bool) -> float | None:
    """The order statistic that stands for the median of repeats; ``None`` with too few of them."""
    j = order_statistic(len(values), confidence)
    if j is None:
        return None
    ranked = sorted(values)
    return ranked[j - 1] if floor else ranked[len(ranked) - j]
