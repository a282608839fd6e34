"""Parts of one plan put together into one run (J-16): what must be equal, and the merged ``run.json``.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.runs.describe import AXES

SUITE_FACTS = ("data", "prompt_sha256", "scorer_sha256", "version", "declared_sampling")
LOST = "lost records"
"""Why rows of a part are not there: they were planned and have no record, or one that cannot be read."""
MODEL_FACTS = ("served_id", "template_sha256", "digest", "sampling", "thinking", "system")


def objections(infos: Sequence[Mapping[str, Any]], keys: Sequence[Sequence[str]]) -> list[str]:
    """Sentences on everything that forbids to put these runs together; empty when they are parts of one plan.

    ``keys``: the record keys of each run.
    """
    found = []
    for info in infos:
        if "whole" not in info.get("plan", {}):
            found.append(f"{info['run_id']} is no part: it was not run with --bench-shard")
    if found:
        return found
    first = infos[0]
    for info in infos[1:]:
        found += _differences(first, info)
    shards = Counter((info["shard"]["index"], info["shard"]["count"]) for info in infos)
    if len({count for _, count in shards}) > 1:
        found.append(f"the plan was cut into different numbers of parts: {_shards(shards)}")
    found += [f"part {index}/{count} is given {n} times" for (index, count), n in shards.items() if n > 1]
    counted = Counter(key for part in keys for key in part)
    if doubled := [key for key, n in counted.items() if n > 1]:
        found.append(f"{len(doubled)} rows are in several parts, the first {doubled[0]}")
    return found


def _shards(shards: Counter[tuple[int, int]]) -> str:
    return ", ".join(f"{index}/{count}" for index, count in sorted(shards))


def _differences(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    names = f"{first['run_id']} and {other['run_id']}"
    found = []
    if first["plan"]["whole"]["sha256"] != other["plan"]["whole"]["sha256"]:
        found.append(f"{names} are parts of different plans")
    for table, facts in (("suites", SUITE_FACTS), ("models", MODEL_FACTS)):
        one = {entry["name"]: entry for entry in first.get(table, [])}
        for entry in other.get(table, []):
            before = one.get(entry["name"])
            if before is None:
                continue
            for fact in facts:
                if before.get(fact) != entry.get(fact):
                    found.append(f"{names}: {fact} of {entry['name']} differs")
    return found


def merged_info(infos: Sequence[Mapping[str, Any]], run_id: str, held: Sequence[int]) -> dict[str, Any]:
    """The ``run.json`` of the parts together; ``held``: how many rows have a record in each.

    Sessions follow one another, so a record's session number grows by the number of sessions before its part
    (:func:`session_offsets`). Complete when every part of the plan is there and complete, with all rows.
    """
    first = infos[0]
    whole = first["plan"]["whole"]
    planned: Counter[tuple[str, ...]] = Counter()
    for info in infos:
        for cell in info["plan"]["cells"]:
            planned[tuple(cell[axis] for axis in AXES)] += cell["planned"]
    tables = {
        name: list({entry["name"]: entry for info in infos for entry in info.get(name, [])}.values())
        for name in ("suites", "models")
    }
    gaps = {
        "missing part": whole["tasks"] - sum(planned.values()),
        LOST: sum(planned.values()) - sum(held),
    }
    gaps = {reason: count for reason, count in gaps.items() if count > 0}
    info = {
        **first,
        **tables,
        "run_id": run_id,
        "created_at": min(str(info["created_at"]) for info in infos),
        "plan": {
            "tasks": whole["tasks"],
            "requests": whole["tasks"],
            "sha256": whole["sha256"],
            "cells": whole["cells"],
        },
        "sessions": [session for info in infos for session in info.get("sessions", [])],
        "merged_from": [
            {"run_id": info["run_id"], "shard": info["shard"], "hardware": info.get("hardware")}
            for info in infos
        ],
        "warnings": [warning for info in infos for warning in info.get("warnings", [])],
        "complete": not gaps and all(info.get("complete") for info in infos),
        "not_asked": gaps,
    }
    for name in ("shard", "asked"):
        info.pop(name, None)
    return info


def session_offsets(infos: Sequence[Mapping[str, Any]]) -> list[int]:
    """By how much the session numbers of each part's records grow."""
    offsets, total = [], 0
    for info in infos:
        offsets.append(total)
        total += len(info.get("sessions", []))
    return offsets
