"""Families of suites: :class:`ChoiceSuite` (a letter), :class:`YesNoSuite` (yes or no)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_benchkit.decisions import YES_NO, Decision
from pytest_benchkit.scoring import choices, metrics, yesno
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.reply import Reply
    from pytest_benchkit.score import Score
    from pytest_benchkit.task import Task

LETTERS = choices.LETTERS


class ChoiceSuite(Suite):
    """Rows with the fields ``question``, ``options`` and ``answer`` (a letter); the reply names a letter.

    The prompt is one message: what to do, which letters exist (exactly those shown), the question, the
    options as ``X) text``. Subclasses may say what to do (:meth:`ask`) and how the question is worded
    (:meth:`question`).
    """

    profile: ClassVar[Literal["plain", "mmlu-pro", "gpqa"]] = "plain"
    """Whose published reading stands beside ours (see :mod:`pytest_benchkit.scoring.choices`)."""
    not_comparable = "published scores rank the options by likelihood"
    perturbations = ("choice-order",)

    def ask(self, task: Task) -> str:
        """The sentence that says what to choose."""
        return "Choose the best answer to the question."

    def question(self, task: Task) -> str:
        """The question as shown."""
        return str(task["question"])

    def prompt(self, task: Task) -> str:
        shown = LETTERS[: len(task["options"])]
        which = f"{', '.join(shown[:-1])} or {shown[-1]}"
        lines = [f"{letter}) {text}" for letter, text in zip(shown, task["options"], strict=True)]
        asked = f"{self.ask(task)} Reply with one letter only: {which}."
        return "\n\n".join([asked, self.question(task), "\n".join(lines)])

    def score(self, task: Task, reply: Reply) -> Score:
        return choices.score(
            reply.answer, task["options"], task["answer"], profile=self.profile, cut=reply.cut
        )

    def decision(self, task: Task) -> Decision:
        options = dict(zip(LETTERS, task["options"], strict=False))
        return Decision(self.question(task), self.ask(task), options, task["answer"])

    def sample_replies(self, task: Task) -> tuple[str, str]:
        right = LETTERS.index(task["answer"])
        return task["answer"], LETTERS[(right + 1) % len(task["options"])]

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {**metrics.common(rows), **metrics.letters(rows)}


class YesNoSuite(Suite):
    """Rows whose field ``answer`` is ``yes`` or ``no``; the reply says which."""

    instructions: ClassVar[str] = "Answer the question with yes or no."
    """What a decision model is asked about the row's :meth:`state`."""

    def state(self, task: Task) -> str:
        """What the question is about, for decision models."""
        return str(self.prompt(task))

    def decision(self, task: Task) -> Decision:
        return Decision(self.state(task), self.instructions, YES_NO, task["answer"])

    def score(self, task: Task, reply: Reply) -> Score:
        return yesno.score(reply.answer, task["answer"], cut=reply.cut)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return ("YES", "NO") if task["answer"] == "yes" else ("NO", "YES")

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Besides the common ones: ``baseline_constant``, what always giving the commoner gold scores."""
        found = metrics.common(rows)
        if rows:
            yes = sum(row.get("expected") == "yes" for row in rows) / len(rows)
            found["baseline_constant"] = max(yes, 1 - yes)
        return found
