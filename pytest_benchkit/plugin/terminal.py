"""What a benchmark session prints: header, progress, the table of results, where the files are."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_benchkit.reports.format import encodable, safe
from pytest_benchkit.reports.pairs import pair_columns
from pytest_benchkit.reports.scores import overall_lines, score_columns
from pytest_benchkit.reports.table import Column, layout

if TYPE_CHECKING:
    from typing import TextIO

    from pytest_benchkit.plugin.live import Live
    from pytest_benchkit.plugin.screen import Screen
    from pytest_benchkit.plugin.session import BenchSession

MISSED = "missed"
LIST_MISSED = frozenset("mAa")
"""Letters of ``-r`` that list missed rows."""


class BenchTerminal:
    """Registered on the controller; prints through pytest's own terminal reporter, if there is one."""

    def __init__(self, bench: BenchSession) -> None:
        self.bench = bench
        self._screen: Screen | None = None
        self._live: Live | None = None
        self._files: list[tuple[Any, str, Any]] = []

    @property
    def reporter(self) -> Any:
        return self.bench.config.pluginmanager.get_plugin("terminalreporter")

    # ------------------------------------------------------------------ before

    def pytest_report_header(self) -> list[str]:
        bench = self.bench
        lines = [f"bench: {ready.header}" for ready in bench.prepared]
        if bench.run_dir is not None:
            lines.append(f"bench: records in {shown_path(bench.run_dir, bench.config.invocation_params.dir)}")
        return [self._printable(safe(line)) for line in lines]

    # ------------------------------------------------------------------ during

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        self._begin()
        try:
            return (yield)
        finally:
            self._end()

    def _begin(self) -> None:
        bench, reporter = self.bench, self.reporter
        store = bench.store
        if store is None or reporter is None or bench.config.option.collectonly:
            return
        from pytest_benchkit.plugin.live import Live
        from pytest_benchkit.plugin.screen import Screen, Watched

        writer = reporter._tw
        live = reporter.isatty and writer.hasmarkup and os.environ.get("TERM", "dumb") != "dumb"
        screen = Screen(writer._file, live=live and bench.config.get_verbosity() >= -1)
        self._screen = screen
        self._watch(writer, "_file", Watched(screen.file, screen))
        if live and bench.config.getoption("capture", "fd") == "no":
            self._watch(sys, "stdout", Watched(cast("TextIO", sys.stdout), screen))
            self._watch(sys, "stderr", Watched(cast("TextIO", sys.stderr), screen))
        if bench.config.get_verbosity() < -1:
            return
        self._live = Live(
            screen,
            plan=lambda: store.info.get("plan", {}).get("cells", []),
            in_flight=self._in_flight,
            known=lambda: list(bench.known.values()),
            countdown=lambda: None if bench.dispatcher is None else bench.dispatcher.countdown,
        )
        before, add = store.on_record, self._live.add

        def on_record(record: Mapping[str, Any]) -> None:
            before(record)
            add(record)

        store.on_record = on_record
        self._files.append((store, "on_record", before))

    def _watch(self, holder: Any, name: str, stream: object) -> None:
        self._files.append((holder, name, getattr(holder, name)))
        setattr(holder, name, stream)

    def _in_flight(self) -> int | None:
        """Requests open in this process; those of xdist's workers are not known here."""
        return None if self.bench.dispatcher is None else self.bench.dispatcher.running

    def _end(self) -> None:
        live, screen = self._live, self._screen
        self._live = self._screen = None
        for holder, name, before in reversed(self._files):
            setattr(holder, name, before)
        self._files.clear()
        if live is not None:
            live.close()
        elif screen is not None:
            screen.close()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """``--bench-verbose``: the row's texts, when pytest reaches it."""
        text = (getattr(report, "bench", None) or {}).get("text")
        mode = self.bench.options.verbose
        if not text or mode is None or (mode == MISSED and report.passed):
            return
        if self.bench.config.getoption("xmlpath", None):
            from pytest_benchkit.plugin.junit import append_text

            append_text(self.bench.config, report, text)
        if self.reporter is not None and self.bench.config.get_verbosity() >= -1:
            self.show(text)

    def pytest_enter_pdb(self) -> None:
        if self._live is not None:
            self._live.pause()

    def pytest_leave_pdb(self) -> None:
        if self._live is not None:
            self._live.go_on()

    def show(self, line: str) -> None:
        """A line for the user at once, from any thread, between whatever pytest is printing."""
        screen, reporter = self._screen, self.reporter
        if screen is not None:
            screen.show(line)
            reporter._tw._current_line = ""  # where pytest believes its line of letters ends
        elif reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(self._printable(line))

    # ------------------------------------------------------------------ after

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        results = self.bench.results
        if results is None or terminalreporter.no_summary or self.bench.config.get_verbosity() < -1:
            return
        self._list_missed(terminalreporter)
        if not results["results"]:
            return
        terminalreporter.write_sep("=", "benchmarks")
        head, *lines = layout(self._columns(results), self._width(terminalreporter))
        self._line(head, bold=True)
        for line in lines:
            self._line(line)
        if results["pairs"]:
            for line in ["", *layout(pair_columns(results["pairs"]), self._width(terminalreporter))]:
                self._line(line)
        if overall := overall_lines(results["overall"]):
            for line in ["", *overall]:
                self._line(line)
        if results["warnings"]:
            self._line("")
        for found in results["warnings"]:
            self._line(safe(found["text"]), yellow=found["code"] in LOUD)
        from pytest_benchkit.runs.describe import GO_ON

        if banner := results["run"].get("banner"):
            self._line("")
            self._line(safe(banner.partition(GO_ON)[0]), red=True, bold=True)

    def _columns(self, results: Mapping[str, Any]) -> list[Column]:
        extra = []
        for entry in results["results"]:
            cells: dict[str, str] = {}
            answers = self.bench.config.hook.pytest_benchkit_columns(config=self.bench.config, result=entry)
            for answer in answers:
                cells.update({str(name): str(cell) for name, cell in (answer or {}).items()})
            extra.append(cells)
        return score_columns(results["results"], extra)

    def _list_missed(self, reporter: Any) -> None:
        """``-rm``: the missed rows of this session with their reasons."""
        reports = reporter.stats.get(MISSED, [])
        if not reports or not LIST_MISSED & set(self.bench.config.option.reportchars):
            return
        reporter.write_sep("=", "missed rows")
        for report in reports:
            self._line(safe(f"MISSED {report.nodeid} - {report.wasxfail}"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """After everything else is printed: where the numbers are, and how to go on."""
        result = yield
        bench, reporter = self.bench, self.reporter
        if bench.signal is not None:  # only now: pytest prints no summary for a status that it does not know
            session.exitstatus = 128 + bench.signal
        if bench.results is None or bench.run_dir is None or reporter is None or reporter.no_summary:
            return result
        from pytest_benchkit.reports.files import RESULTS
        from pytest_benchkit.runs.describe import GO_ON, resume_command

        if not bench.results["run"]["complete"] and bench.store is not None:
            self._line(f"{GO_ON.lstrip('; ')}: {safe(resume_command(bench.store.info))}")
        path = bench.run_dir / RESULTS
        if path.exists():
            self._line(f"results: {safe(shown_path(path, bench.config.invocation_params.dir))}")
        return result

    # ------------------------------------------------------------------ lines

    def _width(self, reporter: Any) -> int | None:
        return reporter._tw.fullwidth if reporter.isatty else None

    def _line(self, text: str, **markup: bool) -> None:
        self.reporter.write_line(self._printable(text), **markup)

    def _printable(self, text: str) -> str:
        reporter = self.reporter
        return encodable(text, getattr(reporter._tw._file, "encoding", None)) if reporter else text


LOUD = frozenset({"left_out", "truncation", "format_gap", "scorer_raised", "suite_metrics"})
"""Codes of notes that put a number in doubt; they are printed in yellow as well."""


def shown_path(path: Path, folder: Path) -> str:
    """As one would type it in ``folder``; absolute for places that neither it nor the home holds."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they were given
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    if absolute.is_relative_to(folder) or absolute.is_relative_to(home):
        return os.path.relpath(absolute, folder)
    return str(absolute)
