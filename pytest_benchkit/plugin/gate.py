"""Gates in a session: thresholds are checked before the first request, verdicts come after the last row.

Verdicts reach terminal, JUnit and pytest-html as reports of their own, emitted after the run loop; a failed
one makes the session fail through pytest's own count. Nothing here runs in an xdist worker.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.errors import StoreError
from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.devices import Devices, probe
from pytest_benchkit.gates.problems import errors, ordered, render
from pytest_benchkit.gates.runs import Run, Subject, entry_for, gates_of, judge_run
from pytest_benchkit.gates.subject import hardware_of_run
from pytest_benchkit.gates.verdict import GateVerdict
from pytest_benchkit.plugin.gate_options import GateOptions, is_compat, strict_problems, tree_of
from pytest_benchkit.plugin.gate_rows import Row, emit, row_of

if TYPE_CHECKING:
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.plugin.early import EarlyStop
    from pytest_benchkit.plugin.session import BenchSession

GATE_JSON = "gate.json"


NO_ENTRY = frozenset({"no-baseline-hardware", "no-baseline-checkpoint"})


class GateHooks:
    """Registered on the controller, outermost around the run loop, unless gates are off."""

    def __init__(self, bench: BenchSession, options: GateOptions) -> None:
        self.bench = bench
        self.options = options
        self.tree = tree_of(bench.config)
        self.verdicts: list[GateVerdict] = []
        self._devices: Devices | None = None
        self._notice = ""
        self._early: EarlyStop | None = None
        self._refuse_broken()

    # ------------------------------------------------------------------ before

    def _refuse_broken(self) -> None:
        """Lint errors that concern this run end it before any request; others are one line."""
        if self.bench.config.option.collectonly:
            return
        bad = errors(self.tree.problems)
        if any(problem.code == "kernels-missing" for problem in bad):
            raise pytest.UsageError("\n".join(map(render, bad)))
        if not bad:
            return
        classes = {cls for cls in self._subject().by_model.values() if isinstance(cls, str)}
        mine = errors(problem for cls in sorted(classes) for problem in self.tree.of_class(cls))
        if mine:
            raise pytest.UsageError(
                "\n".join([*map(render, ordered(mine)), "(benchkit gate validate shows all problems)"])
            )
        self._notice = f"kernels: {len(bad)} errors in other classes; benchkit gate validate shows them"

    def _subject(self) -> Subject:
        """The class of each model: of this machine, where the model is served here."""
        asked = self.options.hardware
        nothing = Reason("hardware-unknown", "the tree has no class", "add a HARDWARE.toml")
        classes: dict[str, str | Reason] = {}
        for spec in self.bench.specs:
            known = self.tree.hardware or asked
            urls = self._urls(spec)
            classes[spec.name] = hardware_of_run(self.tree, asked, urls, self._probe) if known else nothing
        return Subject(asked or nothing, self.options.checkpoints, classes)

    def _urls(self, spec: ModelSpec) -> list[str]:
        """Where the model is served: as asked, and as found."""
        store = self.bench.store
        models = store.info.get("models", []) if store is not None else []
        found = [e["url"] for m in models if m["name"] == spec.name for e in m.get("endpoints", [])]
        return found or [url for url in [spec.settings.base_url] if url]

    def _probe(self) -> Devices:
        if self._devices is None:
            self._devices = probe()
        return self._devices

    def pytest_sessionstart(self) -> None:
        """What will not be judged for its parameters is said before the first task is asked."""
        store = self.bench.store
        if store is None:
            return
        if self._notice:
            self.bench.say(self._notice)
        if self.options.early != "off":
            from pytest_benchkit.plugin.early import EarlyStop

            self._early = EarlyStop(self.bench, self.tree, self._subject(), self.options.early)
            self.bench.early = self._early
        foreseen = self._foreseen()
        for line in foreseen:
            self.bench.say(line)
        if foreseen and self.options.mode == "required":
            from pytest_benchkit.plugin.controller import abandon

            abandon(self.bench)
            raise pytest.UsageError(
                "\n".join([*foreseen, "run with the pinned values, or with --bench-gate=auto"])
            )
        if is_compat(self.bench.config) and self.tree.entries:
            more = max(0, len(strict_problems(self.bench.config)) - len(self.tree.problems))
            self.bench.say(f"kernels are read in compat mode; strict reading would add {more} problems")

    def _foreseen(self) -> list[str]:
        from pytest_benchkit.gates.params import differences
        from pytest_benchkit.gates.result import parameters

        store = self.bench.store
        if store is None:
            return []
        keys = {suite["name"].partition(":")[0] for suite in store.info.get("suites", [])}
        gates = gates_of(self.tree, keys)
        if not gates:
            return []
        found, subject = [], self._subject()
        for spec in self.bench.specs:
            for gate in gates:
                hit = entry_for(self.tree, gate, spec.name, subject)
                if isinstance(hit, Reason) or not hit[0].measured:
                    continue
                used, defaults = parameters(store.info, hit[0].suite_key, spec.name)
                for code, words in differences(hit[0].param_overrides, used, defaults):
                    found.append(f"gate {gate} will not be judged for {spec.name}: {code}: {words}")
        return found

    # ------------------------------------------------------------------ after the last row

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            result = yield
        except BaseException as stop:
            self._conclude(session, emits=isinstance(stop, pytest.Session.Failed), stop=stop)
            raise
        self._conclude(session, emits=True, stop=None)
        return result

    def _conclude(self, session: pytest.Session, *, emits: bool, stop: BaseException | None) -> None:
        if session.config.option.collectonly or not session.testscollected or self.bench.store is None:
            return
        rows = self._rows(session, stop)
        self._write(session, rows)
        if emits:
            for row in rows:
                emit(session, row)

    def _rows(self, session: pytest.Session, stop: BaseException | None) -> list[Row]:
        """A failure of our own becomes a failed row: what cannot be judged never reads as a pass."""
        try:
            self.verdicts = self._judge(session, stop)
            rows = [row_of(verdict, fails=self._fails(verdict)) for verdict in self.verdicts]
        except Exception:
            return [Row.crashed(traceback.format_exc())]
        names = [row.nodeid for row in rows]
        for row, verdict in zip(rows, self.verdicts, strict=True):
            if names.count(row.nodeid) > 1:  # one entry holds for several models of the run
                row.add_to_name(verdict.model)
        return rows

    def _judge(self, session: pytest.Session, stop: BaseException | None) -> list[GateVerdict]:
        from pytest_benchkit.plugin.ending import results_of

        bench = self.bench
        results = results_of(bench)
        if results is None or bench.store is None:
            raise RuntimeError("the run has no store")
        stopped = bench.stop_reason or (type(stop).__name__ if stop is not None else None)
        own = {suite.key: suite.metric_kinds for suite in bench.suites}
        run = Run(bench.store.info, results, list(bench.store.ledger.rows.values()), own, stopped)
        verdicts: list[GateVerdict] = []
        if self.tree.entries or self.options.required:
            verdicts = judge_run(self.tree, run, self._subject(), self.options.required)
        verdicts = [verdict for verdict in verdicts if not self._is_no_entry(verdict)]
        if self._early is not None:
            verdicts = [self._early.amend(verdict) for verdict in verdicts]
        if not verdicts and self.options.mode == "required":
            reason = Reason(
                "nothing-judged",
                "no gate applies to this run",
                "add an entry to kernels/, or run a suite that has one",
            )
            verdicts = [GateVerdict("none", "", "", "not-judged", reasons=(reason,))]
        if not verdicts and bench.config.get_verbosity() > 0:
            bench.say("no gate applies to this run")
        return verdicts

    def _is_no_entry(self, verdict: GateVerdict) -> bool:
        """In ``auto`` a gate without an entry for what was measured is a line, not a row of the run."""
        if self.options.mode == "required" or verdict.gate in self.options.required:
            return False
        found = next((reason for reason in verdict.reasons if reason.code in NO_ENTRY), None)
        if found is not None:
            self.bench.say(f"gate {verdict.gate} is not judged for {verdict.model}: {found.message}")
        return found is not None

    def _fails(self, verdict: GateVerdict) -> bool:
        if verdict.verdict == "not-judged":
            return self.options.mode == "required" or verdict.gate in self.options.required
        return verdict.verdict == "fail"

    def _write(self, session: pytest.Session, rows: Sequence[Row]) -> None:
        """``gate.json``, its copy, the gates of ``results.json``, the GitHub summary."""
        from pytest_benchkit.gates.verdict import document
        from pytest_benchkit.runs.store import write_json

        bench, store = self.bench, self.bench.store
        if store is None:
            return
        fails = any(row.fails for row in rows)
        found = document(store.path.name, self.options.mode, self.verdicts, self.tree.problems, fails=fails)
        if bench.results is not None:
            bench.results["gates"] = found["gates"]
        for path in (store.path / GATE_JSON, self.options.json_path):
            if path is None:
                continue
            try:
                write_json(path, found)
            except StoreError as error:
                bench.say(str(error))
                session.testsfailed += 1
        self._github()

    def _github(self) -> None:
        from pathlib import Path

        from pytest_benchkit.gates.verdict import summary

        place = self.bench.options.environ.get("GITHUB_STEP_SUMMARY")
        if not place or not self.options.github_summary or not self.verdicts:
            return
        try:
            with Path(place).open("a", encoding="utf-8") as file:
                file.write(summary(self.verdicts))
        except OSError as error:
            self.bench.say(f"GITHUB_STEP_SUMMARY cannot be written: {error.strerror}")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from pytest_benchkit.gates.verdict import closing

        if not self.verdicts or terminalreporter.no_summary:
            return
        terminalreporter.write_sep("=", "benchmark gates")
        for verdict in self.verdicts:
            head, *lines = verdict.lines()
            colours: dict[str, dict[str, bool]] = {"pass": {"green": True}, "fail": {"red": True}}
            terminalreporter.write_line(
                _printable(terminalreporter, head), **colours.get(verdict.verdict, {"yellow": True})
            )
            for line in lines:
                terminalreporter.write_line(_printable(terminalreporter, line))
        terminalreporter.write_line(closing(self.verdicts))


def _printable(reporter: Any, text: str) -> str:
    from pytest_benchkit.reports.format import encodable

    return encodable(text, getattr(reporter._tw._file, "encoding", None))
