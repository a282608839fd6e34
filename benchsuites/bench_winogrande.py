"""WinoGrande: which of two names or nouns fills the blank.

Source: Sakaguchi et al. 2020, arXiv 1907.10641; WinoGrande 1.1, labelled dev split, 1,267 rows.
Protocol: zero-shot chat, one user message, reply with the letter only, temperature 0. Deviation: upstream
ranks the options by likelihood; here the model writes a letter, read by the rules of
:mod:`pytest_benchkit.scoring.choices`. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class WinoGrande(ChoiceSuite):
    """WinoGrande: which of two options fills the blank (Sakaguchi et al. 2020)."""

    key = "winogrande"
    data = catalog.WINOGRANDE

    def ask(self, task: Task) -> str:
        return "Choose the option that fills the blank, written as an underscore, in this sentence."
