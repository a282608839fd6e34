"""MMLU-Pro: harder questions with up to ten options.

Source: Wang et al. 2024, arXiv 2406.01574; test split, 12,032 rows in 14 categories. Options equal to
``N/A`` are upstream's padding and dropped, nothing else is. Upstream's reading of the same reply
(TIGER-AI-Lab/MMLU-Pro ``evaluate_from_api.py`` @ 007ab5c2b1b1271303db9f92bbd9fe0e173db18c) is
``score_official``, with its fixed guess for unread replies ``also.official-guess``.

Protocol: zero-shot chat, reply with the letter only, temperature 0; upstream shows five worked examples and
asks for reasoning. Declared deviations of the reading: free-standing letters only, brackets and bold are
allowed after ``Answer:``, no guess for a reply that names no letter. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class MMLUPro(ChoiceSuite):
    """MMLU-Pro: harder questions in 14 categories, up to ten options (Wang et al. 2024)."""

    key = "mmlu-pro"
    data = catalog.MMLU_PRO
    profile = "mmlu-pro"
    not_comparable = "published scores use five worked examples and reasoning"

    def ask(self, task: Task) -> str:
        return f"Choose the best answer to this question about {task['subject']}."
