"""Differences between two scores of the same tasks: interval and significance. Pure.

Sources: exact McNemar test (1947); the paired interval of Newcombe (1998, Statistics in Medicine 17,
2635-2650, method 10); the percentile bootstrap over tasks or clusters (Efron and Tibshirani 1993,
chapter 13).
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_benchkit.runs.statistics import wilson

DRAWS = 10_000
MOST_LOOKS = 20_000_000
"""Values drawn in all; beyond it the bootstrap draws fewer samples, never under :data:`LEAST_DRAWS`."""
LEAST_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Difference:
    """``second - first``, fractions. ``test``: ``mcnemar`` or ``bootstrap``; ``gains``: pairs whose second
    score is higher, ``losses`` lower."""

    n: int
    first: float
    second: float
    delta: float
    low: float
    high: float
    p: float
    gains: int
    losses: int
    test: str


def difference(
    first: Sequence[float],
    second: Sequence[float],
    keys: Sequence[str],
    clusters: Sequence[Hashable] | None = None,
) -> Difference | None:
    """Of two scores per task, each 0..1; ``None`` of nothing. ``keys`` name the tasks and seed the bootstrap;
    ``clusters`` hold rows that hang together. 0/1 scores without clusters get the exact test."""
    n = len(first)
    if n == 0:
        return None
    one, two = math.fsum(first) / n, math.fsum(second) / n
    gains = sum(b > a for a, b in zip(first, second, strict=True))
    losses = sum(b < a for a, b in zip(first, second, strict=True))
    if clusters is None and all(value in (0.0, 1.0) for value in (*first, *second)):
        both = sum(a == 1.0 == b for a, b in zip(first, second, strict=True))
        low, high = newcombe(both, losses, gains, n - both - losses - gains)
        test, p = "mcnemar", mcnemar(gains, losses)
    else:
        deltas = [b - a for a, b in zip(first, second, strict=True)]
        low, high, p = bootstrap(deltas, keys, clusters)
        test = "bootstrap"
    return Difference(n, one, two, two - one, low, high, p, gains, losses, test)


def mcnemar(gains: int, losses: int) -> float:
    """The exact two-sided p of ``gains`` against ``losses`` under an even chance."""
    n = gains + losses
    tail = sum(math.comb(n, k) for k in range(min(gains, losses) + 1))
    return float(min(1.0, 2 * tail / 2**n))


POWER = 0.8
SPREAD = 150
"""Pairs expected to differ up to which their number is taken as chance too; beyond it it hardly varies."""


def detectable(n: int, discordant: int) -> float | None:
    """The smallest true difference of two shares that the exact test of ``n`` pairs shows four times out of
    five; ``None`` where no outcome of so few pairs could show one.

    As many pairs are taken to differ as did (at least one), and more where the difference itself is larger.
    """
    differ = max(1, discordant) / n
    if _power(n, differ, 1.0) < POWER:
        return None
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(n, differ, middle) >= POWER else (middle, high)
    return high


def _power(n: int, differ: float, delta: float) -> float:
    """How often the exact test shows a true difference when a share ``differ`` of the pairs is discordant."""
    differ = max(differ, delta)
    against = (1 - delta / differ) / 2
    mean = n * differ
    if mean > SPREAD:
        return _shown(round(mean), against)
    reach = 6 * math.sqrt(mean * (1 - differ)) + 6
    counts = range(max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach)) + 1)
    return math.fsum(_mass(m, n, differ) * _shown(m, against) for m in counts)


def _shown(m: int, against: float) -> float:
    """The chance that so few of ``m`` discordant pairs go against the difference that p is below 0.05."""
    return math.fsum(_mass(k, m, against) for k in range(_most_against(m) + 1))


@lru_cache(maxsize=4096)
def _most_against(m: int) -> int:
    """The most of ``m`` discordant pairs that may go the other way for p < 0.05; -1 when none may."""
    tail, ways, k = 0, 1, 0
    while 2 * (tail + ways) * 20 < 2**m:  # in whole numbers: p < 1/20
        tail += ways
        ways = ways * (m - k) // (k + 1)
        k += 1
    return k - 1


def _mass(k: int, n: int, p: float) -> float:
    """The binomial probability of ``k`` of ``n``."""
    if p <= 0 or p >= 1:
        return float(k == (n if p >= 1 else 0))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def newcombe(both: int, first_only: int, second_only: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of ``second - first`` for two shares of the same tasks, from the fourfold table."""
    n = both + first_only + second_only + neither
    p1, p2 = (both + first_only) / n, (both + second_only) / n
    l1, u1 = wilson(p1, n)
    l2, u2 = wilson(p2, n)
    margins = (both + first_only) * (second_only + neither) * (both + second_only) * (first_only + neither)
    cross = float(both * neither - first_only * second_only)
    if cross > 0:
        cross = max(cross - n / 2, 0.0)
    phi = cross / math.sqrt(margins) if margins else 0.0
    delta = p2 - p1

    def half(down: float, up: float) -> float:
        return math.sqrt(max(0.0, down * down - 2 * phi * down * up + up * up))

    return delta - half(p2 - l2, u1 - p1), delta + half(u2 - p2, p1 - l1)


def bootstrap(
    deltas: Sequence[float], keys: Sequence[str], clusters: Sequence[Hashable] | None = None
) -> tuple[float, float, float]:
    """The 95 % percentile interval of the mean delta and its p, over tasks or clusters drawn anew.

    The generator is seeded by the hash of the sorted keys, so every machine draws the same.
    """
    if clusters is None:
        groups = [(delta, 1) for delta in deltas]
    else:
        sums: dict[Hashable, list[float]] = defaultdict(list)
        for delta, cluster in zip(deltas, clusters, strict=True):
            sums[cluster].append(delta)
        groups = [(math.fsum(values), len(values)) for values in sums.values()]
    digest = hashlib.sha256("\n".join(sorted(keys)).encode()).digest()
    bits = random.Random(int.from_bytes(digest, "big"))
    draws = max(LEAST_DRAWS, min(DRAWS, MOST_LOOKS // len(groups)))
    means = []
    for _ in range(draws):
        drawn = bits.choices(groups, k=len(groups))
        means.append(math.fsum(total for total, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    low, high = means[math.floor(0.025 * (draws - 1))], means[math.ceil(0.975 * (draws - 1))]
    below, above = sum(m <= 0 for m in means) / draws, sum(m >= 0 for m in means) / draws
    return low, high, min(1.0, max(1 / draws, 2 * min(below, above)))
