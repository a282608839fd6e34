"""pytest-xdist: shares of the request slots, windows of work, answered rows first, crashed workers.

Each worker holds its share of a model's slots and asks ahead among the items it was given, so it is
given at least twice its share and topped up as items finish. Among those it runs one whose verdict is
ready: with replies of uneven length, running them in order starves the window (59 s against 30 s where
all replies together last 28 s).
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScheduling

from pytest_benchkit.engine.plan import Job
from pytest_benchkit.engine.preflight import Prepared, shares
from pytest_benchkit.plugin import running
from pytest_benchkit.plugin.collection import TaskItem
from pytest_benchkit.plugin.planning import PLAN, adopt_plan
from pytest_benchkit.plugin.session import stored_verdict
from pytest_benchkit.runs.journal import Journal, Tail
from pytest_benchkit.runs.plain import parse
from pytest_benchkit.runs.store import now_text, read_ledger

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.runs.record import TaskRecord

WINDOW_SHARES = 2
LEAST_WINDOW = 8
FOLD_EACH_S = 0.25
INPUT = "benchkit"


def prepare_workers(bench: BenchSession) -> None:
    """Before workers start: no more of them than request slots; files that they read at start."""
    config = bench.config
    store = bench.store
    if store is None:
        return
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
                "known": sorted(bench.known) if bench.known or place >= count or self._crashed else None,
            }
        )
        if self._folder is None:
            self._folder = threading.Thread(target=self._fold, name="benchkit-fold", daemon=True)
            self._folder.start()

    _crashed = False

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self._places.pop(node.gateway.id, None)
        self._crashed = self._crashed or error is not None

    @pytest.hookimpl(tryfirst=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> LoadScheduling | None:
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

    def fold_once(self) -> None:
        bench = self.bench
        store = bench.store
        if store is None:
            return
        store.fold_spools()
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


def read_plan(bench: BenchSession) -> None:
    """Adopts the plan that a worker published, once."""
    store = bench.store
    if bench.plan_keys or store is None:
        return
    path = store.path / "spool" / PLAN
    if path.exists():
        adopt_plan(bench, json.loads(path.read_bytes()))


class BenchScheduling(LoadScheduling):  # type: ignore[misc]
    """Load scheduling with a window of work per worker, in the order in which rows should be asked."""

    def __init__(self, config: pytest.Config, log: Any, bench: BenchSession) -> None:
        super().__init__(config, log)
        self.collection: list[str] | None = None
        self._bench = bench
        count = max(1, len(config.option.tx))
        most = max((ready.capacity for ready in bench.prepared), default=1)
        self._window = max(LEAST_WINDOW, WINDOW_SHARES * -(-most // count) + 2)
        self._key_by_id: dict[str, str] = {}

    def key_of(self, nodeid: str) -> str | None:
        """The record key of an item."""
        if not self._key_by_id and self.collection is not None:
            pairs = zip(self.collection, self._bench.plan_keys, strict=False)
            self._key_by_id = {item: key for item, key in pairs if key is not None}
        return self._key_by_id.get(nodeid)

    def schedule(self) -> None:
        if self.collection is not None:
            for node in self.nodes:
                self.check_schedule(node)
            return
        if not self._check_nodes_have_same_collection():
            return
        self.collection = next(iter(self.node2collection.values()))
        read_plan(self._bench)
        self.pending[:] = self._order()
        for node in self.nodes:
            self.check_schedule(node)
        if not self.pending:
            for node in self.nodes:
                node.shutdown()

    def _order(self) -> list[int]:
        """Longest expected first where lengths are known; models one after the other as collected."""
        places = list(range(len(self.collection or ())))
        lengths, keys = self._bench.lengths, self._bench.plan_keys
        if not lengths or len(keys) != len(places) or len(self._bench.model_names) > 1:
            return places
        typical = sorted(lengths.values())[len(lengths) // 2]
        return sorted(places, key=lambda place: -lengths.get(keys[place] or "", typical))

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        if node.shutting_down:
            return
        if self.pending:
            missing = self._window - len(self.node2pending[node])
            if missing > 0:
                self._send_tests(node, missing)
        else:
            node.shutdown()

    def remove_node(self, node: Any) -> str | None:
        """Gives a dead worker's rows to others. What it had finished is in its spool and only reported;
        the first that was not is the one blamed."""
        places = self.node2pending.pop(node)
        bench, store = self._bench, self._bench.store
        if store is None or self.collection is None or not places:
            return None
        store.fold_spools()
        left = []
        for place in places:
            nodeid = self.collection[place]
            row = store.ledger.rows.get(self.key_of(nodeid) or "")
            if row is None or row.get("session") != bench.session_number:
                left.append(place)
                continue
            location = (nodeid.partition("::")[0], None, nodeid.partition("::")[2])
            report = running.report_of(nodeid, location, stored_verdict(row), bench.options.strict)
            bench.config.hook.pytest_runtest_logreport(report=report)
        if not left:
            return None
        crashed: str = self.collection[left.pop(0)]
        self.pending[:0] = left
        for other in self.node2pending:
            self.check_schedule(other)
        return crashed


def lost_record(key: str, words: str, session: int) -> TaskRecord:
    """The record of a row whose worker died while it was in flight: an error, asked again on resume."""
    import re

    parts = [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:[^\\|]|\\.)+", key)]
    suite, task_id, model, harness, perturbation, repeat = parts
    now = now_text()
    return {
        "key": key,
        "v": 1,
        "suite": suite,
        "task_id": task_id,
        "model": model,
        "harness": harness,
        "perturbation": perturbation,
        "repeat": int(repeat),
        "index": -1,
        "ask_id": f"lost-{now}",
        "fingerprint": "",
        "outcome": "harness_error",
        "detail": "worker_lost",
        "reason": f"worker_lost: {words}"[:160],
        "flags": [],
        "error": {"kind": "worker_lost", "message": words[:2000], "retryable": False},
        "started_at": now,
        "finished_at": now,
        "session": session,
        "worker": "controller",
    }


# ---------------------------------------------------------------------- a worker


class WorkerHooks:
    """Registered in an xdist worker."""

    def __init__(self, bench: BenchSession) -> None:
        self.bench = bench
        raw = (bench.worker or {}).get(INPUT)
        self._told: dict[str, Any] = json.loads(raw) if raw else {}
        self.with_installed: bool = self._told.get("with_installed", False)
        if self._told:
            bench.run_dir = Path(self._told["run_dir"])
            bench.session_number = self._told["session"]
            bench.prepared = [Prepared(**ready) for ready in self._told["prepared"]]

    def pytest_sessionstart(self) -> None:
        bench = self.bench
        if bench.run_dir is None or bench.config.option.collectonly:
            return
        bench.spool = Journal(bench.run_dir / "spool" / f"{bench.worker_id}-{bench.session_number}.jsonl")
        if self._told["known"] is not None:
            wanted = set(self._told["known"])
            rows = read_ledger(bench.run_dir).rows
            bench.known = {key: row for key, row in rows.items() if key in wanted}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        if self.bench.dispatcher is not None:
            self.bench.dispatcher.close()
        if self.bench.spool is not None:
            self.bench.spool.close()
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        bench = self.bench
        if bench.run_dir is None or bench.config.option.collectonly:
            return None
        bench.start_engine(self._told["shares"])
        interactor = find_interactor(bench.config)
        if interactor is None:
            bench.say("this pytest-xdist is not known: workers ask without looking ahead, which is slow")
            return None
        AnsweredFirst(session, bench, interactor).run()
        return True


def find_interactor(config: pytest.Config) -> Any:
    """xdist's object in this worker, if it still has the parts that :class:`AnsweredFirst` uses.

    Its class cannot be asked for: execnet runs the module under another name.
    """
    parts = ("channel", "handle_command", "sendevent", "torun", "run_one_test")
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor" and all(hasattr(plugin, part) for part in parts):
            return plugin if end_marker(plugin) is not None else None
    return None


def end_marker(interactor: Any) -> object | None:
    """The marker by which xdist's receiver tells its command handler that nothing more comes."""
    marker = getattr(interactor.handle_command, "__globals__", {}).get("Marker")
    end: object | None = getattr(marker, "SHUTDOWN", None)
    return end


class AnsweredFirst:
    """The run loop of a worker: of the items it was given, one whose verdict is ready runs next.

    The one adapter over xdist's worker internals: it takes the place of the interactor's queue (``put``
    is all that its command handler needs of it) and of its loop.
    """

    def __init__(self, session: pytest.Session, bench: BenchSession, interactor: Any) -> None:
        self._session = session
        self._bench = bench
        self._interactor = interactor
        self._full = running.needs_full_protocol(session.config)
        self._changed = bench.dispatcher.changed if bench.dispatcher else threading.Condition()
        self._waiting: deque[int] = deque()
        self._shutdown = False

    def put(self, item: object) -> None:
        """Called by xdist's receiver thread for each index, and for the end marker."""
        job: Job | None = None
        if isinstance(item, int):
            test = self._session.items[item]
            if isinstance(test, TaskItem) and test.job.key not in self._bench.known:
                job = test.job
        if job is not None and self._bench.dispatcher is not None:
            self._bench.dispatcher.add([job])
        with self._changed:
            if isinstance(item, int):
                self._waiting.append(item)
            else:
                self._shutdown = True
            self._changed.notify_all()

    def run(self) -> None:
        interactor = self._interactor
        interactor.torun = self
        interactor.channel.setcallback(interactor.handle_command, endmarker=end_marker(interactor))
        session = self._session
        for index in self._indices():
            item = session.items[index]
            interactor.item_index = index
            if isinstance(item, TaskItem) and not self._full:
                running.run_row(item, self._bench)
            else:
                following = None if isinstance(item, TaskItem) else self._following()
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            interactor.sendevent("runtest_protocol_complete", item_index=index, duration=0.0)
            if session.shouldfail or session.shouldstop:
                return

    def _indices(self) -> Iterator[int]:
        while (index := self._next()) is not None:
            yield index

    def _next(self) -> int | None:
        """The first given index that need not wait; blocks; ``None`` at the end."""
        dispatcher = self._bench.dispatcher
        items = self._session.items
        with self._changed:
            while True:
                for place, index in enumerate(self._waiting):
                    item = items[index]
                    if (
                        not isinstance(item, TaskItem)
                        or item.job.key in self._bench.known
                        or dispatcher is None
                        or dispatcher.has(item.job)
                    ):
                        del self._waiting[place]
                        return index
                if self._shutdown and not self._waiting:
                    return None
                if dispatcher is not None:
                    dispatcher.check()
                    dispatcher.wait_for_any()
                else:
                    self._changed.wait()

    def _following(self) -> pytest.Item | None:
        """The item after a test function, which decides what fixtures it tears down."""
        with self._changed:
            while not self._waiting and not self._shutdown:
                self._changed.wait()
            return self._session.items[self._waiting[0]] if self._waiting else None
