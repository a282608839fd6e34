"""pytest-xdist on the controller: shares of the request slots, spools, crashed workers.

Each worker holds its share of a model's slots and asks ahead among the items it was given, so it is
given at least twice its share and topped up as items finish. Among those it runs one whose verdict is
ready: with replies of uneven length, running them in order starves the window (59 s against 30 s where
all replies together last 28 s).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.engine.preflight import shares
from pytest_benchkit.errors import StoreError, UsageProblem
from pytest_benchkit.plugin.planning import read_plan
from pytest_benchkit.plugin.scheduling import BenchScheduling, lost_record
from pytest_benchkit.plugin.workers import INPUT
from pytest_benchkit.runs.journal import Tail
from pytest_benchkit.runs.plain import parse

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession

FOLD_EACH_S = 0.25


def prepare_workers(bench: BenchSession) -> None:
    """Before workers start: no more of them than request slots; files that they read at start."""
    config = bench.config
    store = bench.store
    if store is None:
        return
    if config.getvalue("dist") == "each":
        raise UsageProblem("--dist each would ask every row once per worker; leave --dist out")
    least = min((ready.capacity for ready in bench.prepared), default=1)
    if len(config.option.tx) > least:
        bench.say(f"{least} worker{'s' * (least != 1)} for {least} in flight, not {len(config.option.tx)}")
        config.option.tx = config.option.tx[:least]
    if bench.options.only is not None:
        (store.spool / "last.json").write_text(json.dumps(bench.last_outcomes()))
    store.info["sessions"][-1]["workers"] = len(config.option.tx)
    store.write_info()


# ---------------------------------------------------------------------- the controller


class ControllerHooks:
    """Registered on a controller that has workers."""

    def __init__(self, bench: BenchSession) -> None:
        self.bench = bench
        self._places: dict[str, int] = {}
        self._tails: dict[Path, Tail] = {}
        self._over = threading.Event()
        self._folder: threading.Thread | None = None
        self._crashed = False
        self._fault: str | None = None

    def pytest_configure_node(self, node: Any) -> None:
        """Tells a worker what it needs instead of finding it out again. A replacement takes over the
        place, and so the share, of the worker that died."""
        bench = self.bench
        place = min(set(range(len(self._places) + 1)) - set(self._places.values()))
        self._places[node.gateway.id] = place
        count = len(bench.config.option.tx)
        store = bench.store
        if store is None:
            return
        node.workerinput[INPUT] = json.dumps(
            {
                "run_dir": str(store.spool.parent),
                "session": bench.session_number,
                "with_installed": bench.with_installed,
                "prepared": [asdict(ready) for ready in bench.prepared],
                "shares": {p.name: shares(p.capacity, count)[place % count] for p in bench.prepared},
                "ahead": bench.config.getvalue("dist") == "load",
                "known": sorted(bench.known) if bench.known or place >= count or self._crashed else None,
            }
        )
        if self._folder is None:
            self._folder = threading.Thread(target=self._fold, name="benchkit-fold", daemon=True)
            self._folder.start()

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self._places.pop(node.gateway.id, None)
        self._crashed = self._crashed or error is not None

    @pytest.hookimpl(tryfirst=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> BenchScheduling | None:
        if config.getvalue("dist") != "load":
            return None
        return BenchScheduling(config, log, self.bench)

    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        """The row that was in flight when its worker died."""
        key = sched.key_of(crashitem) if isinstance(sched, BenchScheduling) else None
        store = self.bench.store
        if key is None or store is None:
            return
        words = str(report.longrepr)
        store.append(lost_record(key, words, self.bench.session_number))
        report.bench = {"key": key, "outcome": "harness_error", "reason": words}  # type: ignore[attr-defined]

    def _fold(self) -> None:
        """Takes in finished records as workers spool them, and shows what they say."""
        while not self._over.wait(FOLD_EACH_S):
            self.fold_once()

    def pytest_runtest_logreport(self) -> None:
        if self._fault is not None:
            pytest.exit(self._fault, returncode=3)

    def fold_once(self) -> None:
        bench = self.bench
        store = bench.store
        if store is None or self._fault is not None:
            return
        try:
            store.fold_spools()
        except StoreError as error:  # the main thread ends the run; spools keep what they have
            self._fault = str(error)
            return
        for path in sorted((store.path / "spool").glob("*.say")):
            for data in self._tails.setdefault(path, Tail(path)).lines():
                text = str(parse(data))
                if text not in bench.said:  # each worker finds the same fault
                    bench.say(text)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        bench = self.bench
        try:
            result = yield
        except BaseException as stop:
            interrupted = isinstance(stop, (KeyboardInterrupt, pytest.exit.Exception))
            bench.stop_reason = "interrupted" if interrupted else "stopped"
            raise
        finally:
            self._over.set()
            if self._folder is not None:
                self._folder.join()
            self.fold_once()
            read_plan(bench)
        return result
