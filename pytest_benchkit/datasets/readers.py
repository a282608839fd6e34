"""Readers: the files of a route in, rows out. One per upstream form; all routes of a data set agree.

Every file is opened as UTF-8 with line ends as they are. A row whose gold breaks the suite's promise
raises :class:`~pytest_benchkit.errors.DataFault` with its id.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-lines file. Raises :class:`DataFault` with the line's number."""
    with path.open(encoding="utf-8", newline="") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataFault(f"{path}, line {number} is not JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataFault(f"{path}, line {number} is not a JSON object")
            yield row


def padded(number: int, total: int) -> str:
    """A row's number with the digits of the largest, so that ids sort as numbers do."""
    return str(number).zfill(len(str(total - 1)))


def gsm8k(question: str, answer: str, place: str) -> dict[str, str]:
    """The fields of a GSM8K row; the gold is its last ``####`` number without thousands commas."""
    gold = answer.rpartition("####")[2].strip().replace(",", "")
    if not NUMBER.fullmatch(gold):
        raise DataFault(f"gsm8k row {place}: the gold {gold[:40]!r} is not a number")
    return {"question": question, "answer": gold}


def gsm8k_json(paths: Sequence[Path]) -> list[Task]:
    """Upstream's ``test.jsonl`` (worked solution, then ``#### gold``) and mirrors with the gold alone."""
    rows = list(json_lines(paths[0]))
    ids = [padded(number, len(rows)) for number in range(len(rows))]
    return [
        Task(id, place, gsm8k(row["question"], row["answer"], id))
        for place, (id, row) in enumerate(zip(ids, rows, strict=True))
    ]
