"""What a gate looks at of a run: :class:`SuiteResult`, made of ``run.json``, ``results.json`` and rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_benchkit.gates.metrics import SHARES, MetricValue, SuiteFacts, spec_of
from pytest_benchkit.score import COUNTED, Outcome
from pytest_benchkit.settings import LOOP_KILL, SAMPLING

ERRORS = (Outcome.HARNESS_ERROR, Outcome.CONTAMINATED)


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of a cell. ``excluded``: left out of the denominator, by outcome; ``by_repeat``: scored rows and
    errors of each repeat, when there are several."""

    collected: int
    scored: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0
    by_repeat: tuple[tuple[int, int], ...] = ()

    @property
    def errors(self) -> int:
        return sum(self.excluded.get(outcome, 0) for outcome in ERRORS)

    @property
    def skipped(self) -> int:
        return self.excluded.get(Outcome.SKIPPED, 0)


@dataclass(frozen=True)
class SuiteResult:
    """One suite on one set of axes. ``kind``: ``all``, ``sample``, ``head``, or ``ids`` when something else
    chose among the rows; ``asked``: rows the slice names; ``rows``: of the whole data."""

    suite: str
    variant: str | None
    model: str
    harness: str
    perturbation: str
    kind: str
    asked: int
    rows: int
    counts: Counts
    metrics: Mapping[str, MetricValue]
    repeats: int = 1
    params: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    mixed: tuple[str, ...] = ()
    stopped: str | None = None
    shard: Mapping[str, int] | None = None
    """Which part of a plan this is (``index`` of ``count``), for a run with ``--bench-shard``."""


def suite_result(
    entry: Mapping[str, Any],
    info: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]] = (),
    *,
    own: Mapping[str, str] | None = None,
    stopped: str | None = None,
) -> SuiteResult:
    """From an entry of ``results``. ``rows``: the records of its cell, for clusters and provenance;
    ``own``: the kinds of the suite's own metrics; ``stopped``: why the run ended early."""
    name, model = entry["suite"], entry["model"]
    suite_info = _named(info, "suites", name)
    selection = entry.get("selection", {})
    numbers = entry["metrics"]
    outcomes = entry.get("outcomes", {})
    rows_in_data = int(selection.get("rows") or selection.get("n") or numbers["planned"])
    excluded = {o.value: n for o in Outcome if o not in COUNTED and (n := outcomes.get(o.value, 0))}
    params, defaults = parameters(info, name, model)
    return SuiteResult(
        suite=name.partition(":")[0],
        variant=name.partition(":")[2] or None,
        model=model,
        harness=entry["harness"],
        perturbation="" if entry["perturbation"] == "none" else entry["perturbation"],
        kind=selection.get("kind", "all"),
        asked=int(selection.get("n", rows_in_data)),
        rows=rows_in_data,
        counts=Counts(
            int(numbers["planned"]),
            int(numbers["samples"]),
            excluded,
            int(numbers.get("not_asked", 0)),
            _sizes(entry.get("by_repeat", {})),
        ),
        metrics=_metrics(entry, rows, own or {}),
        repeats=int(selection.get("repeats") or info.get("axes", {}).get("repeats", 1)),
        params=params,
        defaults=defaults,
        fingerprints=fingerprints(suite_info),
        mixed=_mixed(info, name, model, rows),
        stopped=stopped,
        shard=info.get("shard"),
    )


def _named(info: Mapping[str, Any], table: str, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((x for x in info.get(table, []) if x.get("name") == name), {})
    return found


def _sizes(by_repeat: Mapping[str, Sequence[float]]) -> tuple[tuple[int, int], ...]:
    """Scored rows and errors of each repeat."""
    errors = [by_repeat.get(f"n_{outcome.value}", ()) for outcome in ERRORS]
    return tuple(
        (int(scored), sum(int(each[place]) for each in errors if each))
        for place, scored in enumerate(by_repeat.get("samples", ()))
    )


def _metrics(
    entry: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], own: Mapping[str, str]
) -> dict[str, MetricValue]:
    facts = SuiteFacts(entry["suite"], binary=entry.get("scoring", "binary") == "binary", own=own)
    samples = int(entry["metrics"]["samples"])
    n = min(samples, _clusters(rows) or samples)
    outcomes = entry.get("outcomes", {})
    numbers: dict[str, Any] = {
        "errors": outcomes.get(Outcome.HARNESS_ERROR, 0),
        "contaminated": outcomes.get(Outcome.CONTAMINATED, 0),
        "skipped": outcomes.get(Outcome.SKIPPED, 0),
    }
    if samples:
        numbers |= {f"{o.value}_rate": outcomes.get(o.value, 0) / samples for o in Outcome if o in COUNTED}
    numbers |= entry["metrics"]
    repeats: dict[str, Sequence[float]] = dict(entry.get("by_repeat", {}))
    if all(sizes := repeats.get("samples", ())):
        for name in (outcome.value for outcome in Outcome if f"n_{outcome.value}" in repeats):
            shares = [k / size for k, size in zip(repeats[f"n_{name}"], sizes, strict=True)]
            repeats.setdefault(f"{name}_rate", shares)
    found = {}
    for name, value in numbers.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            spec = spec_of(name, facts)
            kind = spec.kind if spec is not None else "composite"
            each = tuple(repeats.get(name, ()))
            found[name] = MetricValue(value, kind, n if kind in SHARES else None, each)
    for name, reason in entry.get("absent", {}).items():
        found[name] = MetricValue(None, absent_reason=str(reason))
    return found


def _clusters(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Number of groups of the counted rows, where rows have groups or were asked several times: their scores
    hang together."""
    scored = [row for row in rows if row["outcome"] in COUNTED]
    if not any("group" in row or row["repeat"] for row in scored):
        return None
    return len({row.get("group", row["task_id"]) for row in scored})


def parameters(info: Mapping[str, Any], suite: str, model: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters in force and their defaults, by the names that entries pin (:mod:`.params`)."""
    suite_info, model_info = _named(info, "suites", suite), _named(info, "models", model)
    declared = {f"sampling.{name}": value for name, value in suite_info.get("declared_sampling", {}).items()}
    used = dict(declared)
    for deviation in suite_info.get("deviations", []):
        if deviation.get("model") == model and deviation.get("name") in SAMPLING:
            used[f"sampling.{deviation['name']}"] = deviation.get("used")
    sampling = model_info.get("sampling", {})
    used["sampling.seed"] = sampling.get("seed")
    for name in ("thinking", "system"):
        used[name] = model_info.get(name)
    used["max_tokens"] = sampling.get("max_tokens")
    used["loop_kill"] = model_info.get("loop_kill", LOOP_KILL)  # older runs ended none
    return used, {**declared, "thinking": "default", "system": None, "loop_kill": LOOP_KILL}


def fingerprints(suite_info: Mapping[str, Any]) -> dict[str, str]:
    """``dataset``: hash of the rows. ``suite``: hash of its prompts, source file, version and our version."""
    found = {}
    if (rows := suite_info.get("data", {}).get("sha256")) is not None:
        found["dataset"] = str(rows)
    parts = [suite_info.get(name) for name in ("prompt_sha256", "scorer_sha256")]
    if all(parts):
        found["suite"] = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
    return found


def _mixed(
    info: Mapping[str, Any], suite: str, model: str, rows: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Sentences on counted rows that are older than the last change of what is measured."""
    found = []
    for kind, what in (
        ("changed", "changed what is measured"),
        ("moved", "asked a server at another address"),
    ):
        sessions = [
            number
            for number, session in enumerate(info.get("sessions", []))
            if {suite, model} & set(session.get(kind, ()))
        ]
        if not sessions:
            continue
        ages = [row.get("session", 0) >= sessions[-1] for row in rows if row["outcome"] in COUNTED]
        old = ages.count(False)
        if old and (kind == "changed" or any(ages)):
            found.append(f"{old} rows are from before session {sessions[-1] + 1}, which {what}")
    return tuple(found)
