"""``--bench-early-stop``: rows whose gates are decided are not asked.

The controller watches finished rows; what it decides reaches every process as a file of the run
(:mod:`pytest_benchkit.engine.decided`), and at the end the verdicts say how they came about.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pytest_benchkit.engine.decided import DECIDED_FOLDER, Axes
from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.judge import protocol_mismatches
from pytest_benchkit.gates.problems import errors
from pytest_benchkit.gates.result import Counts, SuiteResult, parameters
from pytest_benchkit.gates.runs import entry_for, gates_of, problems_of
from pytest_benchkit.gates.verdict import SHOWN, GateVerdict, slug
from pytest_benchkit.gates.watching import Mode, Watch
from pytest_benchkit.runs.record import parts_of

if TYPE_CHECKING:
    from pytest_benchkit.gates.runs import Subject
    from pytest_benchkit.gates.schema import Entry
    from pytest_benchkit.gates.tree import Tree
    from pytest_benchkit.plugin.session import BenchSession


class EarlyStop:
    """Lives on the controller from the moment the plan is known."""

    def __init__(self, bench: BenchSession, tree: Tree, subject: Subject, mode: str) -> None:
        self._bench = bench
        self._tree = tree
        self._subject = subject
        self._mode = cast("Mode", mode)
        self._lock = threading.Lock()
        self._cells: dict[Axes, list[Watch]] = {}
        self._stopped: set[Axes] = set()

    def begin(self) -> None:
        """Watches every cell that a gate would judge; rows of earlier sessions count first."""
        bench, store = self._bench, self._bench.store
        if store is None:
            return
        keys: dict[Axes, list[str]] = defaultdict(list)
        for key in dict.fromkeys(bench.plan_keys):
            if key is not None:
                keys[_axes(key)].append(key)
        for cell in store.info.get("plan", {}).get("cells", []):
            axes = Axes(*(cell[name] for name in Axes._fields))
            if watches := [self._watch(entry, keys[axes], axes) for entry in self._entries(cell, axes)]:
                self._cells[axes] = watches
        if bench.options.repeats > 1:
            self._bench.say("early stop: repeats are settled at the end only, every row is asked")
        elif not self._cells:
            self._bench.say("early stop: no gate that could be judged watches this run, every row is asked")
        before = store.on_record

        def on_record(record: Mapping[str, Any]) -> None:
            before(record)
            self.note(record)

        store.on_record = on_record
        for key in bench.plan_keys:
            if key in bench.known:
                self.note(bench.known[key])

    def _watch(self, entry: Entry, keys: list[str], axes: Axes) -> Watch:
        suite = next((s for s in self._bench.suites if s.key == axes.suite.partition(":")[0]), None)
        watch = Watch(entry, keys, self._mode, clustered=suite is not None and any(suite.index.groups))
        if self._mode == "sprt" and watch.sequential is None:
            self._bench.say(f"gate {entry.gate} has no levels for sprt: only certain decides it early")
        return watch

    def _entries(self, cell: Mapping[str, Any], axes: Axes) -> list[Entry]:
        """The entries that this cell, run to its end, would be judged by."""
        store = self._bench.store
        if store is None or self._bench.options.repeats > 1:  # a task's mean is known at the end only
            return []
        suite, _, variant = axes.suite.partition(":")
        used, defaults = parameters(store.info, axes.suite, axes.model)
        selection = cell.get("selection", {})
        result = SuiteResult(
            suite,
            variant or None,
            axes.model,
            axes.harness,
            "" if axes.perturbation == "none" else axes.perturbation,
            kind=selection.get("kind", "all"),
            asked=int(selection.get("n", cell["rows"])),
            rows=cell["rows"],
            counts=Counts(cell["planned"], cell["planned"]),
            metrics={},
            params=used,
            defaults=defaults,
        )
        found = []
        for gate in gates_of(self._tree, {suite}):
            hit = entry_for(self._tree, gate, axes.model, self._subject)
            if isinstance(hit, Reason):
                continue
            entry = hit[0]
            sound = entry.measured and entry.metrics and not errors(problems_of(self._tree, entry))
            if sound and not protocol_mismatches(result, entry):
                found.append(entry)
        return found

    def note(self, record: Mapping[str, Any]) -> None:
        """A finished row, from any thread. Once all gates of its cell are decided, the cell stops."""
        axes = Axes(*(record[name] for name in Axes._fields))
        with self._lock:
            watches = self._cells.get(axes, [])
            for watch in watches:
                watch.note(record)
            if axes in self._stopped or not watches or not all(watch.decision for watch in watches):
                return
            self._stopped.add(axes)
        self._stop(axes, watches)

    def _stop(self, axes: Axes, watches: list[Watch]) -> None:
        from pytest_benchkit.runs.store import write_json

        store = self._bench.store
        if store is None:
            return
        words = []
        for watch in watches:
            decision = watch.decision
            if decision is not None:
                after = f"after {decision.after} of {decision.of}"
                words.append(f"{watch.entry.gate} decided {SHOWN[decision.verdict].lower()} {after}")
        folder = store.path / DECIDED_FOLDER
        folder.mkdir(exist_ok=True)
        name = slug("--".join([*(watch.entry.gate for watch in watches), axes.model]))
        write_json(folder / f"{name}.json", {"cell": list(axes), "why": "; ".join(words)})
        self._bench.say(f"{axes.model} {axes.suite}: {'; '.join(words)}; the rest is not asked")

    def stopped(self, key: str) -> bool:
        """Whether a row without a record is one that need not be asked."""
        return _axes(key) in self._stopped

    def amend(self, verdict: GateVerdict) -> GateVerdict:
        """The verdict on a cell that was stopped: what was decided, and how."""
        for axes in self._stopped:
            for watch in self._cells[axes]:
                same = verdict.entry == watch.entry and verdict.model == axes.model
                if same and verdict.harness == axes.harness:
                    return watch.applied_to(verdict)
        return verdict


def _axes(key: str) -> Axes:
    suite, _, model, harness, perturbation, _ = parts_of(key)
    return Axes(suite, model, harness, perturbation)
