"""The end of a session on the controller: everything is saved before anything is printed (J-7)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.errors import StoreError
from pytest_benchkit.runs.store import finished, now_text

if TYPE_CHECKING:
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.plugin.session import BenchSession


def finish(bench: BenchSession, session: pytest.Session) -> None:
    """Closes the run, and when everything is saved has models leave their servers."""
    from pytest_benchkit.engine import eviction
    from pytest_benchkit.engine.lanes import http_model

    leaving = _leaving(bench)
    _close(bench, session)
    if leaving:
        models = [(spec.name, http_model(spec, ready, bench.say)) for spec, ready in leaving]
        eviction.evict_all(models, bench.say)


def _close(bench: BenchSession, session: pytest.Session) -> None:
    """Closes the run: counts, ``run.json``, result files, servers. A file that fails is named and fails
    the session; the others are still made."""
    store = bench.store
    if bench.preflight is not None:
        bench.preflight.close()
    if store is None:
        return
    if not bench.plan_keys and not store.ledger.rows and len(store.info.get("sessions", [])) <= 1:
        _remove(bench)  # nothing was planned: an empty run would only be in the way
        return
    try:
        _settle_budget(bench)
        store.fold_spools(remove=True)
        missing = _close_info(bench)
        reason = bench.stop_reason or "finished"
        if bench.early is not None:
            missing = [key for key in missing if not bench.early.stopped(key)]
        if missing and reason == "finished" and not session.testsfailed and not session.shouldstop:
            # never green with fewer rows than planned, whatever lost them
            bench.say(f"{len(missing)} planned tasks have no record, the first {missing[0]}")
            session.testsfailed += 1
        planned = [store.ledger.rows[key] for key in bench.plan_keys if key in store.ledger.rows]
        if planned and all(row["outcome"] == "skipped" for row in planned) and not session.testsfailed:
            bench.say(f"nothing was measured: all {len(planned)} rows were skipped")
            session.testsfailed += 1
        store.write_info()
        store.write_index()
        _write_results(bench, session)
    except StoreError as error:
        bench.say(str(error))
        session.testsfailed += 1
    finally:
        try:
            store.close()
        except StoreError as error:
            bench.say(str(error))
            session.testsfailed += 1
    if session.testsfailed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED  # pytest had settled it before this hook


def _settle_budget(bench: BenchSession) -> None:
    """Names a spent budget as what ended the run, if it left something unasked."""
    store, budget = bench.store, bench.budget()
    if store is None or budget is None or bench.stop_reason is not None:
        return
    store.fold_spools()
    if (spent := budget.spent()) is not None and any(k not in store.ledger.rows for k in bench.plan_keys):
        bench.stop_reason = "budget"
        bench.say(f"{spent}; the rest is not asked")


def _leaving(bench: BenchSession) -> list[tuple[ModelSpec, Prepared]]:
    """Models that are to leave their server after the run (``--bench-unload=always``), if they were asked in
    this session and have not left already."""
    from pytest_benchkit.engine.eviction import policy

    store = bench.store
    gone = bench.dispatcher.evictions.done if bench.dispatcher is not None else set()
    rows = store.ledger.rows.values() if store is not None else ()
    asked = {row["model"] for row in rows if row.get("session") == bench.session_number}
    return [
        (spec, ready)
        for spec, ready in zip(bench.specs, bench.prepared, strict=False)  # none, where preflight refused
        if policy(spec, ready) == "always"
        and spec.name not in gone
        and (ready.load_s is not None or spec.name in asked)
    ]


def _remove(bench: BenchSession) -> None:
    store = bench.store
    if store is None:
        return
    store.close()
    bench.store = None
    shutil.rmtree(store.path, ignore_errors=True)


def results_of(bench: BenchSession) -> dict[str, Any] | None:
    """``results.json`` of the run, built once: at the end, or before it when a gate is judged."""
    from pytest_benchkit.runs.results import build

    store = bench.store
    if bench.results is None and store is not None:
        store.fold_spools()
        _close_info(bench)
        bench.results = build(store.info, counted_rows(bench), bench.suite_metrics())
    return bench.results


def counted_rows(bench: BenchSession) -> list[dict[str, Any]]:
    """The rows that the tables are about: this session's plan, and what earlier sessions of the run
    measured of the same. Rows of data, prompts or models that have changed since stay in the store."""
    store = bench.store
    if store is None:
        return []
    planned = set(bench.plan_keys)
    cells = {(cell["suite"], cell["model"]) for cell in store.info.get("plan", {}).get("cells", [])}
    mine = {(row["suite"], row["model"]) for key, row in store.ledger.rows.items() if key in planned}
    return [
        row
        for key, row in store.ledger.rows.items()
        if key in planned
        or key in bench.known
        or ((row["suite"], row["model"]) in cells - mine and key not in bench.stale)
    ]


def _close_info(bench: BenchSession) -> list[str]:
    """Brings ``run.json`` up to date; gives the keys of planned rows without a record."""
    store = bench.store
    if store is None:
        return []
    rows = store.ledger.rows
    keys = [key for key in bench.plan_keys if key is not None]
    missing = [key for key in keys if key not in rows]
    open_rows = [key for key in keys if key in rows and not _settled(rows[key])]
    unneeded = bench.early is not None and all(map(bench.early.stopped, missing))
    reason = bench.stop_reason or (("decided" if unneeded else "refused") if missing else "finished")
    info = store.info
    planned, held = info.get("plan", {}).get("tasks", 0), len(counted_rows(bench))
    done = not missing and not open_rows and planned <= held  # earlier sessions may have planned more
    info["complete"] = bool(keys) and done and reason == "finished"
    info["not_asked"] = {reason: planned - held} if planned > held else {}
    if info.get("sessions"):
        info["sessions"][-1].update(ended_at=now_text(), reason=reason)
    _model_ends(bench)
    return missing


def _settled(row: dict[str, Any]) -> bool:
    return finished(row) or row["outcome"] == "skipped"


def _model_ends(bench: BenchSession) -> None:
    """What was learnt of each model while it was asked."""
    store, dispatcher = bench.store, bench.dispatcher
    if store is None or dispatcher is None:
        return
    for entry in store.info.get("models", []):
        lane = dispatcher.lanes.get(entry["name"])
        if lane is None:
            continue
        entry["dropped_fields"] = sorted(getattr(lane.model, "dropped", ()))
        entry["inflight"].update(max=lane.slots.peak, mean=lane.slots.mean)


def _write_results(bench: BenchSession, session: pytest.Session) -> None:
    from pytest_benchkit.reports.files import write_all

    results = results_of(bench)
    if results is None or bench.run_dir is None:
        return
    for problem in write_all(results, bench.run_dir):
        bench.say(problem)
        session.testsfailed += 1
