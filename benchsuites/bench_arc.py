"""ARC-Challenge: grade-school science questions.

Source: Clark et al. 2018, arXiv 1803.05457; test split, 1,172 rows, four of them with three options.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class ARC(ChoiceSuite):
    """ARC-Challenge: grade-school science, three or four options (Clark et al. 2018)."""

    key = "arc"
    data = catalog.ARC

    def ask(self, task: Task) -> str:
        return "Choose the best answer to this science question."
