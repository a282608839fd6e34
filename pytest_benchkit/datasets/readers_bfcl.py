"""The reader of the Berkeley Function Calling Leaderboard, and the tables its rows follow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.readers import slug
from pytest_benchkit.datasets.tables import json_lines
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Row = Mapping[str, Any]

LIVE_RELEVANCE = "live_relevance"
SUBSETS = {
    "irrelevance": False,
    "live_irrelevance": False,
    "live_multiple": True,
    "live_parallel": True,
    "live_parallel_multiple": True,
    "live_simple": True,
    "multiple": True,
    "parallel": True,
    "parallel_multiple": True,
    "simple_java": True,
    "simple_javascript": True,
    "simple_python": True,
}
"""Subsets in the order of the rows, and whether there is a file of answers."""
TYPES = {
    "python": {"string", "integer", "float", "boolean", "array", "tuple", "dict", "any"},
    "java": {
        "String",
        "integer",
        "short",
        "byte",
        "long",
        "float",
        "double",
        "boolean",
        "char",
        "Array",
        "ArrayList",
        "HashMap",
        "any",
    },
    "javascript": {"String", "integer", "float", "Bigint", "Boolean", "array", "dict", "any"},
}
"""Parameter types that can be checked, by language."""
LIVE_ID = re.compile(r"live_[a-z_]+_[0-9]+-(?P<document>[0-9]+)-[0-9]+")


def bfcl(paths: Sequence[Path]) -> list[Task]:
    """The questions of every subset of :data:`SUBSETS`, each followed by its answers where there are any."""
    files = iter(paths)
    tasks: list[Task] = []
    for subset, answered in SUBSETS.items():
        tasks += _subset(subset, next(files), next(files) if answered else None)
    for place, task in enumerate(tasks):
        task.index = place
    return tasks


def bfcl_live_relevance(paths: Sequence[Path]) -> list[Task]:
    """The one subset that is in no draw: rows in which some call is right."""
    tasks = _subset(LIVE_RELEVANCE, paths[0], None)
    for place, task in enumerate(tasks):
        task.index = place
    return tasks


def language_of(subset: str) -> str:
    """``java``, ``javascript`` or ``python``."""
    return {"simple_java": "java", "simple_javascript": "javascript"}.get(subset, "python")


def _subset(subset: str, questions: Path, answers: Path | None) -> list[Task]:
    rows = list(json_lines(questions))
    golds = list(json_lines(answers)) if answers is not None else [{"id": row.get("id")} for row in rows]
    if [row.get("id") for row in rows] != [gold.get("id") for gold in golds]:
        raise DataFault(f"bfcl: the answers of {subset} are not those of its questions")
    tasks = []
    for row, gold in zip(rows, golds, strict=True):
        try:
            tasks.append(_task(subset, row, gold["ground_truth"] if answers is not None else []))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise DataFault(f"bfcl row {row.get('id')!r} is not of the expected form ({error!r})") from None
    return tasks


def _task(subset: str, row: Row, golds: list[dict[str, dict[str, list[Any]]]]) -> Task:
    """``messages`` as sent, ``functions`` and ``golds`` (one map of name to allowed values a call) as
    upstream has them; category is the subset, group the function document of live rows."""
    (messages,) = row["question"]
    data = {"messages": messages, "functions": row["function"], "golds": golds, "subset": subset}
    task = Task(slug(row["id"]), 0, data, category=subset)
    if live := LIVE_ID.fullmatch(row["id"]):
        task.group = f"{subset}-{live['document']}"
    if SUBSETS.get(subset) and (not golds or ("parallel" not in subset and len(golds) > 1)):
        raise DataFault(f"bfcl row {task.id}: {len(golds)} golds in a row of {subset}")
    _check(task.id, language_of(subset), row["function"], golds)
    return task


def _check(id: str, language: str, functions: Sequence[Row], golds: Sequence[Row]) -> None:
    """Raises :class:`DataFault` where the checker could not judge a call of the row."""
    by_name = {function["name"]: function["parameters"] for function in functions}
    for parameters in by_name.values():
        for name, node in parameters["properties"].items():
            kinds = {node["type"], *([node["items"]["type"]] if "items" in node else [])}
            if unknown := kinds - TYPES[language]:
                raise DataFault(f"bfcl row {id}: {name} is of the unknown type {unknown.pop()!r}")
    for gold in golds:
        ((name, allowed),) = gold.items()
        if name not in by_name:
            raise DataFault(f"bfcl row {id}: the gold {name!r} is none of its functions")
        for parameter, values in allowed.items():
            if not isinstance(values, list):
                raise DataFault(f"bfcl row {id}: the gold of {parameter!r} is not a list of values")
