"""Judging a suite result by an entry: the ladder of what makes it *not judged*, then every bound. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.bounds import BoundResult, compare, exact
from pytest_benchkit.gates.metrics import SHARES, MetricValue
from pytest_benchkit.gates.params import differences
from pytest_benchkit.gates.problems import Problem, errors
from pytest_benchkit.gates.result import Counts, SuiteResult
from pytest_benchkit.gates.schema import Bound, Entry
from pytest_benchkit.gates.verdict import GateVerdict


def judge(
    result: SuiteResult, entry: Entry, problems: Sequence[Problem] = (), claim: str | None = None
) -> GateVerdict:
    """The verdict on one result. ``problems``: lint of the entry and its baseline."""
    reasons = tuple(_ladder(result, entry, problems))
    counted = result.counts.errors if entry.allow_errors else 0  # more than allowed: not judged anyway
    bounds = tuple(
        _bound(name, result.metrics.get(name), bound, entry, result.counts)
        for name, bound in sorted((entry.metrics or {}).items())
    )
    notes = (f"errors-counted-against: {counted} errors count as misses",) if counted else ()
    ok = bool(bounds) and all(bound.ok for bound in bounds)
    return GateVerdict(
        gate=entry.gate,
        suite=entry.suite_key,
        model=result.model,
        verdict="not-judged" if reasons else "pass" if ok else "fail",
        hardware=entry.hardware,
        checkpoint=entry.checkpoint,
        claim=claim,
        harness=result.harness,
        perturbation=result.perturbation,
        reasons=reasons,
        bounds=bounds,
        notes=notes,
        planned=planned(result, entry),
        counts=result.counts,
        entry=entry,
    )


def protocol_mismatches(result: SuiteResult, entry: Entry) -> list[Reason]:
    """Why a run did not follow the entry's protocol: axes, slice, repeats, pins, rows."""
    return [*_axes(result, entry), *_pins(result, entry), *_counts(result, entry)]


def planned(result: SuiteResult, entry: Entry) -> int:
    """Rows of the entry's slice times repeats, whatever was collected."""
    count = entry.wanted[2]
    rows = result.rows if count is None else min(count, result.rows)
    return rows * entry.repeats


NO_SELECTION = "run without -k, -m, node ids, --lf and the like"


def _ladder(result: SuiteResult, entry: Entry, problems: Sequence[Problem]) -> Iterator[Reason]:
    """Every hit, in order."""
    if bad := errors(problems):
        words = f"{len(bad)} lint errors, the first [{bad[0].code}] {bad[0].message}"
        yield Reason("kernels-invalid", words, "benchkit gate validate shows all")
    if not entry.measured or not entry.metrics:
        note = entry.note.strip().splitlines()
        words = "the entry states a protocol and no bounds yet" + (f": {note[0]}" if note else "")
        yield Reason("unmeasured", words, "measure it with benchkit gate calibrate RUN…")
    yield from _axes(result, entry)
    yield from _pins(result, entry)
    for name, wanted in sorted(entry.fingerprints.items()):
        if result.fingerprints.get(name) != wanted:
            found = result.fingerprints.get(name, "unknown")
            yield Reason(
                "fingerprint-mismatch",
                f"{name} is pinned to {wanted[:12]}…, the run had {found[:12]}…",
                "measure with the pinned one, or calibrate again",
            )
    yield from _counts(result, entry)
    for words in result.mixed:
        yield Reason("mixed-provenance", words, "measure anew in one run")


def _axes(result: SuiteResult, entry: Entry) -> Iterator[Reason]:
    for axis in ("harness", "perturbation"):
        found, wanted = getattr(result, axis), getattr(entry, axis)
        if found != wanted:
            yield Reason(
                "axes-mismatch",
                f"{axis} was {found or 'none'}, the entry is about {wanted or 'none'}",
                f"run with {axis} {wanted or 'none'}",
            )
    variant, kind, count = entry.wanted
    if count is not None and count >= result.rows:
        kind = "all"
    same = result.kind == "ids" or (kind == result.kind and (kind == "all" or result.asked == count))
    if variant != result.variant or not same:
        shown = ":".join(part for part in (result.suite, entry.tasks) if part)
        yield Reason(
            "slice-mismatch", f"the rows asked are {_slice(result)}, not {shown}", f"run with --bench={shown}"
        )
    if result.repeats != entry.repeats:
        yield Reason(
            "repeats-mismatch",
            f"{result.repeats} repeats, the entry asks for {entry.repeats}",
            "run as the entry says",
        )


def _slice(result: SuiteResult) -> str:
    parts = [result.suite, result.variant or ""]
    if result.kind in ("sample", "head"):
        parts += ["head" if result.kind == "head" else "", str(result.asked)]
    return ":".join(part for part in parts if part)


def _pins(result: SuiteResult, entry: Entry) -> Iterator[Reason]:
    found = differences(entry.param_overrides, result.params, result.defaults)
    if entry.serve_overrides or entry.serve_env or entry.recipe:
        found.append(("serve-unproven", "the entry pins how the model is served, and the server is not ours"))
    if found:
        words = "; ".join(f"{code}: {sentence}" for code, sentence in found)
        yield Reason("pins-mismatch", words, "run with the pinned values (benchkit gate explain shows them)")


def _counts(result: SuiteResult, entry: Entry) -> Iterator[Reason]:
    counts, wanted = result.counts, planned(result, entry)
    if result.kind == "ids" or counts.collected != wanted:
        words, remedy = f"{counts.collected} of {wanted} planned rows were collected", NO_SELECTION
        if (part := result.shard) is not None:
            words += f", this is part {part['index']} of {part['count']}"
            remedy = "put the parts together with benchkit merge, then benchkit gate judge"
        yield Reason("deselected", words, remedy)
    if counts.unasked > 0 or result.stopped is not None:
        why = f" ({result.stopped})" if result.stopped else ""
        yield Reason(
            "incomplete",
            f"{counts.unasked} of {counts.collected} rows have no record{why}",
            "go on with --bench-resume",
        )
    if counts.errors > entry.allow_errors:
        yield Reason(
            "error-budget",
            f"{counts.errors} rows ended in an error, {entry.allow_errors} are allowed",
            "mend the cause and go on with --bench-resume",
        )
    if counts.skipped > entry.allow_skipped:
        yield Reason(
            "skip-budget",
            f"{counts.skipped} rows were skipped, {entry.allow_skipped} are allowed",
            "run where every row can run, or allow them in the entry",
        )


def _bound(name: str, value: MetricValue | None, bound: Bound, entry: Entry, counts: Counts) -> BoundResult:
    """A bound with allowed errors counted against it: as 0 for the floor, as 1 for the ceiling."""
    counted = counts.errors if entry.allow_errors else 0
    if not counted or value is None or value.value is None or not value.n or value.kind not in SHARES:
        return compare(name, value, bound, entry.combine)
    sides: Mapping[int, Bound] = {0: replace(bound, max=None), 1: replace(bound, min=None)}
    results = [
        compare(name, _with_errors(value, counts, as_), one, entry.combine)
        for as_, one in sides.items()
        if one.min is not None or one.max is not None
    ]
    chosen = next((result for result in results if not result.ok), results[0] if results else None)
    if chosen is None:
        return compare(name, value, bound, entry.combine)
    return replace(chosen, bound=bound)


def _with_errors(value: MetricValue, counts: Counts, as_: int) -> MetricValue:
    """The share with the errors among its rows, each counted ``as_`` 0 or 1; so in every repeat.

    Where rows hang together, ``n`` stays the number of their clusters: an error is a row, not a cluster.
    """
    n = value.n or 0
    each = value.by_repeat
    if len(each) == len(counts.by_repeat):
        each = tuple(_widened(x, *sizes, as_) for x, sizes in zip(each, counts.by_repeat, strict=True))
    return replace(
        value,
        value=_widened(value.value or 0, counts.scored, counts.errors, as_),
        n=n + counts.errors if n == counts.scored else n,
        by_repeat=each,
    )


def _widened(share: float, rows: int, errors: int, as_: int) -> float:
    """A share of ``rows`` with ``errors`` more of them, each counted ``as_`` 0 or 1."""
    if not rows + errors or not math.isfinite(share):
        return share
    total = exact(share) * rows
    nearest = round(total)
    if abs(total - nearest) < Fraction(1, 10**9):
        total = Fraction(nearest)  # the share was a count divided by the rows
    return float((total + as_ * errors) / (rows + errors))
