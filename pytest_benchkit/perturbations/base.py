"""What every perturbation gives: :class:`PerturbedTask`, or :class:`NotPerturbable` with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchkit.errors import SkipTask
from pytest_benchkit.task import Task

CLEAN = "none"
"""The axis value of rows as they are."""


class NotPerturbable(SkipTask):
    """The row has no twin of this kind; the message says why. Its pair is dropped."""

    def __init__(self, message: str) -> None:
        super().__init__("not_perturbable", message)


class PerturbedTask(Task):
    """The twin of a task. Id, position, category and group are the task's own; ``facts`` go into the
    record: ``name``, ``seed``, and what was changed."""

    __slots__ = ("facts",)

    def __init__(self, task: Task, changed: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        super().__init__(task.id, task.index, {**task.data, **changed}, task.category, task.group)
        self.facts = dict(facts)
