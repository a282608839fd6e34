"""Which of the ten outcomes a task has: one pure function, evaluated top to bottom (O-1)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pytest_benchkit.reply import LOOPS, Exchange, Failure, Reply
from pytest_benchkit.score import Outcome, Score

SKIPS = frozenset({"context_too_small", "context_cut"})
DEADLINES = frozenset({"request", "task"})
REASON_CHARS = 160
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Classified(NamedTuple):
    outcome: Outcome
    detail: str | None = None


def classify(
    exchange: Exchange, score: Score | None, *, extracts: bool, crash: str = "scorer_crash"
) -> Classified:
    """The outcome of one exchange.

    ``score`` is the scorer's verdict on the answer, absent when nothing was scored; ``crash`` is then
    the kind of fault of ours. Later kinds of evidence (an answer key that
    was touched) take their place above by their own line.
    """
    reply, failure = exchange.reply, exchange.failure
    if failure is not None:
        if failure.kind in SKIPS or failure.category == "skip":
            return Classified(Outcome.SKIPPED, failure.kind)
        if failure.kind in LOOPS:
            return Classified(Outcome.LOOP_KILLED, failure.kind)
        if failure.kind in DEADLINES:
            return Classified(Outcome.TIMED_OUT, failure.kind)
        if failure.kind == "client_size":
            return Classified(Outcome.TRUNCATED, failure.kind)
        return Classified(Outcome.HARNESS_ERROR, failure.kind)
    if score is None:
        return Classified(Outcome.HARNESS_ERROR, crash)
    if score.value == 1.0:
        return Classified(Outcome.CORRECT)
    if score.value > 0.0:
        return Classified(Outcome.PARTIAL)
    if cut := _cut_detail(reply):
        return Classified(Outcome.TRUNCATED, cut)
    return _no_answer(reply, score, extracts) or Classified(Outcome.INCORRECT)


def _cut_detail(reply: Reply) -> str | None:
    if "client_size" in reply.flags:
        return "client_size"
    if reply.cut:
        return "context_full" if "context_full" in reply.flags else "max_tokens"
    for flag in ("thinking_unclosed", "stop_in_thinking"):
        if flag in reply.flags:
            return flag
    return None


def _no_answer(reply: Reply, score: Score, extracts: bool) -> Classified | None:
    if reply.finish_reason == "content_filter" and score.extracted is None:
        return Classified(Outcome.NO_ANSWER, "content_filter")
    if not reply.answer.strip():
        if reply.tool_calls:
            return Classified(Outcome.NO_ANSWER, "tool_calls_only") if score.extracted is None else None
        return Classified(Outcome.NO_ANSWER, "thinking_only" if reply.thinking.strip() else "empty")
    if extracts and score.extracted is None:
        return Classified(Outcome.NO_ANSWER, "unparseable")
    return None


def reason(
    classified: Classified,
    score: Score | None,
    failure: Failure | None,
    reply: Reply,
    crash: str | None = None,
) -> str:
    """One line of at most 160 characters: what was read, what was expected, the rule (O-8)."""
    outcome, detail = classified
    if outcome in (Outcome.HARNESS_ERROR, Outcome.SKIPPED, Outcome.TIMED_OUT, Outcome.LOOP_KILLED):
        words = crash or (failure.message if failure else "")
        return one_line(f"{detail}: {words}" if words else str(detail))
    expected = show(score.expected) if score is not None else None
    tail = f", expected {expected}" if expected else ""
    if outcome is Outcome.TRUNCATED:
        tokens = reply.usage.output_tokens
        told = f", {score.reason}" if score is not None and score.reason else tail
        return one_line(f"cut: {detail}" + (f" after {tokens} tokens" if tokens else "") + told)
    if score is not None and score.reason:
        return one_line(score.reason)
    if outcome is Outcome.NO_ANSWER:
        return one_line(f"no answer: {detail}{tail}")
    read = show(score.extracted) if score is not None else None
    rule = f" [rule: {score.rule}]" if score is not None and score.rule else ""
    if outcome is Outcome.PARTIAL and score is not None:
        return one_line(f"scored {score.value:.2f}" + (f", answered {read}" if read else "") + tail, rule)
    return one_line((f"answered {read}" if read is not None else str(outcome)) + tail, rule)


def show(value: Any) -> str | None:
    """A value for a one-line reason."""
    if value is None:
        return None
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def one_line(text: str, tail: str = "") -> str:
    """Control and direction characters escaped, shortened to fit with the tail."""
    clean = CONTROL.sub(lambda m: m.group().encode("unicode_escape", "replace").decode(), text)
    room = REASON_CHARS - len(tail)
    return (clean if len(clean) <= room else clean[: room - 3] + "...") + tail
