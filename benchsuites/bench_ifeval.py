"""IFEval: instructions whose following a program can check.

Source: Zhou et al. 2023, arXiv 2311.07911; 541 prompts with 834 instructions of 25 kinds. Checks equal
google-research's ``instruction_following_eval`` @ 4c4299485319ed72ef782020c81784be5468924e, including its
sentence splitter (NLTK Punkt), words (Treebank) and language detector (langdetect, seed 0): the extra
``ifeval``. The headline is the strict prompt-level score; ``inst_strict``, ``prompt_loose`` and
``inst_loose`` stand beside it, strict and loose also per kind and per group.

Protocol: the prompt as is, zero-shot, temperature 0. Declared deviations: thinking is never read, where
upstream would check it too; a check that the reply breaks counts as not followed, where upstream stops. Five
prompts (0374, 1627, 3369, 3371, 3718) ask to be repeated and forbid what they contain: no reply follows both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import ifeval, ifeval_samples, metrics
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

EXTRA = "pytest-benchkit[ifeval]"


class IFEval(Suite):
    """IFEval: instructions that a program can check, 25 kinds (Zhou et al. 2023)."""

    key = "ifeval"
    data = catalog.IFEVAL
    not_comparable = None
    beside = ("inst_strict", "prompt_loose", "inst_loose")
    requires = {"nltk": EXTRA, "langdetect": EXTRA}
    metric_kinds = {
        "prompt_loose": "proportion",
        "inst_*": "composite",
        "strict.*": "composite",
        "loose.*": "composite",
        "n_inst*": "count",
    }

    def prompt(self, task: Task) -> str:
        return str(task["prompt"])

    def score(self, task: Task, reply: Reply) -> Score:
        return ifeval.score(reply.answer, task["instructions"], task["kwargs"], cut=reply.cut)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return ifeval_samples.pair(task["instructions"], task["kwargs"])

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {**metrics.common(rows), **ifeval.metrics(rows, self._asked)}

    def _asked(self, row: Mapping[str, Any]) -> Sequence[str]:
        """What a row without a reply was asked, so that instruction-level scores keep their denominator."""
        found = {task.id: task["instructions"] for task in self.tasks}
        return list(found[row["task_id"]])
