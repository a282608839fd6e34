"""What every perturbation gives: :class:`PerturbedTask`, or :class:`NotPerturbable` with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchkit.task import Task

CLEAN = "none"
"""The axis value of rows as they are."""


class NotPerturbable(Exception):
    """The row has no twin of this kind; the message says why. It is skipped, and its pair is dropped."""


class PerturbedTask(Task):
    """The twin of a task. Id, position, category and group are the task's own; ``facts`` go into the
    record: ``name``, ``seed``, and what was changed."""

    __slots__ = ("facts",)

    def __init__(self, task: Task, changed: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        super().__init__(task.id, task.index, {**task.data, **changed}, task.category, task.group)
        self.facts = dict(facts)
