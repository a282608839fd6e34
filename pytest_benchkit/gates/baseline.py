"""Baselines: the measured entries of a gate by class and checkpoint, and which of them a subject means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_benchkit.gates.problems import Sink
from pytest_benchkit.gates.schema import Entry

if TYPE_CHECKING:
    from pytest_benchkit.gates.tree import Tree


@dataclass
class ClassBaseline:
    """Measured entries of one gate on one class, by checkpoint; ``default`` names one of them."""

    default: str | None = None
    models: dict[str, Entry] = field(default_factory=dict)


Baseline = dict[str, ClassBaseline]
"""By class; a class without measured entries of the gate does not appear."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not judged: a code, what is so, and what to do."""

    code: str
    message: str
    remedy: str

    def plain(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "remedy": self.remedy}


def assemble(tree: Tree, gate: str) -> Baseline:
    """The measured entries of a gate. Of two for one checkpoint the first stands (it is an error)."""
    found: Baseline = {}
    for entry in tree.entries:
        if entry.gate == gate and entry.measured:
            place = found.setdefault(entry.hardware, ClassBaseline())
            place.models.setdefault(entry.checkpoint, entry)
            if entry.default and place.default is None:
                place.default = entry.checkpoint
    return found


def resolve(tree: Tree, gate: str, hardware: str, checkpoint: str | None) -> Entry | Reason:
    """The entry of the asked class and checkpoint (``None``: the default), never another subject's."""
    if hardware not in tree.hardware:
        ids = ", ".join(tree.hardware) or "none"
        near = difflib.get_close_matches(hardware, tree.hardware, n=1, cutoff=0.4)
        remedy = f"did you mean {near[0]}" if near else f"add {tree.shown}/{hardware}/HARDWARE.toml"
        return Reason(
            "hardware-unregistered", f"the class {hardware} is not in the tree; registered: {ids}", remedy
        )
    mine = [entry for entry in tree.entries if entry.gate == gate and entry.hardware == hardware]
    if not mine:
        others = sorted({entry.hardware for entry in tree.entries if entry.gate == gate and entry.measured})
        words = f"classes that have one: {', '.join(others) or 'none'}"
        return Reason(
            "no-baseline-hardware", f"{gate} has no entry on {hardware}; {words}", "measure it and calibrate"
        )
    place = assemble(tree, gate).get(hardware)
    if place is not None and checkpoint is None and place.default is not None:
        return place.models[place.default]
    if place is not None and checkpoint in place.models:
        return place.models[checkpoint]
    waiting = [e for e in mine if not e.measured and checkpoint in (None, e.checkpoint)]
    if waiting and (place is None or checkpoint is not None):
        note = waiting[0].note.strip().splitlines()
        words = f": {note[0]}" if note else ""
        return Reason(
            "unmeasured",
            f"{gate} on {hardware} has a protocol and no bounds yet{words}",
            "run it, then benchkit gate calibrate",
        )
    known = ", ".join(sorted(place.models if place else {e.checkpoint for e in mine})) or "none"
    asked = checkpoint or "the default"
    return Reason(
        "no-baseline-checkpoint",
        f"{gate} on {hardware} has no entry for {asked}; it has: {known}",
        "name one with --bench-checkpoint, or calibrate this one",
    )


# ---------------------------------------------------------------------- rules of the whole tree


def tree_rules(tree: Tree) -> None:
    """T1-T4 and the partition of gates by ``GATES.toml``."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in tree.entries:
        if entry.gate:
            groups.setdefault((entry.hardware, entry.gate), []).append(entry)
    for key, entries in groups.items():
        sink = Sink(f"{tree.shown}/{key[0]}/HARDWARE.toml", tree.compat)
        sink.gate = key[1]
        _duplicates(entries, sink)
        _defaults(entries, sink)
        if sink.found:
            tree.of_baseline[key] = sink.found
    _policy(tree)


def _place(entry: Entry) -> str:
    return f"{entry.path}:{entry.line}" if entry.line else entry.path


def _duplicates(entries: Iterable[Entry], sink: Sink) -> None:
    seen: dict[str, Entry] = {}
    for entry in entries:
        if not entry.checkpoint:
            continue
        first = seen.setdefault(entry.checkpoint, entry)
        if first is entry:
            continue
        sink.checkpoint = entry.checkpoint
        soft = sink.compat and not (first.measured and entry.measured)
        sink.add(
            "duplicate-checkpoint",
            f"{entry.checkpoint} has an entry at {_place(first)} and one at {_place(entry)}",
            "keep one: thresholds are keyed by checkpoint",
            severity="warning" if soft else None,
        )
        sink.checkpoint = None


def _defaults(entries: Iterable[Entry], sink: Sink) -> None:
    measured = [entry for entry in entries if entry.measured]
    defaults = [entry for entry in measured if entry.default]
    if len(defaults) > 1:
        names = " and ".join(f"{entry.checkpoint} ({entry.model})" for entry in defaults)
        places = ", ".join(sorted({entry.model for entry in defaults}))
        sink.add(
            "two-defaults", f"{names} are both the default; directories: {places}", "keep one default = true"
        )
    elif measured and not defaults:
        names = ", ".join(entry.checkpoint for entry in measured)
        sink.add("no-default", f"none of {names} is the default", "write default = true in one of them")


def _policy(tree: Tree) -> None:
    policy = tree.policy
    if not policy.present:
        return
    sink = Sink(policy.path, tree.compat)
    listed = [r.gate for r in policy.required] + [*policy.candidates, *policy.not_required]
    for gate in sorted({gate for gate in listed if listed.count(gate) > 1}):
        sink.gate = gate
        sink.add("gate-listed-twice", f"{gate} is listed {listed.count(gate)} times", "list it once")
    for gate in tree.gates:
        if gate not in listed:
            sink.gate = gate
            sink.add(
                "gate-unlisted",
                f"{gate} has entries and is not listed",
                "add it to required, candidates or not_required",
            )
    for required in policy.required:
        sink.gate = required.gate
        baseline = assemble(tree, required.gate)
        every = {entry.hardware for entry in tree.entries if entry.gate == required.gate}
        if required.hardware == "any":
            demanded = [] if baseline else ["any class"]
        else:
            asked = list(tree.hardware) if required.hardware == "all" else list(required.hardware)
            demanded = [hardware for hardware in asked if hardware not in baseline]
        for hardware in demanded:
            has_entry = bool(every) if hardware == "any class" else hardware in every
            code = "required-unmeasured" if has_entry else "required-unknown"
            words = "has only unmeasured entries" if has_entry else "has no entry"
            sink.add(
                code,
                f"{required.gate} is required and {words} on {hardware}",
                "measure it, or do not require it",
            )
    if sink.found:
        tree.of_file.setdefault(policy.path, []).extend(sink.found)
