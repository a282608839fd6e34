"""Collection: a benchmark file becomes a :class:`BenchFile`, each row a light :class:`TaskItem`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.engine.plan import Cell, Job
from pytest_benchkit.errors import BenchkitError, DataError, StoreError
from pytest_benchkit.plugin.selection import rows_of

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.suite import Suite


class MissedRow(Exception):
    """Raised by an item's ``runtest`` when pytest's own protocol runs it and the row was missed."""


class RowError(Exception):
    """Raised likewise for a row that was not measured."""


class RowSkipped(Exception):
    """Raised likewise for a row that this machine or model cannot run."""


class BenchFile(pytest.File):
    """A file of suites. Yields nothing for suites that the command line rules out, without reading them."""

    def __init__(self, *, bench: BenchSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bench = bench
        self.add_marker("bench")

    def collect(self) -> Iterator[TaskItem]:
        bench = self.bench
        for suite_class in self._suites():
            chosen = bench.scan.chosen(suite_class, self.path)
            if not chosen:
                continue
            for slice_ in chosen:
                suite = bench.suite(suite_class, slice_.variant if slice_ else None)
                try:
                    rows = rows_of(slice_, suite.index, suite.key)
                except DataError as error:
                    raise self.CollectError(str(error)) from None
                yield from self._items(suite, rows, slice_)

    def _suites(self) -> list[type[Suite]]:
        scan = self.bench.scan
        try:
            return scan.suites_in(self.path)
        except BenchkitError as error:
            if scan.slices:  # other suites were named: this file is not the matter
                self.bench.notes.append(f"{error}; passed over")
                return []
            raise self.CollectError(str(error)) from None

    def _items(self, suite: Suite, rows: list[int], slice_: Any) -> Iterator[TaskItem]:
        ids = suite.index.ids
        cells = [cell for model in self.bench.model_names for cell in self.bench.cells(suite, model, slice_)]
        for cell in cells:
            prefix = self.bench.item_prefix(cell)
            base, _, axes = prefix.partition("[")
            # The node id in parts, as pytest 9.2 knows it: read back from --lf's cache, an id in brackets
            # must equal the one built here. Older versions compare texts and need nothing.
            own = getattr(self, "id", None)
            identity = own.child(base) if own is not None else None
            extra: dict[str, Any] = {}
            for row in rows:
                task_id = ids[row]
                if identity is not None:
                    extra = {"nodeid": identity.with_params(axes + task_id)}
                yield TaskItem.from_parent(self, name=f"{prefix}{task_id}]", cell=cell, row=row, **extra)


class TaskItem(pytest.Item):
    """One task on one set of axes. Holds no row: that is read when the task starts."""

    def __init__(self, *, cell: Cell, row: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = Job(cell, row)

    def runtest(self) -> None:
        """pytest's own protocol (``--pdb``, ``--setup-show``, rerunfailures ...) comes through here."""
        from pytest_benchkit.plugin.running import raise_verdict
        from pytest_benchkit.plugin.session import bench_of

        try:
            verdict = bench_of(self.config).verdict_of(self)
        except StoreError as error:
            pytest.exit(str(error), returncode=3)
        raise_verdict(verdict)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, (MissedRow, RowError, BenchkitError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, None, self.name

    @property
    def location(self) -> tuple[str, int | None, str]:
        """Computed from the file's id: pytest's own costs a path look-up an item."""
        return self.nodeid.partition("::")[0], None, self.name


def is_bench_file(path: Path, patterns: list[str]) -> bool:
    from fnmatch import fnmatch

    return path.suffix == ".py" and any(fnmatch(path.name, pattern) for pattern in patterns)
