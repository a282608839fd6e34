"""RULER: what is left of a context window, thirteen synthetic families at six lengths up to 128k.

Source: Hsieh et al. 2024, arXiv 2404.06654; families, figures and scoring of NVIDIA/RULER ``scripts/`` @
c3f5e3b4f87f97e048793bb510a3a6b19a46bf3a. 3 rows of each family at each length (``ruler-full``: 500),
generated when they are asked. A prompt stays within its length by the model's own tokenizer, by characters
per token measured before the run, or by safe figures: ``sized.*`` and ``fill.*`` say which and how full.
Rows longer than the window are skipped, and so are those whose texts are not installed. The score is the
share of golds in the reply.

Protocol: one chat message, temperature 0, upstream's limits of answer tokens. Deviations: wording, noise
line and essays (49 of upstream's 218 pages, corpus ``pg-49``) differ; no answer is begun for the model;
distractors never hold a gold; ``cwe`` lists beyond 8,000 words are filled with pairs of words unless
upstream's list is installed, and short ones may lack the worked example. Not comparable with published
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pytest_benchkit.datasets.ruler import samples
from pytest_benchkit.datasets.ruler.cells import FAMILIES, LENGTHS
from pytest_benchkit.datasets.ruler.source import Ruler, cell_of
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import metrics, ruler
from pytest_benchkit.sizing import Sizer
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

ROWS = Ruler("ruler", 3)


class RulerSuite(Suite):
    """RULER: retrieval, tracing and counting in up to 128k tokens (Hsieh et al. 2024)."""

    key = "ruler"
    data = ROWS
    rows: ClassVar[Ruler] = ROWS
    scoring = "graded"
    in_overall = False
    not_comparable = "wording is ours, and essays are the corpus pg-49"
    metric_kinds = {
        "score.length.*": "mean01",
        "samples.length.*": "count",
        "fill.*": "composite",
        "sized.*": "count",
        "over_length": "count",
        "short": "count",
    }

    def fit(self, task: Task, sizer: Sizer) -> Task:
        return self.rows.fit(task, sizer)

    def size_samples(self) -> Mapping[str, str]:
        return samples.texts(self.rows.corpora)

    def prompt_tokens(self, task: Task) -> int | None:
        return task.get("bound")

    def max_tokens_for(self, task: Task) -> int | None:
        return cell_of(task).family.answer_tokens

    def prompt(self, task: Task) -> str:
        """The prompt of a row that was fitted to a model; of another its shortest one."""
        return str(task["prompt"] if "prompt" in task else self.rows.smallest(task)["prompt"])

    def score(self, task: Task, reply: Reply) -> Score:
        made = task if "golds" in task else self.rows.smallest(task)
        found = ruler.score(reply.answer, made["golds"], any_gold=FAMILIES[task["family"]].any_gold)
        found.labels = {
            "length": task["length"],
            "golds": len(made["golds"]),
            **{name: made[name] for name in ("sized", "tokens", "depths") if name in made},
            **made["facts"],
        }
        return ruler.flagged(found, reply, LENGTHS[task["length"]])

    def sample_replies(self, task: Task) -> tuple[str, str]:
        made = task if "golds" in task else self.rows.smallest(task)
        return ", ".join(made["golds"]), "I cannot find it."

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {**metrics.common(rows), **ruler.metrics(rows, LENGTHS)}
