"""Installed rows on disk: ``rows.jsonl`` with one row a line, ``index.json`` with what planning needs.

Planning a run reads the index only: ids, categories and groups of 14,042 rows are a few milliseconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.cache import (
    read_json,
    replacing,
    sha256_file,
    stamp_holds,
    stamp_of,
    write_atomic,
)
from pytest_benchkit.errors import DataDamaged, DataError, DataFault
from pytest_benchkit.task import Task, TaskIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FORMAT = 1
"""Version of the two files; another one is read as "not installed"."""

NEEDED = {"recipe", "source", "revision", "verified", "rows_sha256", "stamp", "ids", "categories", "groups"}
"""Members that an index document has besides its format."""


def rows_hash(tasks: Iterable[Task]) -> str:
    """sha256 over one line of canonical JSON per row: the id and every field, in upstream's order.

    Canonical: keys sorted, no spaces, ASCII with escapes. Category and group are left out, because a
    mirror may lack the column they come from.
    """
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(canonical({"id": task.id, **task.data}))
        digest.update(b"\n")
    return digest.hexdigest()


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value that hashes are taken over."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def check_ids(name: str, ids: Iterable[str]) -> None:
    """Raises :class:`DataFault` when two rows of the data set ``name`` share an id."""
    seen: dict[str, int] = {}
    for position, task_id in enumerate(ids):
        if (first := seen.setdefault(task_id, position)) != position:
            raise DataFault(
                f"{name}: rows {first} and {position} both have the id {task_id}: make the ids different"
            )


def write(folder: Path, tasks: Sequence[Task], facts: dict[str, Any]) -> None:
    """Writes both files, rows first, so that an index never speaks of rows that are not there yet."""
    rows = folder / "rows.jsonl"
    with replacing(rows) as partial, partial.open("w", encoding="utf-8", newline="") as out:
        for task in tasks:
            line = {"id": task.id, "category": task.category, "group": task.group, "data": dict(task.data)}
            out.write(json.dumps(line, separators=(",", ":")) + "\n")
    index = {
        "format": FORMAT,
        **facts,
        "rows_sha256": rows_hash(tasks),
        "stamp": stamp_of(rows, sha256_file(rows)),
        "ids": [task.id for task in tasks],
        "categories": _packed([task.category for task in tasks]),
        "groups": _packed([task.group for task in tasks]),
    }
    write_atomic(folder / "index.json", json.dumps(index, separators=(",", ":")).encode())


def read(folder: Path) -> dict[str, Any] | None:
    """The index document, or ``None`` when there is none of this format. Looks at no row."""
    found = read_json(folder / "index.json")
    if found is None or found.get("format") != FORMAT or not found.keys() >= NEEDED:
        return None
    return found


def trust(folder: Path, document: dict[str, Any]) -> None:
    """Makes sure that the rows are those of the index: by stamp, else by hashing them once more.

    A copied or unpacked cache keeps bytes and loses times; such rows are hashed and stamped again.
    Raises :class:`DataDamaged` when the bytes changed.
    """
    rows = folder / "rows.jsonl"
    if stamp_holds(rows, document["stamp"]):
        return
    rehash(folder, document)
    document["stamp"] = stamp_of(rows, document["stamp"]["sha256"])
    # A read-only cache is fine to use: it is only hashed at every start.
    with contextlib.suppress(DataError):
        write_atomic(folder / "index.json", json.dumps(document, separators=(",", ":")).encode())


def rehash(folder: Path, document: dict[str, Any]) -> None:
    """Hashes the rows on disk. Raises :class:`DataDamaged` when they are not those of the index."""
    rows = folder / "rows.jsonl"
    wanted = document["stamp"]["sha256"]
    found = sha256_file(rows) if rows.is_file() else "of no file"
    if found != wanted:
        raise DataDamaged(f"{rows} is damaged (sha256 {found}, installed with {wanted})")


def as_index(document: dict[str, Any]) -> TaskIndex:
    """The parallel lists of an index document."""
    return TaskIndex(
        ids=document["ids"],
        categories=_unpacked(document["categories"]),
        groups=_unpacked(document["groups"]),
        rows_sha256=document["rows_sha256"],
        revision=document.get("revision"),
        source=document.get("source"),
    )


def read_rows(folder: Path) -> list[Task]:
    """All installed rows, in upstream's order."""
    with (folder / "rows.jsonl").open(encoding="utf-8", newline="") as file:
        lines = [json.loads(line) for line in file]
    return [
        Task(line["id"], place, line["data"], line["category"], line["group"])
        for place, line in enumerate(lines)
    ]


def _packed(labels: Sequence[str | None]) -> dict[str, Any]:
    """Labels as a table of the different ones and a number per row: fewer strings to parse and keep."""
    table = list(dict.fromkeys(labels))
    if table == [None]:
        return {"table": [None], "rows": len(labels)}
    place = {label: number for number, label in enumerate(table)}
    return {"table": table, "rows": [place[label] for label in labels]}


def _unpacked(packed: dict[str, Any]) -> list[str | None]:
    table: list[str | None] = packed["table"]
    rows = packed["rows"]
    if isinstance(rows, int):
        return table * rows
    return [table[number] for number in rows]
