"""The plan of a session: which keys were collected, so that what is missing at the end can be counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pytest_benchkit.plugin.collection import TaskItem
from pytest_benchkit.plugin.fixtures import job_of
from pytest_benchkit.plugin.selection import Slice, rows_of
from pytest_benchkit.runs.record import parts_of
from pytest_benchkit.runs.store import write_atomic

if TYPE_CHECKING:
    import pytest

    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.suite import Suite

PLAN = "plan.json"


def planned_rows(
    bench: BenchSession, model: str, whole: Iterable[Suite]
) -> list[tuple[Suite, Sequence[int]]]:
    """The rows that will be asked of a model, as far as that is known before collection: all of the suites
    ``whole``, and those of the chosen slices that ``-k`` keeps. Where it keeps none of a slice, it is about
    something else than names, and all count."""
    found: list[tuple[Suite, Sequence[int]]] = [(suite, range(len(suite.index))) for suite in whole]
    for suite_class, path, slices in bench.scan.selected(with_installed=bench.with_installed):
        for slice_ in slices:
            suite = bench.suite(suite_class, slice_.variant if slice_ else None)
            rows = rows_of(slice_, suite.index, suite.key)
            prefix = bench.item_prefix(bench.cells(suite, model, slice_)[0])
            ids = suite.index.ids
            kept = [row for row in rows if bench.scan.keeps(suite_class, path, f"{prefix}{ids[row]}]")]
            found.append((suite, kept or rows))
    return found


def job_of_item(item: pytest.Item) -> Job | None:
    return item.job if isinstance(item, TaskItem) else job_of(item)


def publish_plan(bench: BenchSession, items: list[pytest.Item]) -> None:
    """Hands the plan to the run's ``run.json``, or from a worker to its controller through a file."""
    plan = make_plan(items, bench.whole)
    if bench.store is not None:
        adopt_plan(bench, plan)
    elif bench.run_dir is not None:
        path = bench.run_dir / "spool" / PLAN
        if not path.exists():
            write_atomic(path, json.dumps(plan).encode())


def make_plan(items: list[pytest.Item], whole: dict[str, Any] | None = None) -> dict[str, Any]:
    """``keys``: the record key of each item in order, null for other tests; ``cells``: counts per cell.
    ``whole`` is the plan of which these items are a part."""
    keys: list[str | None] = []
    cells: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    seen: set[str] = set()
    for item in items:
        job = job_of_item(item)
        keys.append(job.key if job else None)
        if job is None or job.key in seen:  # a path given twice plans its rows once
            continue
        seen.add(job.key)
        cell = job.cell
        axes = (cell.name, cell.model, cell.harness, cell.perturbation)
        entry = cells.get(axes)
        if entry is None:
            entry = cells[axes] = {
                "suite": cell.name,
                "model": cell.model,
                "harness": cell.harness,
                "perturbation": cell.perturbation,
                "planned": 0,
                "repeats": 0,
                "rows": len(cell.suite.index),
                "selection": cell.selection,
            }
        entry["planned"] += 1
        entry["repeats"] = max(entry["repeats"], cell.repeat + 1)
    if whole is not None:
        axes_of = itemgetter("suite", "model", "harness", "perturbation")
        chosen = {axes_of(cell): cell["selection"] for cell in whole["cells"]}
        for axes, entry in cells.items():
            entry["selection"] = chosen[axes]
        return {"keys": keys, "cells": list(cells.values()), "whole": whole}
    for entry in cells.values():
        asked_for = entry["selection"].get("n", entry["rows"]) * entry["repeats"]
        if entry["planned"] < asked_for:  # -k, node ids, --lf, --bench-only chose among them
            entry["selection"] = {"kind": "ids", "n": entry["planned"]}
    return {"keys": keys, "cells": list(cells.values())}


def adopt_plan(bench: BenchSession, plan: dict[str, Any]) -> None:
    """Writes the plan into ``run.json``; a resumed run's plan is the union with what it had: tables and gates
    are about all of it."""
    store = bench.store
    if store is None:
        return
    keys = list(dict.fromkeys(key for key in plan["keys"] if key is not None))
    bench.plan_keys = plan["keys"]
    old = store.info.get("plan", {})
    cells = _all_cells(bench, plan, keys, old.get("cells", []))
    repeats = max((cell.get("repeats", 1) for cell in cells), default=1)
    store.info["axes"]["repeats"] = max(repeats, bench.options.repeats)
    digest = hashlib.sha256("\n".join(keys).encode()).hexdigest()
    tasks = sum(cell["planned"] for cell in cells)
    store.info["plan"] = {"tasks": tasks, "requests": tasks, "sha256": digest, "cells": cells}
    if bench.options.shard is not None and "whole" in plan:
        store.info["plan"]["whole"] = plan["whole"]
        store.info["shard"] = dict(zip(("index", "count"), bench.options.shard, strict=True))
    store.write_info()
    models, suites = len(bench.prepared), len({cell["suite"] for cell in plan["cells"]})
    if keys:
        known = sum(key in bench.known for key in keys)
        more = f", {known} already measured" if known else ""
        bench.say(f"{_some(models, 'model')} × {_some(suites, 'suite')} = {_some(len(keys), 'task')}{more}")
    if bench.early is not None:
        bench.early.begin()


def _all_cells(
    bench: BenchSession, plan: Mapping[str, Any], keys: Iterable[str], old: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The cells of this session, with the rows that earlier ones measured beside these, and the cells that
    only earlier ones had."""
    chosen: dict[tuple[str, ...], set[str]] = {}
    for key in keys:
        suite, _, model, harness, perturbation, _ = parts_of(key)
        chosen.setdefault((suite, model, harness, perturbation), set()).add(key)
    known: dict[tuple[str, ...], set[str]] = {}
    for key, row in bench.known.items():
        known.setdefault(_axes_of(row), set()).add(key)
    before = {_axes_of(cell): cell for cell in old}
    cells = []
    for cell in plan["cells"]:
        axes = _axes_of(cell)
        earlier, mine = before.pop(axes, None), chosen.get(axes, set())
        if outside := known.get(axes, set()) - mine:
            if "whole" in plan:  # one part of a plan stays a part, whatever was measured beside it
                cell["planned"] += len(outside)
            else:
                cell = _united(bench, cell, earlier, [*mine, *outside])
        cells.append(cell)
    return [*cells, *before.values()]


def _axes_of(part: Mapping[str, Any]) -> tuple[str, ...]:
    return part["suite"], part["model"], part["harness"], part["perturbation"]


def _united(
    bench: BenchSession, cell: dict[str, Any], before: dict[str, Any] | None, keys: Sequence[str]
) -> dict[str, Any]:
    """A cell of a resumed run whose earlier sessions measured rows that this one does not ask for. ``keys``:
    the rows of both. It takes the smallest selection asked for by one of them that holds them all, and else
    says that it is none."""
    parts = [parts_of(key) for key in keys]
    ids = {part[1] for part in parts}
    repeats = max([cell["repeats"], *(int(part[5]) + 1 for part in parts)])
    if before is not None:
        repeats = max(repeats, before.get("repeats", 1))
    found = []
    for selection in (one["selection"] for one in (cell, before) if one is not None):
        members = _members(bench, cell["suite"], selection)
        if members is not None and ids <= members:
            found.append((len(members), selection))
    count, selection = min(found, key=itemgetter(0), default=(0, {}))
    planned = count * repeats or len(keys)
    return {
        **cell,
        "planned": planned,
        "repeats": repeats,
        "selection": selection or {"kind": "ids", "n": planned},
    }


def _members(bench: BenchSession, name: str, selection: Mapping[str, Any]) -> frozenset[str] | None:
    """The task ids that a selection of a suite means; ``None`` where something else chose among them."""
    suite = bench.suite_named(name)
    if suite is None or selection["kind"] == "ids":
        return None
    slice_ = Slice(suite.key, selection["kind"], selection.get("n"))
    return frozenset(suite.index.ids[row] for row in rows_of(slice_, suite.index, suite.key))


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def read_plan(bench: BenchSession) -> None:
    """On a controller: adopts the plan that a worker published, once."""
    store = bench.store
    if bench.plan_keys or store is None:
        return
    path = store.path / "spool" / PLAN
    if path.exists():
        adopt_plan(bench, json.loads(path.read_bytes()))
