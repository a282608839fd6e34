"""GPQA Diamond: graduate questions that search engines do not answer.

Source: Rein et al. 2023, arXiv 2311.12022; Diamond subset, 198 rows. Options stand in the order of the
official baselines (one Python generator seeded 0 over the whole file). Upstream's reading of the same reply
(idavidrein/gpqa ``parse_sampled_answer``) is ``score_official``; a declared deviation is that a lone
bracketed letter is not taken from its first place, because a discussion names wrong options first.

The authors ask that examples are not posted in plain text: records of this suite hold no prompt and no
reply text. At 198 rows the 95 % interval is about 7 points to either side.

Protocol: zero-shot chat, reply with the letter only, temperature 0; upstream asks for reasoning after
examples. Not comparable with published scores.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task


class GPQA(ChoiceSuite):
    """GPQA Diamond: graduate-level science, four options (Rein et al. 2023)."""

    key = "gpqa"
    data = catalog.GPQA
    profile = "gpqa"
    not_comparable = "published scores ask for reasoning after examples"
    store_prompts = False

    def ask(self, task: Task) -> str:
        return "Choose the correct answer to this graduate-level science question."

    def score(self, task: Task, reply: Reply) -> Score:
        score = super().score(task, reply)
        score.labels["subdomain"] = task["subdomain"]
        return score
