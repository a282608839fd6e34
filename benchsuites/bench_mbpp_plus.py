"""MBPP+: MBPP's cleaner part with about 35 times more inputs.

Source, rules and deviations: :mod:`pytest_benchkit.scoring.evalplus` (Liu et al. 2023, release v0.2.0, 378
tasks). Protocol: zero-shot chat with upstream's own prompt (text and one assertion), temperature 0. The
release file has no pinned hash yet: it is put in place by hand, as the error says.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring import code
from pytest_benchkit.scoring.evalplus import PlusSuite
from pytest_benchkit.scoring.program_suites import Solution
from pytest_benchkit.task import Task


class MBPPPlus(PlusSuite):
    """MBPP+: short Python functions with about 35 times more inputs (EvalPlus, Liu et al. 2023)."""

    key = "mbpp-plus"
    data = catalog.MBPP_PLUS
    family = "mbpp"
    not_comparable = "published scores are of completions, not chat replies"
    ask = "Write this Python function. Reply with one Python code block."

    def solution(self, task: Task, text: str) -> Solution:
        found = code.extract(text, task["entry_point"])
        return Solution(found.code, found.rule, found.span)
