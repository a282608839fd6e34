"""MBPP: write a short Python function from its description and three assertions.

Source: Austin et al. 2021, arXiv 2108.07732; the test split, 500 problems (upstream's numbers 11-510). A
program passes when its three assertions hold; upstream's challenge tests are not used, as in its headline.
The prompt shows the text and the assertions, as upstream's does, so that name and call are known.

Protocol: zero-shot chat, temperature 0. Declared deviations: upstream asks 3-shot; assertions are compared in
another process than the program's, on plain data; 10 s of CPU a program.
"""

from __future__ import annotations

import ast

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring import code, programs_trials
from pytest_benchkit.scoring.program_suites import ProgramSuite, Solution
from pytest_benchkit.scoring.programs import Trial
from pytest_benchkit.task import Task


class MBPP(ProgramSuite):
    """MBPP: short Python functions from a description, 500 problems (Austin et al. 2021)."""

    key = "mbpp"
    data = catalog.MBPP
    not_comparable = "published scores are 3-shot"

    def prompt(self, task: Task) -> str:
        tests = "\n".join(task["tests"])
        return (
            f"{task['text']}\n\nWrite it in Python. Reply with one Python code block. Your code must satisfy "
            f"these assertions:\n\n```python\n{tests}\n```"
        )

    def solution(self, task: Task, text: str) -> Solution:
        found = code.extract(text, task["entry_point"])
        return Solution(found.code, found.rule, found.span)

    def trial(self, task: Task) -> Trial:
        return programs_trials.asserts(task["tests"], task["setup"])

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return (
            f"```python\n{_table(task)}```",
            f"```python\ndef {task['entry_point']}(*args): return None\n```",
        )


def _table(task: Task) -> str:
    """A program that answers just the row's own assertions, for the demo model: it looks values up."""
    entry = task["entry_point"]
    lines = [f"def {entry}(*given):"]
    for test in task["tests"]:
        statement = ast.parse(test).body[0]
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        call = next(c for c in calls if isinstance(c.func, ast.Name) and c.func.id == entry)
        wanted = statement.test.comparators[0]
        args = ast.unparse(ast.Tuple([*call.args], ast.Load()))
        lines.append(f"    if given == {args}: return {ast.unparse(wanted)}")
    return "\n".join(lines) + "\n"
