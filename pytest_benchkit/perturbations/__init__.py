"""Twins of rows: the same task asked in another form, seeded, to see whether the answer depends on it.

An axis value is the perturbation's name, with ``.SEED`` behind it for any seed but 42
(``choice-order``, ``choice-order.43``). Perturbing is pure: a row's data is copied, never changed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.perturbations.base import CLEAN, NotPerturbable, PerturbedTask
from pytest_benchkit.perturbations.choice_order import choice_order
from pytest_benchkit.task import Task

__all__ = [
    "CLEAN",
    "DEFAULT_SEED",
    "PERTURBATIONS",
    "NotPerturbable",
    "PerturbedTask",
    "axis_values",
    "name_of",
    "perturb",
]

DEFAULT_SEED = 42
PERTURBATIONS: Mapping[str, Callable[[str, Task, int], PerturbedTask]] = {"choice-order": choice_order}
"""By name: suite key, task and seed to the twin; raises :class:`NotPerturbable`."""


def perturb(key: str, task: Task, axis: str) -> PerturbedTask:
    """The twin of a task of the suite ``key``. Raises :class:`NotPerturbable`."""
    name, _, seed = axis.partition(".")
    return PERTURBATIONS[name](key, task, int(seed) if seed else DEFAULT_SEED)


def name_of(axis: str) -> str:
    """The perturbation behind an axis value."""
    return axis.partition(".")[0]


def axis_values(names: Sequence[str], seeds: Sequence[int]) -> tuple[str, ...]:
    """The axis values of each name with each seed. Raises :class:`UsageProblem` for an unknown name."""
    for name in names:
        if name not in PERTURBATIONS:
            near = difflib.get_close_matches(name, PERTURBATIONS, n=1)
            known = ", ".join(PERTURBATIONS)
            hint = f"did you mean {near[0]}?" if near else f"known: {known}"
            raise UsageProblem(f"--bench-perturbation={name}: no such perturbation; {hint}")
    values = [name if seed == DEFAULT_SEED else f"{name}.{seed}" for name in names for seed in seeds]
    return tuple(dict.fromkeys(values))
