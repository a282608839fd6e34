"""RULER, all 39,000 rows: 500 of each family at each length. See ``bench_ruler.py``."""

from __future__ import annotations

from benchsuites.bench_ruler import RulerSuite
from pytest_benchkit.datasets.ruler.source import Ruler

ROWS = Ruler("ruler-full", 500)


class RulerFull(RulerSuite):
    """RULER with 500 rows of each family at each length (Hsieh et al. 2024)."""

    key = "ruler-full"
    data = ROWS
    rows = ROWS
