"""Repeated runs of one subject, read from their folders, and whether a bound may be cut from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.calibrate import LEAST_RUNS, Proposal, propose
from pytest_benchkit.gates.metrics import SuiteFacts, spec_of
from pytest_benchkit.gates.params import FREE
from pytest_benchkit.gates.result import SuiteResult, suite_result
from pytest_benchkit.gates.schema import Bound

DEFAULT_METRICS = ("score", "samples")


@dataclass(frozen=True)
class Measured:
    """One run of the suite. ``replies``: digest of all answers; ``boot``: which server start served it."""

    run_id: str
    result: SuiteResult
    complete: bool
    simulated: bool
    replay: bool
    replies: str
    boot: str
    hardware: Mapping[str, Any]

    @property
    def temperature(self) -> float:
        return float(self.result.params.get("sampling.temperature") or 0.0)


def read_run(path: Path, suite: str, variant: str | None, own: Mapping[str, str]) -> list[Measured]:
    """The results of that suite in a run folder, one per model and axes.

    Raises :class:`~pytest_benchkit.errors.StoreError` for a folder that is no run.
    """
    from pytest_benchkit.runs.results import build
    from pytest_benchkit.runs.store import iter_records, read_info, read_ledger

    info = read_info(path)
    rows = list(read_ledger(path).rows.values())
    name = f"{suite}:{variant}" if variant else suite
    own_metrics = _own_metrics(suite, variant)
    results = build(info, rows, {name: own_metrics} if own_metrics else {})
    answers: dict[str, str] = {
        r["key"]: str(r.get("reply", {}).get("answer", "")) for r in iter_records(path)
    }
    found = []
    for entry in results["results"]:
        if entry["suite"] != name:
            continue
        axes = ("suite", "model", "harness", "perturbation")
        mine = [row for row in rows if all(row[axis] == entry[axis] for axis in axes)]
        said = "\n".join(f"{row['key']}\0{answers.get(row['key'], '')}" for row in sorted(mine, key=_key))
        found.append(
            Measured(
                str(info.get("run_id", path.name)),
                suite_result(entry, info, mine, own=own),
                bool(info.get("complete")),
                bool(entry.get("simulated")),
                info.get("replay_of") is not None,
                hashlib.sha256(said.encode()).hexdigest(),
                _boot(info, entry["model"]),
                {key: info.get("hardware", {}).get(key) for key in ("os", "cpu", "cores")},
            )
        )
    return found


def _key(row: Mapping[str, Any]) -> str:
    return str(row["key"])


def _own_metrics(suite: str, variant: str | None) -> Any:
    from pytest_benchkit.errors import SuiteError
    from pytest_benchkit.registry import find_suite

    try:
        return find_suite(suite)(variant).metrics
    except SuiteError:
        return None  # a project's own suite: the engine's metrics are there all the same


def _boot(info: Mapping[str, Any], model: str) -> str:
    """A server that we start lives for one run; of another's we know no start."""
    facts: Mapping[str, Any] = next((m for m in info.get("models", []) if m.get("name") == model), {})
    endpoints = facts.get("endpoints") or []
    return "unknown" if endpoints else str(info.get("run_id"))


def refusals(runs: Sequence[Measured]) -> list[Reason]:
    """Everything that forbids to take these runs as repetitions of one measurement."""
    found = []
    if len(runs) < LEAST_RUNS:
        words = f"{len(runs)} runs; a spread takes at least {LEAST_RUNS}"
        found.append(Reason("too-few-runs", words, "measure more runs"))
    for run in runs:
        counts = run.result.counts
        if not run.complete or counts.unasked or counts.errors:
            words = f"{run.run_id} is not complete: {counts.unasked} rows not asked, {counts.errors} errors"
            found.append(Reason("run-incomplete", words, "go on with --bench-resume"))
    found += [_differs(name, runs, value) for name, value in _identity(runs) if len(set(value)) > 1]
    ids = [run.run_id for run in runs]
    for run_id in sorted({run_id for run_id in ids if ids.count(run_id) > 1}):
        found.append(
            Reason("not-independent", f"{run_id} is named {ids.count(run_id)} times", "name each run once")
        )
    for run in runs:
        if run.replay:
            words = f"{run.run_id} scores stored replies of another run"
            found.append(Reason("not-independent", words, "measure with the model"))
    if any(run.temperature > 0 for run in runs):
        twins = _twins(runs)
        found += [
            Reason("not-independent", f"{a} and {b} hold identical replies", "vary the seed (--bench-seed)")
            for a, b in twins
        ]
    return found


def _identity(runs: Sequence[Measured]) -> Iterable[tuple[str, list[str]]]:
    yield "model", [run.result.model for run in runs]
    yield "harness", [f"{run.result.harness}/{run.result.perturbation}" for run in runs]
    yield "rows", [f"{run.result.kind} {run.result.asked}" for run in runs]
    yield "machine", [str(dict(run.hardware)) for run in runs]
    names = sorted({name for run in runs for name in run.result.params})
    for name in names:
        if name.removeprefix("sampling.") not in FREE:
            yield name, [repr(run.result.params.get(name)) for run in runs]
    for name in ("dataset", "suite"):
        yield f"{name} fingerprint", [run.result.fingerprints.get(name, "unknown") for run in runs]


def _differs(name: str, runs: Sequence[Measured], values: Sequence[str]) -> Reason:
    other = next(place for place, value in enumerate(values) if value != values[0])
    words = f"{name} is {values[0][:40]} in {runs[0].run_id} and {values[other][:40]} in {runs[other].run_id}"
    return Reason("different-subject", words, "calibrate from runs that differ in their seed alone")


def _twins(runs: Sequence[Measured]) -> list[tuple[str, str]]:
    seen: dict[str, str] = {}
    found = []
    for run in runs:
        first = seen.setdefault(run.replies, run.run_id)
        if first != run.run_id:
            found.append((first, run.run_id))
    return found


def proposals(
    runs: Sequence[Measured],
    metrics: Sequence[str],
    suite: SuiteFacts | None,
    *,
    false_alarm: float,
    step: Decimal | None,
    existing: Mapping[str, Bound],
    allow_one_boot: bool,
) -> list[Proposal]:
    """What the runs say about each metric."""
    one_boot = len({run.boot for run in runs}) == 1 and len(runs) > 1
    found = []
    for metric in metrics or DEFAULT_METRICS:
        spec = spec_of(metric, suite)
        values = [run.result.metrics.get(metric) for run in runs]
        numbers = [value.value for value in values if value is not None and value.value is not None]
        if spec is None or len(numbers) < len(runs):
            absent = next(
                (v.absent_reason for v in values if v is not None and v.absent_reason), "no such metric"
            )
            reason = Reason(
                "metric-missing", f"a run has no {metric}: {absent}", "see docs/gates.md for the names"
            )
            found.append(Proposal(metric, len(numbers), 0.0, 0.0, 0.0, 0.0, None, refusal=reason))
            continue
        found.append(
            propose(
                metric,
                numbers,
                spec,
                n=values[0].n if values[0] is not None else None,
                false_alarm=false_alarm,
                step=step,
                existing=existing.get(metric),
                one_boot=one_boot,
                allow_one_boot=allow_one_boot,
            )
        )
    return found
