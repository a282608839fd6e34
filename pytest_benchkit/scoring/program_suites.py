"""Families of suites that are answered with a program: :class:`ProgramSuite`, :class:`StubSuite`."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring import code, metrics
from pytest_benchkit.scoring.syntax import compiles
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.reply import Reply
    from pytest_benchkit.scoring.programs import Trial, Verdict
    from pytest_benchkit.task import Task


@dataclass(frozen=True, slots=True)
class Solution:
    """A whole program made of a reply: its source, the rule that found the code, the code's place in the
    answer, flags."""

    source: str
    rule: str
    span: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()


class ProgramSuite(Suite):
    """Rows whose answer is a program with a function ``entry_point``, judged in the sandbox.

    The score is 1 when every test holds. ``extracted`` is how the program ended (``passed``,
    ``wrong_value``, ``exception`` ...); ``rule`` says where the code was found. Without isolation rows are
    skipped, never judged.
    """

    needs = frozenset({"sandbox"})
    limits: ClassVar[Limits] = Limits()
    beside: ClassVar[tuple[str, ...]] = ("time_only_failures",)
    metric_kinds = {
        "category.*": "count",
        "over_3s": "count",
        "time_only_failures": "count",
        "cpu_p*_s": "quantile",
    }

    @abstractmethod
    def solution(self, task: Task, text: str) -> Solution:
        """The program in a reply."""

    @abstractmethod
    def trial(self, task: Task) -> Trial:
        """How it is judged."""

    def score(self, task: Task, reply: Reply) -> Score:
        if not reply.answer.strip():
            return Score(0.0, rule="none")
        found = self.solution(task, reply.answer)
        if not compiles(found.source):
            read = None if found.rule == "raw-broken" else "syntax"
            return Score(
                0.0, read, rule=found.rule if read else "none", span=found.span, reason=_told("syntax", found)
            )
        from pytest_benchkit.scoring import programs  # what runs programs is only loaded when one is run

        program = programs.Program(found.source, task["entry_point"])
        verdict = programs.run(program, self.trial(task), self.limits)
        return self.judged(task, found, verdict)

    def judged(self, task: Task, found: Solution, verdict: Verdict) -> Score:
        """The score of a program that ran."""
        return Score(
            float(verdict.passed),
            verdict.category,
            rule=found.rule,
            span=found.span,
            also=self.also(found, verdict),
            labels=labels_of(verdict),
            flags=found.flags,
            feedback=f"Your answer was run and failed: {verdict.feedback}.",
            reason=_told(verdict.category, found, verdict.detail),
        )

    def also(self, found: Solution, verdict: Verdict) -> tuple[Reading, ...]:
        """Other readings of the same program."""
        return ()

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Besides the common ones: ``category.<name>`` (programs by how they ended), ``over_3s`` (those that
        upstream's limit would have ended), ``time_only_failures``, and CPU seconds a program."""
        return {**metrics.common(rows), **program_metrics(rows)}


class StubSuite(ProgramSuite):
    """HumanEval's form: a stub (``prompt``) whose function is to be completed. The stub always stays before
    the code of the reply, for its imports and helpers."""

    ask: ClassVar[str] = (
        "Complete the last function of this Python code. Reply with one Python code block that holds the "
        "completed function, or its body alone; nothing else is needed."
    )
    """The sentence before the stub."""

    def prompt(self, task: Task) -> str:
        return f"{self.ask}\n\n```python\n{task['prompt'].rstrip()}\n```"

    def solution(self, task: Task, text: str) -> Solution:
        entry = task["entry_point"]
        found = code.extract(text, entry, bodies=True)
        whole = code.assemble(task["prompt"], entry, found.code)
        return Solution(whole.source, found.rule, found.span, ("reindented",) if whole.reindented else ())

    def also(self, found: Solution, verdict: Verdict) -> tuple[Reading, ...]:
        """The official scorer joins texts as they are: what had to be indented fails there."""
        official = verdict.passed and "reindented" not in found.flags
        return (Reading("official", verdict.category, float(official)),)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        right = f"```python\n{task['prompt']}{task['canonical_solution']}\n```"
        return right, f"```python\n{task['prompt']}    raise NotImplementedError\n```"


def labels_of(verdict: Verdict) -> dict[str, Any]:
    """What a record keeps of how a program ran."""
    labels: dict[str, Any] = {"category": verdict.category, "wall_s": round(verdict.wall_s, 4)}
    if verdict.cpu_s is not None:
        labels["cpu_s"] = round(verdict.cpu_s, 4)
    for name in ("over_3s", "time_only", "retried"):
        if getattr(verdict, name):
            labels[name] = True
    if verdict.category == "exception" and verdict.detail:
        labels["exception"] = verdict.detail
    return labels


def program_metrics(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """See :meth:`ProgramSuite.metrics`."""
    labels = [row.get("labels") or {} for row in rows]
    found: dict[str, float] = {
        f"category.{name}": count
        for name, count in sorted(
            Counter(label["category"] for label in labels if "category" in label).items()
        )
    }
    found["over_3s"] = sum(bool(label.get("over_3s")) for label in labels)
    found["time_only_failures"] = sum(bool(label.get("time_only")) for label in labels)
    used = sorted(label["cpu_s"] for label in labels if "cpu_s" in label)
    for share in (50, 95):
        if used:
            found[f"cpu_p{share}_s"] = used[min(len(used) - 1, share * len(used) // 100)]
    return found


def _told(category: str, found: Solution, detail: str = "") -> str:
    words = category.replace("_", " ")
    return f"{words}{f' ({detail})' if detail else ''} [rule: {found.rule}]"
