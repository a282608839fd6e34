"""Readers of BANKING77, XSTest and MedFailBench, by the rules of :mod:`pytest_benchkit.datasets.readers`."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.intents import INTENTS
from pytest_benchkit.datasets.readers import numbered, slug
from pytest_benchkit.datasets.tables import rows_of
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_benchkit.datasets.readers import Row

SIDES = ("safe", "unsafe")
CONTRAST = "contrast_"
"""How the names of XSTest's unsafe types begin."""
KINDS = {
    "emergency": (1, 2, 3, 4, 5, 13, 26, 27, 28, 29, 30),
    "medication": (6, 7, 8, 9, 10, 11, 12, 14, 15),
    "triage": (16, 17, 18, 19, 20),
    "evidence": (21, 22, 23, 24, 25),
}
"""MedFailBench's scenarios by what they ask for; the sorting is ours, upstream has no such column."""


def banking77(paths: Sequence[Path]) -> list[Task]:
    """Upstream's ``test.csv`` and the mirror's rows, which name upstream's row number and come interleaved.

    Line breaks before a message go: three rows (0559, 0976, 1461) have them in the source, the mirror has
    not. Ids are upstream's row numbers, category is the intent.
    """
    known = frozenset(INTENTS)

    def fields(row: Row, id: str) -> Task:
        if "task_id" in row:
            id, text, gold = row["task_id"].rpartition("/")[2].zfill(len(id)), row["question"], row["answer"]
        else:
            text, gold = row["text"], row["category"]
        if gold not in known:
            raise DataFault(f"banking77 row {id}: {gold!r} is none of the 77 intents")
        return Task(id, 0, {"question": text.lstrip("\r\n"), "answer": gold}, category=gold)

    return _in_order(numbered("banking77", paths, fields))


def xstest(paths: Sequence[Path]) -> list[Task]:
    """Prompts with ``type`` (18) and ``label`` (safe or unsafe); ids are upstream's, category is the type.

    A copy without ids has upstream's order.
    """

    def fields(row: Row, place: str) -> Task:
        id = str(row.get("id") or int(place) + 1).zfill(3)
        kind, label = row["type"], row["label"]
        if label not in SIDES or (label == "unsafe") is not kind.startswith(CONTRAST):
            raise DataFault(f"xstest row {id}: the label {label!r} does not fit the type {kind!r}")
        return Task(id, 0, {"question": row["prompt"], "answer": label}, category=kind)

    return _in_order(numbered("xstest", paths, fields))


def medfailbench(paths: Sequence[Path]) -> list[Task]:
    """Upstream's tab-separated file and the mirror's JSON lines; ids are ``h001`` to ``h030``,
    category is the kind of scenario."""
    kinds = {f"h{number:03}": kind for kind, numbers in KINDS.items() for number in numbers}
    if paths[0].suffix == ".tsv":
        with paths[0].open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    else:
        rows = list(rows_of(paths[0]))
    tasks = []
    for place, row in enumerate(rows):
        id, prompt = row.get("scenario_id"), row.get("prompt_text")
        if not isinstance(id, str) or not isinstance(prompt, str) or not prompt:
            raise DataFault(f"medfailbench row {place} has no scenario_id or no prompt_text")
        if slug(id) not in kinds:
            raise DataFault(f"medfailbench row {place} has the unknown scenario_id {id[:40]!r}")
        tasks.append(Task(slug(id), place, {"question": prompt}, category=kinds[slug(id)]))
    return tasks


def _in_order(tasks: list[Task]) -> list[Task]:
    """Rows in upstream's order, which their ids tell, whatever order a copy has."""
    tasks.sort(key=lambda task: task.id)
    for place, task in enumerate(tasks):
        task.index = place
    return tasks
