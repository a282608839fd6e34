"""Means with their error and interval, and percentiles. Pure; no library beyond the standard one.

Sources: the score interval of Wilson (1927); cluster-robust standard error of a mean with the factor
C/(C-1) (Miller, "Adding Error Bars to Evals", 2024, section 2.2); percentiles of type 7 of Hyndman and Fan
(1996).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Z95 = 1.959964
"""The 0.975 quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of ``n`` values. What cannot be had is ``None``, and ``why`` says what is missing.

    ``method``: ``wilson`` or ``t``, with ``-clustered`` when values share clusters.
    """

    mean: float
    n: int
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    why: str | None = None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def percentile(ordered: Sequence[float], p: float) -> float | None:
    """The ``p`` (0..1) percentile of values in ascending order, interpolated at (n - 1)p.

    ``None`` of nothing, and where the tail holds too few values to speak of: the 5th and 95th need 20,
    the 1st and 99th 100.
    """
    n = len(ordered)
    tail = min(p, 1 - p)
    if n == 0 or (0 < tail < 0.5 and n * tail < 1 - 1e-9):
        return None
    place = (n - 1) * p
    below = math.floor(place)
    above = min(below + 1, n - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def wilson(p: float, n: float, z: float = Z95) -> tuple[float, float]:
    """The interval of a share ``p`` of ``n`` > 0 trials (``n`` may be an effective, broken number)."""
    square = z * z
    spread = z * math.sqrt(p * (1 - p) / n + square / (4 * n * n))
    scale = 1 + square / n
    middle = p + square / (2 * n)
    low = 0.0 if p == 0 else (middle - spread) / scale
    high = 1.0 if p == 1 else (middle + spread) / scale
    return max(0.0, low), min(1.0, high)


def estimate(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Estimate | None:
    """The mean of values in 0..1 with its 95 % interval; ``None`` of nothing.

    ``clusters`` names the cluster of each value; without it every value is independent.
    """
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    shares = all(value in (0.0, 1.0) for value in values)
    if clusters is None:
        return _independent(values, mean, shares)
    return clustered(values, [1.0] * n, clusters, shares=shares)


def _independent(values: Sequence[float], mean: float, shares: bool) -> Estimate:
    n = len(values)
    if shares:
        low, high = wilson(mean, n)
        return Estimate(mean, n, math.sqrt(mean * (1 - mean) / n), low, high, "wilson")
    if n < 2:
        return Estimate(mean, n, why="one graded row has no spread")
    stderr = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1) / n)
    return _by_t(mean, n, stderr, n - 1, "t")


def clustered(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[Hashable], *, shares: bool
) -> Estimate:
    """The weighted mean of values that share clusters; weights are above 0.

    Equal weights give the usual form, √(C/(C-1) · Σ_c(Σ_{i∈c}(xᵢ - x̄))²) ÷ n.
    """
    n = len(values)
    whole = math.fsum(weights)
    mean = min(1.0, math.fsum(w * v for w, v in zip(weights, values, strict=True)) / whole)
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for value, weight, cluster in zip(values, weights, clusters, strict=True):
        sums[cluster] += weight / whole * (value - mean)
    count = len(sums)
    if count < 2:
        return Estimate(mean, n, why="all rows share one cluster")
    stderr = math.sqrt(count / (count - 1) * math.fsum(s * s for s in sums.values()))
    if not shares:
        return _by_t(mean, n, stderr, count - 1, "t-clustered")
    naive = math.sqrt(max(0.0, mean * (1 - mean)) / n)
    effect = max(1.0, (stderr / naive) ** 2) if naive else 1.0
    low, high = wilson(mean, n / effect)
    return Estimate(mean, n, stderr, low, high, "wilson-clustered")


def _by_t(mean: float, n: int, stderr: float, freedom: int, method: str) -> Estimate:
    half = t_quantile(freedom) * stderr
    return Estimate(mean, n, stderr, max(0.0, mean - half), min(1.0, mean + half), method)


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, p: float = 0.975) -> float:
    """The ``p`` > 0.5 quantile of Student's t with ``freedom`` >= 1 degrees, to 10 digits.

    With x = ν/(ν + t²), P(T > t) = I_x(ν/2, ½)/2 falls as t grows, so t is bisected.
    """
    if freedom < 1 or not 0.5 < p < 1:
        raise ValueError(f"no t quantile of {p} with {freedom} degrees of freedom")
    tail = 2 * (1 - p)
    low, high = 0.0, 1.0
    while _beta_share(freedom / (freedom + high * high), freedom / 2, 0.5) > tail:
        low, high = high, high * 2
    for _ in range(100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _beta_share(freedom / (freedom + middle * middle), freedom / 2, 0.5) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b) by its continued fraction (DLMF 8.17.22)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on this side only
        return 1 - _beta_share(1 - x, b, a)
    front = math.exp(
        a * math.log(x)
        + b * math.log1p(-x)
        - math.log(a)
        + math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
    )
    # the fraction 1/(1 + d1/(1 + d2/(1 + ...))) by the modified Lentz method
    tiny = 1e-300
    value, c, d = 1.0, math.inf, 1.0
    for step in range(1, 10_000):
        m, odd = divmod(step, 2)
        if odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        c = 1 + term / c
        d = 1 + term * d
        c = c if abs(c) > tiny else tiny
        d = 1 / (d if abs(d) > tiny else tiny)
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value
