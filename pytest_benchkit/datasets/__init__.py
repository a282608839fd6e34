"""Where rows come from: the catalog, its sources, the cache on disk, and the order rows are planned in."""

from pytest_benchkit.datasets.local import JsonLines, Rows

__all__ = ["JsonLines", "Rows"]
