"""From an exchange and its judgement to the record that is stored: outcome, reason, flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_benchkit.engine import outcome

if TYPE_CHECKING:
    from pytest_benchkit.engine.judging import Judged
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.engine.records import Recorder
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.runs.record import TaskRecord
    from pytest_benchkit.task import Task


@dataclass(frozen=True, slots=True)
class Asked:
    """A task as it was asked, and what came back; ``started`` is Unix seconds."""

    task: Task
    request: ChatRequest | None
    exchange: Exchange
    started: float


def conclude(recorder: Recorder, job: Job, asked: Asked, judged: Judged, *, store_prompts: str) -> TaskRecord:
    """The record of a finished task."""
    suite, score, exchange = job.cell.suite, judged.score, asked.exchange
    classified = outcome.classify(exchange, score, extracts=suite.extracts, crash=judged.detail)
    flags = [*judged.flags, *(score.flags if score else ())]
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
    )
