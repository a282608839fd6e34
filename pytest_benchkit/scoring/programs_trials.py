"""Trials of the usual kinds, built from a row's data: functions that give a
:class:`~pytest_benchkit.scoring.programs.Trial`.

All raise ``ValueError`` for rows that they cannot judge, so that a suite finds them when it loads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_benchkit.scoring import programs_rules
from pytest_benchkit.scoring.programs import Trial

ASSERTS = """
setup, pairs = data
if setup:
    execute(setup)
for left, right in pairs:
    assert evaluate(left) == eval(right)
"""
EXPRESSION = """
expression, gold = data
assert eval(gold) == evaluate(expression)
"""
INPUTS = """
accepts = RULES[data["rule"]]
for group, cases in data["groups"]:
    for args, expected, seconds in cases:
        assert accepts(args, call(args, seconds=seconds), expected, data["tolerance"])
    note(group, True)
"""
REFERENCE = """
values, seconds = [], []
for args in data:
    values.append(call(args))
    seconds.append(spent())
note("values", values)
note("seconds", seconds)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Positional arguments, the expected value, and CPU seconds for this call (``None``: the program's)."""

    args: Sequence[Any]
    expected: Any
    seconds: float | None = None


def checked(stub: str, entry: str, test: str) -> Trial:
    """HumanEval's form: ``test`` defines ``check(candidate)``. The stub without its entry function stands
    before it, so that the test can use the stub's imports and helpers, which then run in the judge (PG-5)."""
    return Trial(f"{_without(stub, entry)}\n{test}\ncheck(candidate)\n", entry=entry)


def asserts(tests: Iterable[str], setup: str = "") -> Trial:
    """MBPP's form: statements ``assert call == value``. Setup and left sides are evaluated beside the
    program, since they may use its classes, the right sides in the judge (PG-4)."""
    pairs = [_sides(test) for test in tests]
    if not pairs:
        raise ValueError("no assert")
    return Trial(ASSERTS, (setup, pairs))


def expression(text: str, gold: str) -> Trial:
    """CRUXEval's form: an expression of the model's own, evaluated beside the program, has the value of the
    literal ``gold``. It can do to the program whatever it likes: a suite lets only those through that cannot,
    or gives them an empty one."""
    ast.literal_eval(gold)
    return Trial(EXPRESSION, (text, gold))


def inputs(
    groups: Sequence[tuple[str, Sequence[Case]]], rule: str = "default", tolerance: float = 0.0
) -> Trial:
    """EvalPlus's form: calls with expected values, group by group; a group that passed as a whole is noted
    under its name with ``True``. ``rule`` is a key of :data:`programs_rules.RULES`."""
    if rule not in programs_rules.RULES:
        raise ValueError(f"no rule {rule!r}; there are: {', '.join(programs_rules.RULES)}")
    cases = [(name, [(list(c.args), c.expected, c.seconds) for c in group]) for name, group in groups]
    return Trial(_rules() + INPUTS, {"rule": rule, "tolerance": tolerance, "groups": cases})


def reference(arguments: Sequence[Sequence[Any]]) -> Trial:
    """Runs a program of ours to make expected values (PG-10): the verdict's notes ``values`` and ``seconds``,
    CPU seconds of each call."""
    return Trial(REFERENCE, [list(args) for args in arguments])


@cache
def _rules() -> str:
    return Path(programs_rules.__file__).read_text(encoding="utf-8")


def _without(stub: str, entry: str) -> str:
    """A stub's source without the function of that name."""
    try:
        tree = ast.parse(stub)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"the stub of {entry} does not compile: {error}") from None
    kept = [node for node in tree.body if getattr(node, "name", None) != entry]
    if len(kept) == len(tree.body):
        raise ValueError(f"the stub does not define {entry}")
    return ast.unparse(ast.Module(kept, []))


def _sides(test: str) -> tuple[str, str]:
    """The two sides of ``assert left == right``."""
    try:
        tree = ast.parse(test.strip())
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"an assert does not compile: {error}") from None
    match tree.body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))]:
            return ast.unparse(left), ast.unparse(right)
    raise ValueError("a test is not of the form assert call == value")
