"""GSM8K: grade-school word problems with one number as the answer.

Source: Cobbe et al. 2021, arXiv 2110.14168; test split, 1,319 rows. Zero-shot chat, temperature 0.

Deviations from the official protocol: the prompt is ours and zero-shot; the headline reads a number-only
``####`` line before upstream's first match, compares by value ("12." and "12.0" equal 12), and reads an
answer without ``####`` by further rules (``boxed``, ``answer-phrase``, ``last-number``). Upstream's own
reading is ``score_official``; lm-evaluation-harness's two stand beside it in ``also``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import metrics, numbers
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task


class GSM8K(Suite):
    """GSM8K: grade-school word problems, one number as the answer (Cobbe et al. 2021)."""

    key = "gsm8k"
    data = catalog.GSM8K
    not_comparable = "published scores use few-shot prompts"

    def prompt(self, task: Task) -> str:
        return (
            "Solve this problem step by step. End your reply with one line that holds #### and the final "
            "number, and write nothing after it.\n\n"
            f"{task['question']}"
        )

    def score(self, task: Task, reply: Reply) -> Score:
        return numbers.final_answer(reply.answer, task["answer"], cut=reply.cut)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        wrong = numbers.show(numbers.value(task["answer"]) + 1)
        return f"Step by step.\n#### {task['answer']}", f"Step by step.\n#### {wrong}"

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return metrics.common(rows)
