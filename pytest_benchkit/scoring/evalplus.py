"""EvalPlus's suites: many more inputs, compared with what the reference solution gives.

Source: Liu et al. 2023, arXiv 2305.01210; rules of comparison from evalplus 0.3.1 (``eval/__init__.py``,
``eval/_special_oracle.py``, ``data/mbpp.py``). A program passes when it gives the reference's value on
every input, base and plus; ``also.base`` is the verdict on the base inputs alone.

Declared deviations: expected values come from the reference solution in our sandbox, cached by its source
and inputs; special rules go by the task's number, not by a name that a translation changes; HumanEval/32
records its success, which 0.3.1 never does, so 163 of 164 is the most that the official scorer gives;
limits are CPU seconds.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_benchkit.datasets.cache import cache_dir, replacing
from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox.inside import plain
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.score import Reading
from pytest_benchkit.scoring.program_suites import Solution, StubSuite

if TYPE_CHECKING:
    from pytest_benchkit.scoring.programs import Trial, Verdict
    from pytest_benchkit.scoring.programs_trials import Case
    from pytest_benchkit.task import Task

LEAST_S, FACTOR, MOST_S = 1.0, 4.0, 60.0
"""CPU seconds of one call: at least one, four times what the reference took; and of all calls together."""
Inputs = list[list[Any]]
HUMANEVAL_RULES: Mapping[int, str] = {32: "root"}
MBPP_RULES: Mapping[int, str] = {
    164: "any",
    295: "or-zero",
    558: "digit-distance",
    581: "pyramid",
    **dict.fromkeys((2, 7, 111, 140, 232, 249, 579, 769), "same-set"),
}
NOT_NONE = frozenset({"check_str", "text_match_three", "text_starta_endb"})


class PlusSuite(StubSuite):
    """Rows of EvalPlus's release files: ``base`` and ``plus`` are lists of argument lists as JSON text."""

    family: ClassVar[Literal["humaneval", "mbpp"]] = "humaneval"
    limits = Limits(cpu_s=MOST_S)
    beside = ("score_base", "time_only_failures")
    metric_kinds = {**StubSuite.metric_kinds, "score_base": "proportion"}

    def trial(self, task: Task) -> Trial:
        from pytest_benchkit.scoring import programs_trials

        expected = _expected(*self._reference(task))
        groups = [(name, _cases(*expected[name])) for name in ("base", "plus")]
        return programs_trials.inputs(groups, self._rule(task), task["atol"])

    def _reference(self, task: Task) -> tuple[str, str, str, str, int]:
        """What the expected values depend on: the reference's source and entry, inputs, and how to read
        them."""
        number = int(task.id) if self.family == "mbpp" else -1
        source = task["prompt"] + task["canonical_solution"]
        return source, task["entry_point"], task["base"], task["plus"], number

    def _rule(self, task: Task) -> str:
        if self.family == "humaneval":
            return HUMANEVAL_RULES.get(int(task.id), "default")
        if task["entry_point"] in NOT_NONE:
            return "not-none"
        return MBPP_RULES.get(int(task.id), "default")

    def also(self, found: Solution, verdict: Verdict) -> tuple[Reading, ...]:
        base = float(verdict.passed or verdict.notes.get("base") is True)
        return (*super().also(found, verdict), Reading("base", verdict.category, base))

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        found = super().metrics(rows)
        if "also.base" in found:
            found["score_base"] = found["also.base"]
        return found


def _cases(inputs: Inputs, values: Sequence[Any], seconds: Sequence[float]) -> list[Case]:
    from pytest_benchkit.scoring.programs_trials import Case

    return [
        Case(args, value, max(LEAST_S, FACTOR * took))
        for args, value, took in zip(inputs, values, seconds, strict=True)
    ]


@lru_cache(maxsize=8)
def _expected(
    source: str, entry: str, base: str, plus: str, number: int
) -> dict[str, tuple[Inputs, list[Any], list[float]]]:
    """Inputs, expected values and seconds of each group, from the cache or from the reference in the sandbox
    (PG-10). Raises :class:`~pytest_benchkit.errors.SandboxError` when the reference itself fails."""
    groups = {name: restored(number, json.loads(text)) for name, text in (("base", base), ("plus", plus))}
    place = cache_dir() / "expected" / f"{_digest(source, base, plus, str(number))}.bin"
    try:
        values, seconds = plain.decode(place.read_bytes())
    except (OSError, plain.Damaged, ValueError):
        values, seconds = _computed(source, entry, [*groups["base"], *groups["plus"]])
        with replacing(place) as partial:
            partial.write_bytes(plain.encode((values, seconds), most=1 << 30))
    cut = len(groups["base"])
    return {
        "base": (groups["base"], values[:cut], seconds[:cut]),
        "plus": (groups["plus"], values[cut:], seconds[cut:]),
    }


def _computed(source: str, entry: str, inputs: Inputs) -> tuple[list[Any], list[float]]:
    from pytest_benchkit.scoring import programs, programs_trials

    verdict = programs.run(
        programs.Program(source, entry), programs_trials.reference(inputs), Limits(cpu_s=MOST_S)
    )
    if not verdict.passed:
        words = f"{verdict.category} {verdict.detail}".strip()
        raise SandboxError(f"the reference solution of {entry} ended with {words}")
    return verdict.notes["values"], verdict.notes["seconds"]


def _digest(*texts: str) -> str:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256("\0".join([version, *texts]).encode("utf-8", "surrogatepass")).hexdigest()


# ---------------------------------------------------------------------- what JSON lost


def _deep(value: Any) -> Any:
    return tuple(map(_deep, value)) if isinstance(value, list) else value


def _rows(value: Any) -> Any:
    """The lists inside a list as tuples."""
    return [tuple(item) for item in value]


ARGUMENT: Mapping[str, Callable[[list[Any]], list[Any]]] = {
    "each": lambda args: [tuple(arg) for arg in args],
    "each-rows": lambda args: [_rows(arg) for arg in args],
    "first-rows": lambda args: [_rows(args[0]), *args[1:]],
    "second": lambda args: [args[0], tuple(args[1]), *args[2:]],
    "first": lambda args: [tuple(args[0]), *args[1:]],
    "each-tuples": lambda args: [tuple(_rows(arg)) for arg in args],
    "mixed": lambda args: [tuple(tuple(i) if isinstance(i, list) else i for i in args[0]), *args[1:]],
    "deep": lambda args: [_deep(arg) for arg in args],
    "dict": lambda args: [{key: tuple(value) for key, value in args[0].items()}, *args[1:]],
    "sets": lambda args: [[set(i) if isinstance(i, list) and i else {} for i in args[0]], *args[1:]],
    "float-complex": lambda args: [float(args[0]), complex(args[1])],
    "complex": lambda args: [complex(args[0])],
}
"""How the arguments of one call get back the types that JSON has not."""
RESTORED: Mapping[str, Sequence[int]] = {
    "each": (
        *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424),
        *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
    ),
    "each-rows": (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    "first-rows": (75, 413, 444, 753),
    "second": (106, 750),
    "first": (250, 307, 405, 446, 617, 720, 763, 808),
    "each-tuples": (259, 401, 445),
    "mixed": (278,),
    "deep": (580, 615, 791),
    "dict": (722,),
    "sets": (115,),
    "float-complex": (124,),
    "complex": (252,),
}
HOW = {number: name for name, numbers in RESTORED.items() for number in numbers}


def restored(number: int, inputs: Inputs) -> Inputs:
    """The argument lists of an MBPP task with the types that its file had before JSON; others as they are."""
    how = HOW.get(number)
    return inputs if how is None else [list(ARGUMENT[how](args)) for args in inputs]
