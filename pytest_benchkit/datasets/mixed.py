"""Rows chosen from several data sets, each under the name of its suite: :class:`Mixed`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pytest_benchkit.datasets import store
from pytest_benchkit.datasets.sources import Dataset
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import DataState, Task, TaskIndex


class Mixed:
    """Implements :class:`~pytest_benchkit.task.TaskSource`. ``parts`` maps a suite's key to its data and the
    ids of the rows to take; ids become ``<key>-<id>``, the category is the key, and rows come round-robin:
    the first of each part, then the second of each."""

    def __init__(self, name: str, parts: Mapping[str, tuple[Dataset, Sequence[str]]]) -> None:
        self._name = name
        self.parts = dict(parts)

    @property
    def name(self) -> str:
        return self._name

    @property
    def id_words(self) -> Sequence[str] | None:
        return tuple(sorted({f"{key}-" for key in self.parts}))

    @property
    def count(self) -> int | None:
        return sum(len(ids) for _, ids in self.parts.values())

    def bind(self, folder: Path) -> None:
        """Nothing depends on the suite's folder."""

    def state(self) -> DataState:
        """Installed when every part is, else the state of the first that is not."""
        states = [data.state() for data, _ in self.parts.values()]
        missing = next((state for state in states if not state.ready), None)
        if missing is not None:
            return missing
        return DataState("installed", "rows of " + ", ".join(self.parts), sum(s.bytes or 0 for s in states))

    def install(self, say: Callable[[str], None]) -> None:
        """Installs every part that is not there. Raises :class:`~pytest_benchkit.errors.DataError`."""
        for data, _ in self.parts.values():
            if not data.state().ready:
                data.install(say)

    def index(self) -> TaskIndex:
        """Raises :class:`~pytest_benchkit.errors.DataError` when a part is not installed."""
        ids = [task.id for task in self._tasks]
        hashes = "\n".join(f"{data.index().rows_sha256} {' '.join(ids)}" for data, ids in self.parts.values())
        return TaskIndex(
            ids,
            [task.category for task in self._tasks],
            [task.group for task in self._tasks],
            hashlib.sha256(hashes.encode()).hexdigest(),
            source="rows of " + ", ".join(self.parts),
        )

    def load(self) -> Sequence[Task]:
        """Raises :class:`~pytest_benchkit.errors.DataError` when a part is not installed."""
        return self._tasks

    @cached_property
    def _tasks(self) -> list[Task]:
        columns = []
        for key, (data, ids) in self.parts.items():
            rows = {task.id: task for task in data.load()}
            if unknown := [name for name in ids if name not in rows]:
                raise DataFault(f"{self._name}: {data.name} has no row {unknown[0]!r}")
            columns.append([(key, rows[name]) for name in ids])
        longest = max(map(len, columns))
        chosen = [column[place] for place in range(longest) for column in columns if place < len(column)]
        tasks = [Task(f"{key}-{row.id}", place, row.data, key) for place, (key, row) in enumerate(chosen)]
        store.check_ids(self._name, (task.id for task in tasks))
        return tasks
