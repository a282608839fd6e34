"""From an exchange and its judgement to the record that is stored: outcome, reason, flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_benchkit.engine import outcome, repair
from pytest_benchkit.runs.repair import UNFINISHED

if TYPE_CHECKING:
    from pytest_benchkit.engine.loops.watch import Watch
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.engine.records import Recorder
    from pytest_benchkit.engine.repair import Attempt
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.runs.record import TaskRecord
    from pytest_benchkit.task import Task


@dataclass(frozen=True, slots=True)
class Asked:
    """A task as it was asked, and what came back last; ``started`` is Unix seconds.

    ``watch`` saw it come, where text is watched. ``rounds`` is how often it may be asked again, ``earlier``
    the attempts before this one, ``choices`` the number of answers that there are to choose from.
    """

    task: Task
    request: ChatRequest | None
    exchange: Exchange
    started: float
    rounds: int = 0
    earlier: tuple[Attempt, ...] = ()
    choices: int | None = None
    watch: Watch | None = None


def conclude(
    recorder: Recorder, job: Job, asked: Asked, attempts: tuple[Attempt, ...], *, store_prompts: str
) -> TaskRecord:
    """The record of a finished task: outcome, reply and times of its first attempt (R-5)."""
    exchange, judged, classified, _ = attempts[0]
    score = judged.score
    flags = [*judged.flags, *(score.flags if score else ())]
    if repair.unfinished(attempts, asked.rounds):
        flags.append(UNFINISHED)
    if score is not None and score.value > 0 and exchange.reply.cut:
        flags.append("cut")
    return recorder.record(
        job,
        asked.task,
        asked.request.messages if asked.request else [],
        exchange,
        score,
        classified,
        outcome.reason(classified, score, exchange.failure, exchange.reply, judged.crash),
        started=asked.started,
        store_prompts=store_prompts,
        flags=flags,
        attempts=attempts,
        choices=asked.choices,
    )
