"""An xdist worker: what it was told, its spool, and a run loop that takes answered rows first."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.engine.preflight import Prepared
from pytest_benchkit.errors import StoreError
from pytest_benchkit.plugin import running
from pytest_benchkit.plugin.collection import TaskItem
from pytest_benchkit.runs.journal import Journal
from pytest_benchkit.runs.store import read_ledger
from pytest_benchkit.sandbox.pool import share_with

if TYPE_CHECKING:
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.plugin.session import BenchSession

INPUT = "benchkit"
"""Key of our part of xdist's ``workerinput``."""


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
        share_with(int((bench.worker or {}).get("workercount", 1)))
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
        if not self._told["ahead"]:
            return None  # another scheduler, which may take items back: xdist's own loop and queue
        interactor = find_interactor(bench.config)
        if interactor is None:
            bench.say("this pytest-xdist is not known: workers ask without looking ahead, which is slow")
            return None
        try:
            AnsweredFirst(session, bench, interactor).run()
        except StoreError as error:
            pytest.exit(str(error), returncode=3)
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
