"""HellaSwag: which ending continues the text.

Source: Zellers et al. 2019, arXiv 1905.07830; validation split, 10,042 rows. Text is cleaned of wiki
markers as lm-evaluation-harness does, the activity stands first. The variant ``activitynet-1000`` is the
first 1,000 rows from a package mirror, ActivityNet only and without the activity label: another data set,
never mixed with or compared to the full one.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class HellaSwag(ChoiceSuite):
    """HellaSwag: which of four endings continues the text (Zellers et al. 2019)."""

    key = "hellaswag"
    data = catalog.HELLASWAG
    variants = {"activitynet-1000": catalog.HELLASWAG_ACTIVITYNET_1000}

    def ask(self, task: Task) -> str:
        return "Choose the ending that continues the text best."
