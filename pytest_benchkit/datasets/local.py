"""Rows of one's own: :class:`JsonLines`, a file beside the suite, and :class:`Rows`, a list in the code."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets import store
from pytest_benchkit.datasets.cache import sha256_file
from pytest_benchkit.datasets.tables import json_lines
from pytest_benchkit.errors import DataFault, DataMissing
from pytest_benchkit.task import DataState, Task, TaskIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OUTSIDE = re.compile(r"[^a-z0-9]+")


def task_id(value: object) -> str:
    """A row's own id as a task id: lower case, every other run of characters one dash."""
    return OUTSIDE.sub("-", str(value).lower()).strip("-")


Labels = tuple[list[str], list[str | None], list[str | None]]
"""Ids, categories and groups of all rows."""


def labels_of(
    name: str, rows: Iterable[Mapping[str, Any]], id: str, category: str | None, group: str | None
) -> Labels:
    """Ids and labels of plain rows, holding none of them. Without a field ``id`` the id is the row's
    number, zero-padded.

    Raises :class:`DataFault` for a row with an empty or repeated id.
    """
    given: list[str | None] = []
    categories: list[str | None] = []
    groups: list[str | None] = []
    for place, row in enumerate(rows):
        given.append(task_id(row[id]) if id in row else None)
        if given[-1] == "":
            raise DataFault(f"{name}: the id {row[id]!r} of row {place} has no letter or digit: give it one")
        for field, labels in ((category, categories), (group, groups)):
            value = row.get(field) if field is not None else None
            labels.append(None if value is None else sys.intern(str(value)))
    width = len(str(max(len(given) - 1, 0)))
    ids = [str(place).zfill(width) if known is None else known for place, known in enumerate(given)]
    store.check_ids(name, ids)
    return ids, categories, groups


class _Plain(ABC):
    """What both sources share: rows are read once, at first use."""

    def __init__(self, id: str, category: str | None, group: str | None) -> None:
        self._fields = (id, category, group)
        self._tasks: list[Task] | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the rows, for messages."""

    @property
    def id_words(self) -> Sequence[str] | None:
        """Not known before reading."""
        return None

    def load(self) -> Sequence[Task]:
        """All rows. Raises :class:`~pytest_benchkit.errors.DataError`."""
        if self._tasks is None:
            rows = list(self._rows())
            ids, categories, groups = labels_of(self.name, rows, *self._fields)
            self._tasks = [
                Task(ids[place], place, row, categories[place], groups[place])
                for place, row in enumerate(rows)
            ]
        return self._tasks

    def index(self) -> TaskIndex:
        """Ids, categories, groups and the hash of the rows; keeps no row."""
        ids, categories, groups = labels_of(self.name, self._rows(), *self._fields)
        return TaskIndex(ids, categories, groups, self._sha256(), source=self.name)

    @abstractmethod
    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The plain rows, in order."""

    @abstractmethod
    def _sha256(self) -> str:
        """A hash that is equal where the rows are."""


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

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        if not self.path.is_file():
            raise DataMissing(f"the rows of this suite should be at {self.path}: put the file there")
        return json_lines(self.path)

    def _sha256(self) -> str:
        """Of the file as it is: a user's own file has no other form that must hash alike."""
        return sha256_file(self.path)


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

    @property
    def id_words(self) -> Sequence[str] | None:
        """The ids are at hand: their runs of letters and dashes."""
        ids = [str(row[self._fields[0]]) for row in self._given if self._fields[0] in row]
        return tuple(sorted({run for text in ids for run in re.findall(r"[^\d]+", text.lower())}))

    def bind(self, folder: Path) -> None:
        """Nothing depends on the suite's folder."""

    def state(self) -> DataState:
        """Always here."""
        return DataState("bundled", "in the suite", len(json.dumps(self._given, default=str)))

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return self._given

    def _sha256(self) -> str:
        try:
            return hashlib.sha256(store.canonical(self._given)).hexdigest()
        except (TypeError, ValueError) as error:
            raise DataFault(f"{self.name}: a row holds a value that is not plain JSON: {error}") from None
