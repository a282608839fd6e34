"""The hooks of a benchmark session. Registered only when a bench option is in force."""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.errors import BenchkitError, StoreError
from pytest_benchkit.plugin import running
from pytest_benchkit.plugin.asked import read_options
from pytest_benchkit.plugin.collection import BenchFile, TaskItem, is_bench_file
from pytest_benchkit.plugin.session import STASH, BenchSession

if TYPE_CHECKING:
    pass

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MARKED = re.compile(rb"^\s*@pytest\.mark\.bench_suite\(|^pytestmark\b.*bench_suite", re.M)
"""A test module with functions for a benchmark session; anything else in it may be anything."""


def activate(config: pytest.Config) -> None:
    """Reads the options and registers the hooks. Raises ``pytest.UsageError`` (exit 4)."""
    try:
        bench = BenchSession(config, read_options(config))
    except BenchkitError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[STASH] = bench
    hooks = BenchHooks(bench)
    if bench.worker is not None:
        from pytest_benchkit.plugin.workers import WorkerHooks

        worker = WorkerHooks(bench)
        bench.with_installed = worker.with_installed
        config.pluginmanager.register(worker, "benchkit-worker")
    else:
        # paths on the command line say what is meant; without them the installed suites are meant too
        bench.with_installed = config.args_source is not config.ArgsSource.ARGS
        if bench.distributed:
            from pytest_benchkit.plugin.xdist import ControllerHooks

            config.pluginmanager.register(ControllerHooks(bench), "benchkit-controller")
        else:
            config.pluginmanager.register(RowLoop(bench), "benchkit-loop")
    if bench.with_installed:
        for folder in bench.scan.installed_folders():
            if not any(Path(argument).resolve() == folder.resolve() for argument in config.args):
                config.args.append(str(folder))
    config.pluginmanager.register(hooks, "benchkit-hooks")
    if bench.worker is None:
        from pytest_benchkit.plugin.terminal import BenchTerminal

        config.pluginmanager.register(BenchTerminal(bench), "benchkit-terminal")
        if config.pluginmanager.hasplugin("html"):
            from pytest_benchkit.plugin.html import BenchHtml

            config.pluginmanager.register(BenchHtml(bench), "benchkit-html")
        _add_gates(bench)


def _add_gates(bench: BenchSession) -> None:
    """Last of all, so that verdicts come after every other wrapper of the run loop has ended."""
    from pytest_benchkit.plugin.gate_options import concerns, read_gate_options

    try:
        options = read_gate_options(bench.config, bench.model_names)
    except BenchkitError as error:
        raise pytest.UsageError(str(error)) from None
    if concerns(bench.config, options):
        from pytest_benchkit.plugin.gate import GateHooks

        bench.config.pluginmanager.register(GateHooks(bench, options), "benchkit-gate")


class BenchHooks:
    """What every process of a benchmark session does."""

    def __init__(self, bench: BenchSession) -> None:
        self.bench = bench
        self._previous: dict[int, Any] = {}
        self._gc_threshold: tuple[int, int, int] | None = None

    @property
    def _asks_here(self) -> bool:
        """Whether items run in this process: not on a controller that has workers, not when collecting."""
        return not self.bench.dry and not self.bench.distributed

    # ------------------------------------------------------------------ start

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        bench = self.bench
        if bench.worker is not None or bench.dry:
            return
        from pytest_benchkit.plugin import controller

        try:
            controller.start(bench)
            if bench.distributed:
                from pytest_benchkit.plugin.xdist import prepare_workers

                prepare_workers(bench)
        except BenchkitError as error:
            raise pytest.UsageError(str(error)) from None
        if threading.current_thread() is not threading.main_thread():
            return  # an embedding program keeps its own signals
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup a hang-up is no news
                self._previous[number] = signal.signal(number, self._leave)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM and SIGHUP act like Ctrl-C, reports included, and exit 128 + n; a second signal of any
        kind leaves at once (H-24)."""
        for each in self._previous:
            signal.signal(each, _leave_at_once)
        if number != signal.SIGINT:
            self.bench.signal = number
        raise KeyboardInterrupt(signal.Signals(number).name)

    # ------------------------------------------------------------------ collection

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Thousands of items make Python's collector look at all of them again and again."""
        self._gc_threshold = gc.get_threshold()
        gc.unfreeze()
        gc.set_threshold(50_000, 20, 20)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Without paths a benchmark session is about benchmarks: other tests are not even imported."""
        bench = self.bench
        if not bench.with_installed or collection_path.suffix != ".py":
            return None
        if is_bench_file(collection_path, bench.scan.patterns):
            return None if bench.scan.wants_file(collection_path) else True
        if collection_path.name in ("conftest.py", "__init__.py"):
            return None
        if bench.scan.slices:
            return True  # --bench names suites; test functions over their rows run by path
        return None if _matches(collection_path, MARKED) else True

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        bench = self.bench
        if not is_bench_file(file_path, bench.scan.patterns):
            return None
        collector: pytest.Collector = BenchFile.from_parent(parent, path=file_path, bench=bench)
        return collector

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        from pytest_benchkit.plugin.deselection import deselect_and_order

        try:
            deselect_and_order(self.bench, items)
        except BenchkitError as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        bench = self.bench
        for note in dict.fromkeys(bench.notes):
            bench.say(note)
        if bench.dry:
            return
        bench.jobs = [item.job for item in session.items if isinstance(item, TaskItem)]
        if bench.scan.passed_over and bench.worker is None and bench.config.get_verbosity() >= 0:
            bench.say(f"passed over by -k: {', '.join(bench.scan.passed_over)}")
        gc.freeze()  # thousands of items live to the end of the session: nothing need look at them again
        if self._asks_here:  # a controller with workers gets the plan from one of them
            from pytest_benchkit.plugin.planning import publish_plan

            publish_plan(bench, session.items)

    # ------------------------------------------------------------------ running

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        bench = self.bench
        if not self._asks_here:
            return (yield)
        try:
            if bench.worker is None:
                self._start_engine()
            result = yield
        except StoreError as error:
            bench.stop_reason = bench.stop_reason or "error"
            pytest.exit(str(error), returncode=3)
        except (KeyboardInterrupt, pytest.exit.Exception):
            bench.stop_reason = "interrupted"
            if bench.dispatcher is not None:
                bench.dispatcher.stop("the run was interrupted")
            raise
        except (pytest.Session.Failed, pytest.Session.Interrupted) as stop:
            bench.stop_reason = "stopped"
            if bench.dispatcher is not None:
                bench.dispatcher.stop(str(stop))
            raise
        return result

    def _start_engine(self) -> None:
        bench = self.bench
        dispatcher = bench.start_engine({p.name: p.capacity for p in bench.prepared})
        dispatcher.add(bench.dispatch_order(bench.jobs))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """A marked test function that an earlier session of the run finished is reported, not run."""
        return True if running.run_stored(item, self.bench) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, TaskItem):
            running.amend_report(item, call, report, self.bench)
        elif call.when == "call" or (call.when == "setup" and not report.passed):
            from pytest_benchkit.plugin.fixtures import close_record

            close_record(item, report, self.bench)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        return running.status_of(report)

    # ------------------------------------------------------------------ end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        bench = self.bench
        if self._gc_threshold is not None:
            # what is frozen stays so: pytest's last collections would walk the dying session many times
            gc.set_threshold(*self._gc_threshold)
        if bench.dry:
            return
        if bench.dispatcher is not None:
            bench.dispatcher.close()
        from pytest_benchkit.sandbox import pool

        try:
            if bench.worker is None:
                from pytest_benchkit.plugin import ending

                ending.finish(bench, session)
        finally:
            pool.close()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)


class RowLoop:
    """The run loop of a session without workers."""

    def __init__(self, bench: BenchSession) -> None:
        self._bench = bench

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        return running.run_loop(session, self._bench)


def _matches(path: Path, pattern: re.Pattern[bytes]) -> bool:
    try:
        return pattern.search(path.read_bytes()) is not None
    except OSError:
        return False


def _leave_at_once(number: int, frame: FrameType | None) -> None:
    """The journal is whole at any byte, so nothing has to be tidied."""
    os.write(2, b"\nbench: left at once; go on with --bench-resume\n")
    os._exit(128 + number)
