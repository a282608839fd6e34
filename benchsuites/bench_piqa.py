"""PIQA: which of two solutions reaches an everyday goal.

Source: Bisk et al. 2020, arXiv 1911.11641; validation split, 1,838 rows.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class PIQA(ChoiceSuite):
    """PIQA: which of two solutions reaches the goal (Bisk et al. 2020)."""

    key = "piqa"
    data = catalog.PIQA

    def ask(self, task: Task) -> str:
        return "Choose the solution that reaches the goal."

    def question(self, task: Task) -> str:
        return f"Goal: {task['question']}"
