"""From an exchange and its judgement to the record that is stored: outcome, reason, flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_benchkit.engine import outcome

if TYPE_CHECKING:
    from pytest_benchkit.engine.judging import Judged
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.engine.records import Recorder
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.runs.record import TaskRecord


def conclude(
    recorder: Recorder,
    job: Job,
    request: ChatRequest | None,
    exchange: Exchange,
    judged: Judged,
    *,
    started: float,
    store_prompts: str,
) -> TaskRecord:
    """The record of a finished task; ``started`` is Unix seconds."""
    suite = job.cell.suite
    score = judged.score
    classified = outcome.classify(exchange, score, extracts=suite.extracts, crash=judged.crash)
    flags = [*judged.flags, *(score.flags if score else ())]
    if score is not None and score.value > 0 and exchange.reply.cut:
        flags.append("cut")
    return recorder.record(
        job,
        suite.tasks[job.row],
        request.messages if request else [],
        exchange,
        score,
        classified,
        outcome.reason(classified, score, exchange.failure, exchange.reply, judged.crash),
        started=started,
        store_prompts=store_prompts,
        flags=flags,
    )
