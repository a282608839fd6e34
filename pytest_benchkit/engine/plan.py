"""What is to be done: :class:`Cell` (a suite on one set of axes) and :class:`Job` (one row of a cell)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_benchkit.engine.decided import Axes
from pytest_benchkit.perturbations import CLEAN, perturb
from pytest_benchkit.runs.record import key_of
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task


@dataclass(eq=False, slots=True)
class Cell:
    """A suite × model × harness × perturbation × repeat; shared by all items of its rows."""

    suite: Suite
    model: str
    harness: str = "direct"
    perturbation: str = CLEAN
    repeat: int = 0
    selection: dict[str, object] = field(default_factory=dict)
    variant: str | None = None
    _around: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        key = key_of(self.name, "\n", self.model, self.harness, self.perturbation, self.repeat)
        before, _, after = key.partition("\n")
        self._around = (before, after)

    def key(self, row: int) -> str:
        """The record key of the row at this position of the data (task ids need no escape)."""
        before, after = self._around
        return before + self.suite.index.ids[row] + after

    def task(self, row: int) -> Task:
        """The row as this cell asks it. Raises :class:`~pytest_benchkit.perturbations.NotPerturbable`."""
        task = self.suite.tasks[row]
        return task if self.perturbation == CLEAN else perturb(self.suite.key, task, self.perturbation)

    @property
    def name(self) -> str:
        """The suite's name in records: its key, with the variant of the data where there is one."""
        return f"{self.suite.key}:{self.variant}" if self.variant else self.suite.key

    @property
    def axes(self) -> Axes:
        return Axes(self.name, self.model, self.harness, self.perturbation)


class Job(NamedTuple):
    """One task to ask. Hashable, tiny: fourteen thousand of them lie in a queue."""

    cell: Cell
    row: int

    @property
    def key(self) -> str:
        return self.cell.key(self.row)


@dataclass(slots=True)
class Verdict:
    """What a pytest item needs to know of its finished task; the record itself is on disk."""

    key: str
    outcome: str
    reason: str
    detail: str | None = None
    score: float | None = None
    tokens: int | None = None
    ttft_ms: float | None = None
    seconds: float = 0.0
    text: str | None = None
    stored: bool = False
    """Whether it comes from an earlier session of the run (a resume)."""

    @classmethod
    def of(cls, record: Mapping[str, Any], *, text: str | None = None, stored: bool = False) -> Verdict:
        """The verdict that a record, or a row without its texts, stands for."""
        timing = record.get("timing", {})
        return cls(
            record["key"],
            record["outcome"],
            record["reason"],
            record.get("detail"),
            record.get("score"),
            record.get("usage", {}).get("output_tokens"),
            timing.get("ttft_ms"),
            timing.get("end_ms", 0.0) / 1000,
            text,
            stored,
        )

    def plain(self) -> dict[str, object]:
        """Under 1 KB of plain values, for the trip from an xdist worker to the controller."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


NOT_ASKED = "not_asked"
"""The ``outcome`` word of a verdict without a record: dispatch stopped before the task was asked."""
UNNEEDED = "unneeded"
"""The same, because the gates of its cell are decided: a skip, not an error."""
