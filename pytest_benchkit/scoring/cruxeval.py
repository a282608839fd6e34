"""CRUXEval: predict what a short Python function gives back, or an input for which it gives a value.

Source: Gu et al. 2024, arXiv 2401.03065; 800 functions, four suites over the same rows: the output (``-o``)
or the input (``-i``), direct or with reasoning first (``-cot``, not part of an overall score). Scored as
upstream's ``evaluation/utils_general.py`` @ 190faf16d175b5847b0af05d937872b1fb395942: the assertion of the
answer must hold.

Protocol: chat with upstream's form of answer and two worked examples of our own (one with reasoning), no stop
string, temperature 0. Declared deviations: the assertion is parsed, so a ``==`` inside a string is safe; any
expression with the right value counts as an output (``also.literal-only`` and ``expression_rate`` say how
often that mattered), but it is evaluated where no function is, so an output that calls ``f`` in any way is
wrong, where upstream refuses only the exact call; an input is made of plain operations
(:mod:`pytest_benchkit.scoring.inputs`: literals, lambdas, comprehensions, builtins that compute, methods of
plain types), where upstream lets it rewrite ``f``; 3 s of CPU, where upstream has 3 s of wall time.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_benchkit.datasets import catalog
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring import assertions, metrics
from pytest_benchkit.scoring.program_suites import labels_of, program_metrics
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from pytest_benchkit.reply import Reply
    from pytest_benchkit.scoring.programs import Verdict
    from pytest_benchkit.task import Task

RULES = {
    "output": (
        "You get a Python function and an assertion with an input and ?? in place of the output. Complete "
        "it with a literal (no unsimplified expression, no call) that the function gives for that input."
    ),
    "input": (
        "You get a Python function and an assertion with ?? in place of the input. Complete it with an "
        "input for which the function gives that output; any such input will do."
    ),
}
THINK = " First reason step by step between [THOUGHT] and [/THOUGHT]."
FORM = " Reply with the whole completed assertion between [ANSWER] and [/ANSWER] and nothing after it."
EXAMPLES = {
    "output": (
        ("def f(n):\n    return [n] * 2", "assert f(3) == ??", "assert f(3) == [3, 3]"),
        ("def f(s):\n    return s.upper()", "assert f('ab') == ??", "assert f('ab') == 'AB'"),
    ),
    "input": (
        ("def f(words):\n    return len(words)", "assert f(??) == 2", "assert f(['a', 'b']) == 2"),
        ("def f(a, b):\n    return a + b", "assert f(??) == 'xyz'", "assert f('x', 'yz') == 'xyz'"),
    ),
}
THOUGHTS = {
    "output": "f puts its argument into a list and doubles the list: for 3 that is [3, 3].",
    "input": "f gives the number of words, so any list of two will do, such as ['a', 'b'].",
}


class CruxEval(Suite):
    """Rows with ``code`` (a function ``f``), ``input`` (its arguments as text) and ``output`` (a literal)."""

    data = catalog.CRUXEVAL
    needs = frozenset({"sandbox"})
    direction: ClassVar[assertions.Side]
    reasoning: ClassVar[bool] = False
    not_comparable = "published scores are of sampled completions"
    metric_kinds = {
        "category.*": "count",
        "over_3s": "count",
        "time_only_failures": "count",
        "cpu_p*_s": "quantile",
        "expression_rate": "composite",
    }
    limits: ClassVar[Limits] = Limits(cpu_s=3.0)

    def prompt(self, task: Task) -> str:
        head = RULES[self.direction] + (THINK if self.reasoning else "") + FORM
        examples = EXAMPLES[self.direction][: 1 if self.reasoning else 2]
        shown = [_block(code, asked, done, self._thought()) for code, asked, done in examples]
        asked = f"f({task['input']}) == ??" if self.direction == "output" else f"f(??) == {task['output']}"
        return "\n\n".join([head, *shown, _block(task["code"], f"assert {asked}")])

    def _thought(self) -> str:
        return f"[THOUGHT]\n{THOUGHTS[self.direction]}\n[/THOUGHT]\n" if self.reasoning else ""

    def score(self, task: Task, reply: Reply) -> Score:
        answer = assertions.read(reply.answer, self.direction)
        labels = {"direction": self.direction, "style": "cot" if self.reasoning else "direct"}
        gold = task["output"] if self.direction == "output" else f"f({task['input']})"
        given = answer.expression
        if given is None:
            return Score(0.0, expected=gold, rule=answer.rule, labels=labels)
        if words := self._refused(given, answer.calls_f):
            return Score(
                0.0, given, gold, answer.rule, labels=labels, reason=f"{words} [rule: {answer.rule}]"
            )
        verdict = self._verdict(task, given)
        return Score(
            float(verdict.passed),
            given,
            gold,
            answer.rule,
            also=self._also(given, task["output"]),
            labels={**labels, **labels_of(verdict)},
            feedback=f"Your answer was run and failed: {verdict.feedback}.",
        )

    def _refused(self, given: str, calls_f: bool) -> str | None:
        """Why an answer is not run: an output must not call the function; an input must be a call of it, and
        must not do more than that."""
        if self.direction == "output":
            return "the answer calls f" if assertions.mentions_f(given) else None
        if not calls_f:
            return "the answer does not call f"
        return None if assertions.call_only_computes(given) else "the input does more than make values"

    def _verdict(self, task: Task, given: str) -> Verdict:
        """An input is judged beside the function. An output has a value of its own: a literal at once, any
        other expression in a process that holds neither function nor gold."""
        from pytest_benchkit.scoring import programs, programs_trials

        beside = task["code"]
        if self.direction == "output":
            is_literal, value = assertions.literal(given)
            if is_literal:
                right = value == ast.literal_eval(task["output"])
                return programs.Verdict(right, programs.PASSED if right else "wrong_value")
            beside = ""
        trial = programs_trials.expression(given, task["output"])
        return programs.run(programs.Program(beside), trial, self.limits)

    def _also(self, given: str, gold: str) -> tuple[Reading, ...]:
        if self.direction != "output":
            return ()
        is_literal, value = assertions.literal(given)
        right = is_literal and value == assertions.literal(gold)[1]
        return (Reading("literal-only", given if is_literal else None, float(right)),)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        right = f"assert f({task['input']}) == {task['output']}"
        wrong = f"assert f({task['input']}) == object" if self.direction == "output" else "assert f == 0"
        return f"{self._thought()}[ANSWER]\n{right}\n[/ANSWER]", f"[ANSWER]\n{wrong}\n[/ANSWER]"

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Besides those of programs: ``expression_rate``, the share of outputs that are no plain literal."""
        found = {**metrics.common(rows), **program_metrics(rows)}
        if self.direction == "output" and rows:
            read = [row for row in rows if row.get("extracted") is not None]
            plain = sum(assertions.literal(str(row["extracted"]))[0] for row in read)
            found["expression_rate"] = (len(read) - plain) / len(rows)
        return found


def _block(code: str, asked: str, done: str | None = None, thought: str = "") -> str:
    shown = f"```python\n{code.strip()}\n\n{asked}\n```"
    return shown if done is None else f"{shown}\n\n{thought}[ANSWER]\n{done}\n[/ANSWER]"
