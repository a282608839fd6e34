"""``benchkit gate explain``: what an entry demands, and what a run must be launched with. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pytest_benchkit.gates import sampling
from pytest_benchkit.gates.bound_rules import tasks_of
from pytest_benchkit.gates.bounds import thresholds
from pytest_benchkit.gates.metrics import SHARES, SuiteFacts, spec_of
from pytest_benchkit.gates.params import OTHERS
from pytest_benchkit.gates.problems import ordered, render
from pytest_benchkit.gates.runs import problems_of
from pytest_benchkit.gates.schema import Bound, Entry
from pytest_benchkit.gates.tree import Tree

FLAGS = {name: f"--bench-{name.replace('_', '-')}" for name in OTHERS}


def explain(tree: Tree, entry: Entry, suite: SuiteFacts | None) -> list[str]:
    """Lines for people."""
    n = tasks_of(entry, suite)
    found = [
        f"{entry.gate} on {entry.hardware} for {entry.checkpoint} ({entry.quant}): {entry.status}"
        + (", the default" if entry.default else ""),
        f"  at {entry.path}:{entry.line}",
        f"  rows: {entry.tasks or 'all'} of {entry.suite_key}" + (f", n = {n}" if n is not None else ""),
    ]
    found += [f"  note: {line}" for line in entry.note.strip().splitlines()]
    for metric, bound in sorted((entry.metrics or {}).items()):
        found += [f"  {line}" for line in _bound(metric, bound, n, suite)]
    found += [f"  {render(problem)}" for problem in ordered(problems_of(tree, entry))]
    found.append(f"  run: {command(entry, _model_name(tree, entry))}")
    return found


def _bound(metric: str, bound: Bound, n: int | None, suite: SuiteFacts | None) -> Iterator[str]:
    written = ", ".join(f"{name} {value}" for name, value in bound.plain().items())
    low, high = thresholds(bound)
    effective = [f"{side} {float(t):g}" for side, t in ((">=", low), ("<=", high)) if t is not None]
    yield f"{metric}: {written}; in force: {' and '.join(effective)}"
    spec = spec_of(metric, suite)
    if spec is None or spec.kind not in SHARES or n is None:
        return
    for side, t in (("min", low), ("max", high)):
        if t is None or not 0 < t < 1:
            continue
        level = t if side == "min" else 1 - t
        if bound.confidence is None:
            count = -(-(level * n).numerator // (level * n).denominator)
            yield f"  {side}: {count} of {n} {'right' if side == 'min' else 'without'} are enough"
            continue
        needed = sampling.needed_count(n, level, float(bound.confidence))
        words = f"{needed} of {n}" if needed is not None else f"no result on {n} tasks is enough"
        yield f"  {side} at confidence {bound.confidence}: {words}"


def _model_name(tree: Tree, entry: Entry) -> str:
    """A name that servers use for the checkpoint, where its MODEL.toml tells one; else the checkpoint."""
    facts = tree.models.get((entry.hardware, entry.model))
    names = facts.match_names if facts is not None else ()
    return next((name for name in names if not any(c in name for c in "*?[")), entry.checkpoint)


def command(entry: Entry, model: str) -> str:
    """The full command line of a run that this entry judges, the model under this name."""
    tasks = f":{entry.tasks}" if entry.tasks else ""
    words = ["pytest", f"--bench={entry.suite_key}{tasks}", f"--bench-model={model}"]
    for name, value in sorted(entry.param_overrides.items()):
        option = FLAGS.get(name) or "--bench-" + name.removeprefix("sampling.").replace("_", "-")
        words.append(f"{option}={value}")
    words += [f"--bench-hardware={entry.hardware}", "--bench-gate=required"]
    return shlex.join(words)
