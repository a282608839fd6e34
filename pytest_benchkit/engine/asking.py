"""One exchange of a task: its first, or that of a repair round. Runs on the event loop, in a held slot."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_benchkit.engine import repair
from pytest_benchkit.engine.budget import add_price
from pytest_benchkit.engine.conclusion import Asked
from pytest_benchkit.engine.loops.watch import Watch
from pytest_benchkit.engine.sizing import fitted
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.harnesses import direct
from pytest_benchkit.reply import Exchange, Failure, Reply, ToolCall

if TYPE_CHECKING:
    from pytest_benchkit.engine.lane import Lane
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.engine.pool import ScoringPool
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.models.limits import Ticket
    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import Task


async def first(job: Job, lane: Lane, ticket: Ticket, fitters: ScoringPool) -> Asked:
    """Asks a task. What the suite or the model raises becomes its failure, so that the item that waits for
    it never hangs."""
    started = time.time()
    suite = job.cell.suite
    task = suite.tasks[job.row]
    request: ChatRequest | None = None
    watch: Watch | None = None
    try:
        task = await fitted(suite, job.cell.task(job.row), lane.sizer, fitters)
        request = direct.build(suite, task, lane.settings, lane.origins, job.key, job.cell.repeat)
        if lane.decides:
            request.decision = suite.decision(task)
        else:
            request.watch = watch = Watch(lane.settings.loop_kill if suite.loop_kill else 0, lane.board)
        if lane.model.simulated:
            request.samples = _samples(suite, task)
        wanted = 0 if lane.decides else lane.settings.repair_attempts
        rounds, choices = repair.rounds(suite, task, wanted), repair.choices(suite, task, wanted)
    except SkipTask as reason:
        failure = Failure(reason.detail, str(reason), "skip")
        return Asked(task, request, Exchange(Reply(), failure, tries=0), started)
    except (Exception, SystemExit) as error:
        failure = Failure("suite_crash", f"{type(error).__name__}: {error}", "suite")
        return Asked(task, request, Exchange(Reply(), failure, tries=0), started)
    exchange = await _exchange(lane, request, ticket)
    return Asked(task, request, exchange, started, rounds, choices=choices, watch=watch)


def _samples(suite: Suite, task: Task) -> tuple[str | Reply, str | Reply] | None:
    samples = suite.sample_replies(task)
    for sample in samples or ():
        if isinstance(sample, Reply):
            if not all(isinstance(call, ToolCall) for call in sample.tool_calls):
                raise TypeError(f"{suite.key}.sample_replies: tool_calls takes ToolCall(name, arguments)")
        elif not isinstance(sample, str):
            raise TypeError(
                f"{suite.key}.sample_replies: a reply is a text or a Reply, not {type(sample).__name__}"
            )
    return samples


async def again(lane: Lane, ticket: Ticket, before: Asked) -> Asked:
    """Asks a task once more, after the attempts ``before``
    (:func:`~pytest_benchkit.engine.repair.next_round`)."""
    request = repair.request_of(before)
    if request is None:
        limit = f"no time of --bench-task-timeout={lane.settings.task_timeout:g} is left"
        return replace(before, exchange=Exchange(Reply(), Failure("task", limit, "deadline"), tries=0))
    return replace(before, exchange=await _exchange(lane, request, ticket))


async def _exchange(lane: Lane, request: ChatRequest, ticket: Ticket) -> Exchange:
    try:
        exchange = await direct.ask(lane.model, request, ticket)
        add_price(exchange.reply.usage, lane.settings.price)
        return exchange
    except Exception as error:
        return Exchange(Reply(), Failure("bad_response", f"{type(error).__name__}: {error}", "client"))
