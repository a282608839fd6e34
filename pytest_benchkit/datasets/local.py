"""Rows of one's own: :class:`JsonLines`, a file beside the suite, and :class:`Rows`, a list in the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets import store
from pytest_benchkit.datasets.tables import json_lines
from pytest_benchkit.errors import DataFault, DataMissing
from pytest_benchkit.task import DataState, Task, TaskIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OUTSIDE = re.compile(r"[^a-z0-9]+")


def task_id(value: object) -> str:
    """A row's own id as a task id: lower case, every other run of characters one dash."""
    return OUTSIDE.sub("-", str(value).lower()).strip("-")


def tasks_of(
    name: str, rows: Sequence[Mapping[str, Any]], id: str, category: str | None, group: str | None
) -> list[Task]:
    """Tasks from plain rows. Without a field ``id`` the id is the row's number, zero-padded.

    Raises :class:`DataFault` for a row with an empty or repeated id, or a value that is not JSON.
    """
    width = len(str(max(len(rows) - 1, 0)))
    tasks = []
    for place, row in enumerate(rows):
        name_of = task_id(row[id]) if id in row else str(place).zfill(width)
        if not name_of:
            raise DataFault(f"{name}: the id {row[id]!r} of row {place} has no letter or digit: give it one")
        labels = [
            None if field is None or row.get(field) is None else str(row[field])
            for field in (category, group)
        ]
        tasks.append(Task(name_of, place, dict(row), *labels))
    store.check_ids(name, tasks)
    return tasks


class _Plain:
    """What both sources share: rows are read once, at first use."""

    def __init__(self, id: str, category: str | None, group: str | None) -> None:
        self._fields = (id, category, group)
        self._tasks: list[Task] | None = None

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def id_words(self) -> Sequence[str] | None:
        """Not known before reading."""
        return None

    def bind(self, folder: Path) -> None:
        """Nothing depends on the suite's folder."""

    def load(self) -> Sequence[Task]:
        """All rows. Raises :class:`~pytest_benchkit.errors.DataError`."""
        if self._tasks is None:
            self._tasks = tasks_of(self.name, self._rows(), *self._fields)
        return self._tasks

    def index(self) -> TaskIndex:
        """Ids, categories, groups and the hash of the rows."""
        tasks = self.load()
        try:
            sha256 = store.rows_hash(tasks)
        except (TypeError, ValueError) as error:
            raise DataFault(f"{self.name}: a row holds a value that is not plain JSON: {error}") from None
        return TaskIndex(
            ids=[task.id for task in tasks],
            categories=[task.category for task in tasks],
            groups=[task.group for task in tasks],
            rows_sha256=sha256,
            source=self.name,
        )

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        raise NotImplementedError


class JsonLines(_Plain):
    """Rows of a JSON-lines file, one object a line; a relative path is relative to the suite's file.

    ``id``, ``category`` and ``group`` name the fields that hold them; without a field ``id`` rows are
    numbered. Raises :class:`DataMissing` without the file, :class:`DataFault` for a bad row.
    """

    def __init__(
        self, path: str | Path, *, id: str = "id", category: str | None = None, group: str | None = None
    ) -> None:
        super().__init__(id, category, group)
        self.path = Path(path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def count(self) -> int | None:
        """Not known without reading the file."""
        return None

    def bind(self, folder: Path) -> None:
        """Makes a relative path relative to the suite's file; an absolute one stays."""
        self.path = folder / self.path

    def state(self) -> DataState:
        """Bundled with the suite, or missing."""
        if self.path.is_file():
            return DataState("bundled", self.path.name, self.path.stat().st_size)
        return DataState("missing", f"put the file at {self.path}")

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        if not self.path.is_file():
            raise DataMissing(f"the rows of this suite should be at {self.path}: put the file there")
        return list(json_lines(self.path))


class Rows(_Plain):
    """Rows written in the code, as a list of dictionaries; see :class:`JsonLines` for the fields."""

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        name: str = "rows",
        id: str = "id",
        category: str | None = None,
        group: str | None = None,
    ) -> None:
        super().__init__(id, category, group)
        self._given = list(rows)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def count(self) -> int | None:
        return len(self._given)

    def state(self) -> DataState:
        """Always here."""
        return DataState("bundled", "in the suite", len(json.dumps(self._given, default=str)))

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return self._given
