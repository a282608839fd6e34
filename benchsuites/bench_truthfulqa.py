"""TruthfulQA: questions that people often answer wrongly, single true answer (MC1).

Source: Lin et al. 2022, arXiv 2109.07958; validation split, 817 rows with 2 to 13 options. Upstream lists
the true answer first in every row; here all options are shown in a balanced seeded order that is part of
the data, so every letter is gold equally often among rows with equally many options and a constant letter
stays at chance (22.6 %). Category: the number of options, because upstream's category column is not in
every source of these rows and equal rows must plan alike.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class TruthfulQA(ChoiceSuite):
    """TruthfulQA MC1: common misconceptions, 2 to 13 options (Lin et al. 2022)."""

    key = "truthfulqa"
    data = catalog.TRUTHFULQA

    def ask(self, task: Task) -> str:
        return "Choose the true answer to the question."
