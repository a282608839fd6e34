"""Does a list of calls do what the row asks for: count, name, parameters, types, values.

Source of the steps: ``bfcl_eval`` ``ast_checker.py``, 2026.3.23 (gorilla
``berkeley-function-call-leaderboard`` @ 6ea57973c7a6097fd7c5915698c54c17c5b1b6c8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_benchkit.datasets.readers_bfcl import language_of
from pytest_benchkit.scoring.bfcl import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.scoring.bfcl.calls import Call

STEPS = (
    "wrong-count",
    "wrong-name",
    "missing-required",
    "unexpected-param",
    "wrong-type",
    "wrong-value",
    "missing-optional",
)
"""What a call can fail at, in the order in which it is looked at."""


class Verdict(NamedTuple):
    """``fault`` is one of :data:`STEPS`, ``None`` when the calls are right; ``detail`` says of what.
    ``greedy_miss``: the calls could be matched, but not first come, first served as upstream does."""

    fault: str | None
    detail: str = ""
    greedy_miss: bool = False


RIGHT = Verdict(None)


def folded(name: str) -> str:
    """A function's name as it is asked for: function calling allows no full stop in it."""
    return name.replace(".", "_")


def check(
    calls: Sequence[Call],
    functions: Sequence[Mapping[str, Any]],
    golds: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]],
    subset: str,
) -> Verdict:
    """The verdict on decoded calls. ``functions`` and ``golds`` are upstream's, unchanged. Total."""
    if len(calls) != len(golds):
        return Verdict("wrong-count", f"{len(calls)} calls, expected {len(golds)}")
    language = language_of(subset)
    schemas = {function["name"]: function for function in functions}
    wanted = [(schemas[name], allowed) for gold in golds for name, allowed in gold.items()]
    if "parallel" not in subset:
        return one(calls[0], *wanted[0], language)
    return _unordered(calls, wanted, language)


def one(
    call: Call, function: Mapping[str, Any], allowed: Mapping[str, Sequence[Any]], language: str
) -> Verdict:
    """The verdict on one call that should be to ``function`` with one of the allowed values each."""
    if call.name != (name := folded(function["name"])):
        return Verdict("wrong-name", f"{call.name[:60]} is not {name}")
    schema = function["parameters"]
    for required in schema["required"]:
        if required not in call.arguments:
            return Verdict("missing-required", required)
    for given, value in call.arguments.items():
        if given not in schema["properties"] or given not in allowed:
            return Verdict("unexpected-param", given)
        if fault := values.fault(value, schema["properties"][given], allowed[given], language):
            return Verdict(fault, given)
    for optional, options in allowed.items():
        if optional not in call.arguments and "" not in options:
            return Verdict("missing-optional", optional)
    return RIGHT


def _unordered(
    calls: Sequence[Call],
    wanted: Sequence[tuple[Mapping[str, Any], Mapping[str, Sequence[Any]]]],
    language: str,
) -> Verdict:
    """For each expected call in order the first unused one that passes; the fault told is the one that
    came furthest for the first expected call without a match."""
    used: set[int] = set()
    for gold in wanted:
        row = [one(call, *gold, language) for call in calls]
        found = next((n for n, verdict in enumerate(row) if n not in used and not verdict.fault), None)
        if found is None:
            near = [verdict for n, verdict in enumerate(row) if n not in used and verdict.fault]
            closest = max(near, key=lambda verdict: STEPS.index(verdict.fault or ""))
            if all(verdict.fault for verdict in row):
                return closest
            fits = [[n for n, call in enumerate(calls) if not one(call, *g, language).fault] for g in wanted]
            return closest._replace(greedy_miss=_matching_exists(fits))
        used.add(found)
    return RIGHT


def _matching_exists(fits: Sequence[Sequence[int]]) -> bool:
    """Whether every row can have a column of its own (augmenting paths; rows are few)."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in fits[row]:
            if column not in tried:
                tried.add(column)
                if column not in owner or place(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))
