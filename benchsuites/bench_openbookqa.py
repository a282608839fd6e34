"""OpenBookQA: elementary science, without the book's facts.

Source: Mihaylov et al. 2018, arXiv 1809.02789; main test split, 500 rows.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class OpenBookQA(ChoiceSuite):
    """OpenBookQA: elementary science, four options, no book (Mihaylov et al. 2018)."""

    key = "openbookqa"
    data = catalog.OPENBOOKQA

    def ask(self, task: Task) -> str:
        return "Choose the best answer; where the question is an unfinished sentence, its best ending."
