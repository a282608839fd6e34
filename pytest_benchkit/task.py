"""A benchmark row (:class:`Task`) and where rows come from (:class:`TaskSource`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

Message = dict[str, Any]
"""One chat message: ``{"role": "user", "content": "..."}`` (content may be a list of parts)."""


class Task(Mapping[str, Any]):
    """One row of a benchmark: an id, its position, and the row's own fields by name.

    ``task["question"]`` reads a field. ``id`` is ASCII, lower case, ``[a-z0-9-]``, and never depends on
    selection, order, model or perturbation. ``category`` is the breakdown label, ``group`` the cluster
    for standard errors (rows that share a source).
    """

    __slots__ = ("category", "data", "group", "id", "index")

    def __init__(
        self,
        id: str,
        index: int,
        data: Mapping[str, Any],
        category: str | None = None,
        group: str | None = None,
    ) -> None:
        self.id = id
        self.index = index
        self.data = data
        self.category = category
        self.group = group

    def __getitem__(self, name: str) -> Any:
        try:
            return self.data[name]
        except KeyError:
            known = ", ".join(self.data)
            raise KeyError(f"task {self.id} has no field {name!r}; it has: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"Task({self.id!r}, fields={list(self.data)})"


@dataclass(frozen=True, slots=True)
class TaskIndex:
    """What collection needs of a data set, without its rows: parallel lists in upstream's order.

    ``rows_sha256`` is the hash of the normalised rows; every process of a run must see the same one.
    ``planned``: this order is the one to plan rows in, each prefix a fair sample by design.
    """

    ids: Sequence[str]
    categories: Sequence[str | None]
    groups: Sequence[str | None]
    rows_sha256: str
    revision: str | None = None
    source: str | None = None
    planned: bool = False

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class DataState:
    """Whether a source's rows are on this machine. ``word``: bundled, installed, missing, damaged.

    ``gaps``: what is not here and only some rows need; said before a run, whose other rows are asked.
    """

    word: str
    detail: str = ""
    bytes: int | None = None
    notes: Sequence[str] = field(default=())
    gaps: Sequence[str] = field(default=())

    @property
    def ready(self) -> bool:
        return self.word in ("bundled", "installed")


@runtime_checkable
class TaskSource(Protocol):
    """Where a suite's rows come from. Implementations live in :mod:`pytest_benchkit.datasets`.

    Building one, and asking for ``name``, ``id_words`` or ``count``, reads nothing.
    """

    @property
    def name(self) -> str:
        """Name of the rows, for messages (``gsm8k``, ``hellaswag/activitynet-1000``)."""

    @property
    def id_words(self) -> Sequence[str] | None:
        """Every run of letters and dashes that may occur in a task id; ``()`` for digits only,
        ``None`` when not known before reading."""

    @property
    def count(self) -> int | None:
        """Number of rows, where it is known without reading."""

    def bind(self, folder: Path) -> None:
        """Told once the folder of the suite's file; relative paths are relative to it."""

    def state(self) -> DataState:
        """Whether the rows are here. Cheap: looks at stamps, hashes nothing."""

    def index(self) -> TaskIndex:
        """Ids, categories and groups. Raises :class:`~pytest_benchkit.errors.DataError`."""

    def load(self) -> Sequence[Task]:
        """All rows in upstream's order. Raises :class:`~pytest_benchkit.errors.DataError`."""
