"""BFCL: calling the right functions with the right arguments, and calling none where none fits.

Source: Patil et al. 2025, Berkeley Function Calling Leaderboard v4, single-turn part (gorilla
``berkeley-function-call-leaderboard`` @ 6ea57973c7a6097fd7c5915698c54c17c5b1b6c8): 3,625 rows in twelve
subsets. Variants ``golden`` (995 rows), ``echolp`` (1,004) and ``mini`` (192) take the first rows of each
subset; ``live-relevance`` is the 16 rows that are in no draw and no total. ``prompt`` and
``golden-prompt``, ``echolp-prompt``, ``mini-prompt`` ask the same rows without the ``tools`` field, for
servers that have none; their results are other suites, never mixed.

Protocol: native tools without ``tool_choice``, temperature 0, one request, the row's own messages. Judged by
:mod:`pytest_benchkit.scoring.bfcl`, which equals ``bfcl_eval`` 2026.3.23. Totals follow upstream, so an
unparseable call, a cut reply and an empty one count as no call; ``*_guarded`` are the totals without these
credits. Deviations: arguments that are empty count as none given; a call that makes upstream's checker raise
is a miss; in prompt mode the wording is ours, full stops of names are folded, Java and JavaScript calls are
read by a small parser of ours, and of arithmetic in arguments only numbers are worked out. Seven rows
have golds that no call can meet, here as upstream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import metrics
from pytest_benchkit.scoring.bfcl import asking, golds, verdict
from pytest_benchkit.scoring.bfcl.totals import COUNTS, TOTALS, totals_of
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Message, Task

DRAWS = {"golden": catalog.BFCL_GOLDEN, "echolp": catalog.BFCL_ECHOLP, "mini": catalog.BFCL_MINI}
REFUSAL = "None of the functions serves this request."


class BFCL(Suite):
    """BFCL: function calls, right ones and none where none fits (Patil et al. 2025)."""

    key = "bfcl"
    data = catalog.BFCL
    variants = {
        **DRAWS,
        "live-relevance": catalog.BFCL_LIVE_RELEVANCE,
        "prompt": catalog.BFCL,
        **{f"{name}-prompt": draw for name, draw in DRAWS.items()},
    }
    needs = frozenset({"tools"})
    not_comparable = "the leaderboard averages in multi-turn and agentic parts"
    totals = frozenset(TOTALS)
    beside = ("normalized_single_turn_score", "overall_accuracy", "overall_guarded")
    metric_kinds = {
        **dict.fromkeys(TOTALS, "composite"),
        **dict.fromkeys((*COUNTS, "transport_errors", "subset.*"), "count"),
    }

    @property
    def as_text(self) -> bool:
        """Whether calls are asked for and read as text."""
        return (self.variant or "").endswith("prompt")

    def prompt(self, task: Task) -> list[Message]:
        messages: list[Message] = task["messages"]
        if not self.as_text or not task["functions"]:
            return messages
        return asking.with_system(messages, asking.system_message(task["functions"], task["subset"]))

    def tools(self, task: Task) -> list[dict[str, Any]] | None:
        return None if self.as_text else asking.tools(task["functions"], task["subset"])

    def score(self, task: Task, reply: Reply) -> Score:
        return verdict.score(reply, task["functions"], task["golds"], task["subset"], prompted=self.as_text)

    def sample_replies(self, task: Task) -> tuple[Reply, Reply]:
        calls = golds.right_calls(task["functions"], task["golds"], task["subset"])
        other = [("no_such_function", {"reason": "sample"})]
        called, miscalled = (
            Reply.of(golds.as_text(made, task["subset"])) if self.as_text else golds.as_reply(made)
            for made in (calls or other, other)
        )
        if "irrelevance" in task["subset"]:
            return Reply.of(REFUSAL), miscalled
        return called, Reply.of(REFUSAL) if task["subset"] == "live_relevance" else miscalled

    def repair_limit(self, task: Task) -> int:
        return 0

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {**metrics.common(rows), **totals_of(rows)}
