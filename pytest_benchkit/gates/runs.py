"""All verdicts on one run: which gates it concerns, whose subject it is, and each judgement. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_benchkit.gates.baseline import Reason, resolve
from pytest_benchkit.gates.judge import judge
from pytest_benchkit.gates.problems import Problem
from pytest_benchkit.gates.result import SuiteResult, suite_result
from pytest_benchkit.gates.schema import Entry
from pytest_benchkit.gates.subject import checkpoint_of
from pytest_benchkit.gates.tree import Tree
from pytest_benchkit.gates.verdict import GateVerdict


@dataclass(frozen=True)
class Run:
    """What was measured. ``own``: kinds of each suite's own metrics, by suite key."""

    info: Mapping[str, Any]
    results: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    stopped: str | None = None

    def suites(self) -> list[SuiteResult]:
        cells: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for row in self.rows:
            key = (row["suite"], row["model"], row["harness"], row["perturbation"])
            cells.setdefault(key, []).append(row)
        found = []
        for entry in self.results["results"]:
            key = tuple(entry[axis] for axis in ("suite", "model", "harness", "perturbation"))
            found.append(
                suite_result(
                    entry,
                    self.info,
                    cells.get(key, []),
                    own=self.own.get(entry["suite"].partition(":")[0]),
                    stopped=self.stopped,
                )
            )
        return found


@dataclass(frozen=True)
class Subject:
    """``hardware``: the class of the run, or why there is none; ``by_model``: of a model that is served
    elsewhere. ``checkpoints``: ``--bench-checkpoint`` by model name, ``None`` for every model."""

    hardware: str | Reason
    checkpoints: Mapping[str | None, str] = field(default_factory=dict)
    by_model: Mapping[str, str | Reason] = field(default_factory=dict)

    def hardware_of(self, model: str) -> str | Reason:
        return self.by_model.get(model, self.hardware)


def gates_of(tree: Tree, suites: Iterable[str]) -> list[str]:
    """The gates whose suite is one of these, in order of id."""
    wanted = set(suites)
    return sorted({entry.gate for entry in tree.entries if entry.gate and entry.suite_key in wanted})


def judge_run(tree: Tree, run: Run, subject: Subject, required: Sequence[str] = ()) -> list[GateVerdict]:
    """Each gate whose suite has rows, once per model; and those that are required by name without rows."""
    results = run.suites()
    verdicts = []
    for gate in gates_of(tree, {result.suite for result in results}):
        suites = {entry.suite_key for entry in tree.entries if entry.gate == gate}
        for model in dict.fromkeys(result.model for result in results if result.suite in suites):
            mine = [result for result in results if result.model == model and result.suite in suites]
            verdicts.append(_judge_one(tree, gate, mine, subject))
    judged = {verdict.gate for verdict in verdicts}
    for gate in dict.fromkeys(gate for gate in required if gate not in judged):
        reason = Reason(
            "nothing-judged", f"{gate} is required and no row of it was collected", "run its suite"
        )
        verdicts.append(GateVerdict(gate, gate, "", "not-judged", reasons=(reason,)))
    return verdicts


def entry_for(tree: Tree, gate: str, model: str, subject: Subject) -> tuple[Entry, str] | Reason:
    """The entry that holds for a model, and how its checkpoint was told; or why there is none."""
    hardware = subject.hardware_of(model)
    if isinstance(hardware, Reason):
        return hardware
    name, source = model, ""
    if hardware in tree.hardware:
        claim = checkpoint_of(tree, hardware, gate, model, subject.checkpoints)
        if isinstance(claim, Reason):
            if any(e.gate == gate and e.hardware == hardware for e in tree.entries):
                return claim
        else:
            name, source = claim.checkpoint, claim.source
    found = resolve(tree, gate, hardware, name)
    return found if isinstance(found, Reason) else (found, source)


def _judge_one(tree: Tree, gate: str, results: Sequence[SuiteResult], subject: Subject) -> GateVerdict:
    first = results[0]
    found = entry_for(tree, gate, first.model, subject)
    if isinstance(found, Reason):
        hardware = subject.hardware_of(first.model)
        reasons: tuple[Reason, ...] = (found,)
        if found.code != "unmeasured":
            reasons = (Reason("no-subject", "there is no entry for what was measured", found.remedy), found)
        return GateVerdict(
            gate,
            first.suite,
            first.model,
            "not-judged",
            hardware if isinstance(hardware, str) else None,
            reasons=reasons,
            planned=first.counts.collected,
            counts=first.counts,
        )
    entry, source = found
    return judge(_matching(results, entry), entry, problems_of(tree, entry), source)


def _matching(results: Sequence[SuiteResult], entry: Entry) -> SuiteResult:
    """Of several results of the suite the one that the entry is about, else the first."""

    def fit(result: SuiteResult) -> tuple[bool, bool, bool]:
        return (
            result.suite == entry.suite_key,
            (result.harness, result.perturbation) == (entry.harness, entry.perturbation),
            result.variant == entry.wanted[0],
        )

    return max(results, key=fit)


def problems_of(tree: Tree, entry: Entry) -> list[Problem]:
    """Lint of an entry, of its file and of its baseline."""
    return [
        *tree.of_file.get(entry.path, ()),
        *tree.of_entry.get((entry.path, entry.position), ()),
        *tree.of_baseline.get((entry.hardware, entry.gate), ()),
    ]
