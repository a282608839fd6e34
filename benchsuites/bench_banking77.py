"""BANKING77: which of 77 intents a message to a bank has.

Source: Casanueva et al. 2020, arXiv 2003.04807; test split, 3,080 rows, 40 of each intent. Always naming one
intent scores 1.3 %. ``macro_f1`` is over the labels that are a gold or a reading; ``recall.<intent>`` and the
ten commonest mistakes (``confusion.<gold>><read>``) stand beside it. No official scorer of chat replies
exists; ``also.exact`` counts replies that are the label and nothing else.

Protocol: zero-shot chat with all 77 labels in upstream's order, temperature 0. Deviations: upstream trains a
classifier; line breaks before three of the messages (0559, 0976, 1461) are dropped, because the mirror of
the rows lacks them. Not comparable with published scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.datasets.intents import INTENTS
from pytest_benchkit.decisions import Decision
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import labels, metrics
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task


class Banking77(Suite):
    """BANKING77: the intent of a bank customer's message, 77 labels (Casanueva et al. 2020)."""

    key = "banking77"
    data = catalog.BANKING77
    not_comparable = "published scores are of trained classifiers"
    beside = ("macro_f1",)
    metric_kinds = {"macro_f1": "composite", "recall.*": "proportion", "confusion.*": "count"}

    @cached_property
    def reader(self) -> labels.LabelReader:
        return labels.LabelReader(INTENTS)

    def prompt(self, task: Task) -> str:
        return (
            "Which intent does this message of a bank's customer have? Reply with exactly one label of this "
            "list and nothing else.\n\n"
            f"{chr(10).join(INTENTS)}\n\nMessage: {task['question']}"
        )

    def score(self, task: Task, reply: Reply) -> Score:
        return self.reader.score(reply.answer, task["answer"])

    def decision(self, task: Task) -> Decision:
        words = {intent: intent.replace("_", " ") for intent in INTENTS}
        return Decision(task["question"], "Which intent does the message have?", words, task["answer"])

    def sample_replies(self, task: Task) -> tuple[str, str]:
        right = str(task["answer"])
        wrong = INTENTS[(INTENTS.index(right) + 1) % len(INTENTS)]
        return right, f"The intent is `{wrong}`."

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {**metrics.common(rows), **labels.metrics(rows)}
