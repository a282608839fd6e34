"""BoolQ: yes/no questions about a passage.

Source: Clark et al. 2019, arXiv 1905.10044; SuperGLUE validation split (the passage begins with its title),
3,270 rows, 2,033 yes and 1,237 no: always answering yes scores 62.2 % (``baseline_constant``). Category is
the gold, so samples are balanced and the score of each side is reported; ``score_macro`` is their mean.

Protocol: zero-shot chat, reply YES or NO only, temperature 0. Deviation: upstream trains a classifier.
Not comparable with published scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring import metrics
from pytest_benchkit.scoring.suites import YesNoSuite
from pytest_benchkit.task import Task


class BoolQ(YesNoSuite):
    """BoolQ: yes/no questions about a passage (Clark et al. 2019)."""

    key = "boolq"
    data = catalog.BOOLQ
    not_comparable = "published scores are of trained classifiers"

    def prompt(self, task: Task) -> str:
        return (
            "Answer the question from the passage. Reply YES or NO only.\n\n"
            f"Passage: {task['passage']}\n\nQuestion: {task['question'].rstrip('?')}?"
        )

    def state(self, task: Task) -> str:
        return f"{task['passage']}\n\n{task['question'].rstrip('?')}?"

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        found = super().metrics(rows)
        if (both_sides := metrics.macro(rows)) is not None:
            found["score_macro"] = both_sides
        return found
