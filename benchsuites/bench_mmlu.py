"""MMLU: 57 subjects from school to profession.

Source: Hendrycks et al. 2021, arXiv 2009.03300; test split, 14,042 rows, four options. Metrics besides the
score per subject: ``score.area.<name>`` over the four macro areas of upstream's ``categories.py`` and
``score_macro``, the plain mean over subjects.

Protocol: zero-shot chat, one user message that names the subject, reply with the letter only, temperature
0. Deviation: upstream ranks the letters by likelihood after five examples. Not comparable with published
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.datasets.subjects import MMLU_AREAS
from pytest_benchkit.scoring import metrics
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class MMLU(ChoiceSuite):
    """MMLU: 57 subjects from school to profession, four options (Hendrycks et al. 2021)."""

    key = "mmlu"
    data = catalog.MMLU
    not_comparable = "published scores rank the letters by likelihood after five examples"

    def ask(self, task: Task) -> str:
        return f"Choose the best answer to this question about {task['subject'].replace('_', ' ')}."

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        found = super().metrics(rows)
        if (over_subjects := metrics.macro(rows)) is not None:
            found["score_macro"] = over_subjects
        for area, subjects in MMLU_AREAS.items():
            scores = [row.get("score") or 0.0 for row in rows if row.get("category") in subjects]
            if (score := metrics.mean(scores)) is not None:
                found[f"score.area.{area}"] = score
        return found
