"""Which collected items stay, and in which order they run."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING

from pytest_benchkit.plugin.collection import TaskItem
from pytest_benchkit.plugin.planning import job_of_item, make_plan

if TYPE_CHECKING:
    import pytest

    from pytest_benchkit.engine.plan import Cell
    from pytest_benchkit.plugin.session import BenchSession


def deselect_and_order(bench: BenchSession, items: list[pytest.Item]) -> None:
    """Drops what the session is not about, then sorts by model and by the order of ``--bench``.

    One model of an endpoint is measured after the other, so its rows stand together.
    """
    wanted = _wanted_keys(bench)
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        job = job_of_item(item)
        keep = wanted is None or job is None or job.key in wanted
        if not isinstance(item, TaskItem):
            keep = keep and _is_about_benchmarks(bench, item)
        (kept if keep else dropped).append(item)
    if dropped:
        bench.config.hook.pytest_deselected(items=dropped)
    models = {name: place for place, name in enumerate(bench.model_names)}
    benches = {key: place for place, key in enumerate(bench.scan.slices)}
    if len(models) > 1 or len(benches) > 1:
        last = len(models)

        def place(item: pytest.Item) -> tuple[int, int]:
            if not isinstance(item, TaskItem):
                return last, 0
            return models[item.job.cell.model], benches.get(item.job.cell.suite.key, 0)

        kept.sort(key=place)
    if bench.early_stop == "sprt":
        _shuffle(bench, kept)
    if bench.options.shard is not None:
        kept = _part(bench, kept, *bench.options.shard)
    items[:] = kept


def _part(bench: BenchSession, items: list[pytest.Item], index: int, count: int) -> list[pytest.Item]:
    """The rows whose position in the plan is this shard's; other tests run in the first one."""
    plan = make_plan(items)
    keys = [key for key in plan["keys"] if key is not None]
    digest = hashlib.sha256("\n".join(dict.fromkeys(keys)).encode()).hexdigest()
    bench.whole = {"sha256": digest, "tasks": len(set(keys)), "cells": plan["cells"]}
    mine: list[pytest.Item] = []
    others: list[pytest.Item] = []
    places = itertools.count()
    for item in items:
        place = next(places) if job_of_item(item) is not None else 0
        (mine if place % count == index - 1 else others).append(item)
    if others:
        bench.config.hook.pytest_deselected(items=others)
    return mine


def _shuffle(bench: BenchSession, items: list[pytest.Item]) -> None:
    """Rows of each cell in a seeded order of their own, in the places that the cell had: a sequential test
    must not see the rows as they were written (the first ones of a set can be easier)."""
    places: dict[Cell, list[int]] = {}
    for place, item in enumerate(items):
        if isinstance(item, TaskItem):
            places.setdefault(item.job.cell, []).append(place)
    for cell, mine in places.items():
        spec = bench.spec(cell.model)
        seed = (spec.settings.seed if spec is not None else None) or 0
        rows = [item for place in mine if isinstance(item := items[place], TaskItem)]
        rows.sort(key=lambda row: hashlib.sha256(f"{seed}\0{row.job.key}".encode()).digest())
        for place, row in zip(mine, rows, strict=True):
            items[place] = row


def _wanted_keys(bench: BenchSession) -> set[str] | None:
    wanted: set[str] | None = None
    if bench.replayed is not None:
        from pytest_benchkit.runs.store import read_ledger

        wanted = set(read_ledger(bench.replayed).rows)
    outcomes = bench.options.only
    if outcomes is not None:
        chosen = {key for key, outcome in bench.last_outcomes().items() if outcome in outcomes}
        wanted = chosen if wanted is None else wanted & chosen
    return wanted


def _is_about_benchmarks(bench: BenchSession, item: pytest.Item) -> bool:
    """Whether a test function belongs in this session. With paths given, all of theirs do."""
    marker = item.get_closest_marker("bench_suite")
    if marker is None:
        return not bench.with_installed
    if not bench.scan.slices:
        return True
    return bool(marker.args) and marker.args[0] in bench.scan.slices
