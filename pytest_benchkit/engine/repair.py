"""Repair rounds (§10.2): a missed task is asked again with a word on what was wrong with its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_benchkit.engine import outcome
from pytest_benchkit.harnesses import direct
from pytest_benchkit.score import Outcome

if TYPE_CHECKING:
    from pytest_benchkit.engine.conclusion import Asked
    from pytest_benchkit.engine.judging import Judged
    from pytest_benchkit.engine.outcome import Classified
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.score import Score
    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import Task

REPAIRABLE = frozenset({Outcome.INCORRECT, Outcome.PARTIAL, Outcome.NO_ANSWER})
FEEDBACK_CHARS = 2000


class Attempt(NamedTuple):
    """One answer to a task and its verdict; ``feedback`` is what the model was told about it, if anything."""

    exchange: Exchange
    judged: Judged
    classified: Classified
    feedback: str | None = None


def attempt(suite: Suite, exchange: Exchange, judged: Judged) -> Attempt:
    """The attempt that an exchange and its verdict make."""
    found = outcome.classify(exchange, judged.score, extracts=suite.extracts, crash=judged.detail)
    return Attempt(exchange, judged, found)


def rounds(suite: Suite, task: Task, wanted: int) -> int:
    """How many rounds this task may have at most, of the ``wanted`` ones."""
    if not wanted:
        return 0
    limit = suite.repair_limit(task)
    return wanted if limit is None else min(wanted, limit)


def choices(suite: Suite, task: Task, wanted: int) -> int | None:
    """The number of answers to choose from, where there are rounds to be set beside guessing (R-6)."""
    question = suite.decision(task) if wanted else None
    return None if question is None else len(question.criteria)


def next_round(suite: Suite, asked: Asked, last: Attempt) -> Asked | None:
    """The task as it goes into another round, the last attempt told about; ``None`` when it is settled.

    Runs the suite's ``feedback``; whatever that raises is the suite's bug.
    """
    if len(asked.earlier) >= asked.rounds or asked.request is None:
        return None
    if last.classified.outcome not in REPAIRABLE or last.judged.score is None:
        return None
    score = last.judged.score
    words = suite.feedback(asked.task, score) or _usual(score)
    if len(words) > FEEDBACK_CHARS:
        words = words[: FEEDBACK_CHARS - 3] + "..."
    return replace(asked, earlier=(*asked.earlier, last._replace(feedback=words)))


def request_of(asked: Asked) -> ChatRequest | None:
    """The request of the round that :func:`next_round` prepared; ``None`` when the task's time is over."""
    first, last, number = asked.request, asked.earlier[-1], len(asked.earlier)
    assert first is not None
    assert last.feedback is not None
    left = asked.rounds - number + 1
    request = direct.follow_up(first, last.exchange.reply.answer, last.feedback, number, left)
    if first.seconds is not None:
        request.seconds = first.seconds - sum(attempt.exchange.open_s for attempt in asked.earlier)
        if request.seconds <= 0:
            return None
    return request


def _usual(score: Score) -> str:
    if 0 < score.value < 1:
        return f"Your answer was scored {100 * score.value:.0f} %."
    return "Your answer was marked wrong."


def unfinished(attempts: tuple[Attempt, ...], allowed: int) -> bool:
    """Whether rounds that should have been made were not."""
    last = attempts[-1].classified.outcome
    stopped = last in REPAIRABLE and len(attempts) <= allowed
    return stopped or (len(attempts) > 1 and not last.counted)
