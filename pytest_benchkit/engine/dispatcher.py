"""The look-ahead engine: one background event loop keeps requests open while pytest walks its items.

The main thread hands over the jobs in the order in which their items will run and then waits for one
job at a time. The loop thread keeps every lane's slots full; a pool of threads scores, journals and
delivers. A hand-over costs one lock and at most one wake-up.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pytest_benchkit.engine import asking, judging, repair
from pytest_benchkit.engine.conclusion import Asked, conclude
from pytest_benchkit.engine.eviction import Evictions
from pytest_benchkit.engine.loopthread import LoopThread
from pytest_benchkit.engine.outcome import one_line
from pytest_benchkit.engine.plan import NOT_ASKED, UNNEEDED, Job, Verdict
from pytest_benchkit.engine.pool import ScoringPool
from pytest_benchkit.engine.records import Recorder
from pytest_benchkit.harnesses import direct
from pytest_benchkit.models.limits import Ticket
from pytest_benchkit.reply import Exchange, Failure, Reply
from pytest_benchkit.score import Outcome

if TYPE_CHECKING:
    from pytest_benchkit.engine.budget import Budget
    from pytest_benchkit.engine.decided import Decided
    from pytest_benchkit.engine.lane import Lane
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.runs.record import TaskRecord

SCORERS, FITTERS = 16, 2
SCORING_DEADLINE_S = 120.0
"""One scorer's time for one reply; what takes longer is an error of the suite's, and the run goes on."""
INTERRUPTED_WAIT_S = 5.0
SCORED = frozenset(outcome.value for outcome in Outcome if outcome.finished)
SANDBOXED_DEADLINE_S = 6 * 3600.0
"""The same for suites that run programs: those have limits of their own, and wait for a free core."""
OPEN_AT_LEAST, OPEN_PER_SLOT = 1024, 4
"""Tasks asked or waiting for a scorer at once, with their replies in memory."""
HELD_BYTES = 64 * 2**20
VERDICT_BYTES = 600
"""Verdicts may wait for their items up to this much memory: they are small, their records are on disk, and
a slow reply early in the order must not stall all that come after it."""


class Dispatcher:
    """Runs jobs ahead of the items that report them.

    ``sink`` makes a record durable and is called from scoring threads, before the verdict is delivered.
    ``excerpt`` gives the text that a verbose report shows, or ``None``. ``decided`` tells the cells whose
    rest need not be asked.
    """

    changed: threading.Condition
    """Guards the verdicts; a worker's run loop waits on it too."""

    def __init__(
        self,
        lanes: Mapping[str, Lane],
        sink: Callable[[TaskRecord], None],
        recorder: Recorder,
        *,
        excerpt: Callable[[TaskRecord], str | None] = lambda record: None,
        decided: Decided | None = None,
        budget: Budget | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.lanes = lanes
        self._decided = decided
        self._budget = budget
        self._sink = sink
        self.recorder = recorder
        self._excerpt = excerpt
        capacity = sum(lane.slots.capacity for lane in lanes.values())
        self._most_open = max(OPEN_AT_LEAST, OPEN_PER_SLOT * capacity)
        self._held_bytes = 0
        self._pending: dict[str, deque[Job]] = {name: deque() for name in lanes}
        self._urgent: dict[str, deque[Job]] = {name: deque() for name in lanes}
        self._rounds: dict[str, deque[tuple[Job, Asked]]] = {name: deque() for name in lanes}
        self._queued: set[Job] = set()
        self._running: dict[Job, asyncio.Task[None]] = {}
        self._open: set[Job] = set()  # being asked, or scored
        self._concluding: set[Job] = set()
        self.changed = threading.Condition()
        self._verdicts: dict[Job, Verdict] = {}
        self._awaited: Job | None = None
        self._stalled = False
        self._closing: str | None = None
        self._fault: BaseException | None = None
        self._thread = LoopThread(self._tick)
        self._pool = ScoringPool(SCORERS, self._on_fault)
        self._fitters = ScoringPool(FITTERS, self._on_fault)
        self._reported: dict[Job, Verdict] = {}
        self.evictions = Evictions(say, self._fill)
        for lane in lanes.values():
            # with a budget the reply that freed the slot is counted before another request leaves
            lane.slots.on_free = self._fill if budget is None else self._fill_later

    # ------------------------------------------------------------------ called by the main thread

    def start(self) -> None:
        """Starts the loop thread; called when the first job is known."""
        self._thread.start()

    @property
    def lag_s(self) -> float:
        """Seconds by which the engine's loop has been late so far."""
        return self._thread.lag_s

    def add(self, jobs: Iterable[Job]) -> None:
        """Queues jobs behind those already known."""
        self._thread.call(self._enqueue, list(jobs))

    def wait(self, job: Job) -> Verdict:
        """Blocks until this job has a verdict. A job nobody queued is asked now (LA-6).

        A row scored once keeps its verdict: an item that runs again (reruns, a path given twice) gets the
        same. Raises what the store raised when records can no longer be written.
        """
        with self.changed:
            if (reported := self._reported.get(job)) is not None:
                return reported
            if job not in self._verdicts:
                self._awaited = job
                if not self._is_open(job) and (self._stalled or job not in self._queued):
                    self._thread.call(self._hurry, job)
                while job not in self._verdicts and self._fault is None:
                    self.changed.wait()
                self._awaited = None
            if self._fault is not None and job not in self._verdicts:
                raise self._fault
            verdict = self._verdicts.pop(job)
            if verdict.outcome in SCORED:
                self._reported[job] = verdict
            self._held_bytes -= _size(verdict)
            stalled = self._stalled and self._held_bytes < HELD_BYTES
            if stalled:
                self._stalled = False
        if stalled:
            self._thread.call(self._fill)
        return verdict

    def has(self, job: Job) -> bool:
        """Whether this job has a verdict; the caller holds ``changed``."""
        return job in self._verdicts

    def check(self) -> None:
        """Raises what ended the run, if anything did."""
        if self._fault is not None:
            raise self._fault

    def wait_for_any(self) -> None:
        """Waits, with ``changed`` held, until some verdict or whatever else is notified."""
        self._awaited = ANY
        self.changed.wait()
        self._awaited = None

    def ask(self, lane: Lane, request: ChatRequest) -> Exchange:
        """One request outside the plan (function tests), through the lane's limiter. Blocks."""
        if lane.stopped:
            return Exchange(Reply(), Failure("not_asked", lane.stopped, "stop"), tries=0)
        return self._thread.wait_for(self._ask_outside(lane, request))

    async def _ask_outside(self, lane: Lane, request: ChatRequest) -> Exchange:
        ticket = Ticket(lane.slots, taken=False)
        try:
            exchange = await direct.ask(lane.model, request, ticket)
        finally:
            ticket.leave()
        lane.note_exchange(exchange)
        return exchange

    def stop(self, why: str) -> None:
        """Sends nothing more and cancels what is open; finished replies are still scored and kept."""
        if self._thread.running and self._closing is None:
            done = threading.Event()
            self._thread.call(self._stop_on_loop, why, done)
            done.wait(5.0)

    def close(self, why: str = "closed") -> None:
        """Stops, waits for scoring to finish, closes connections and the loop. May be called twice."""
        if not self._thread.running:
            return
        interrupted = self._closing is not None
        self.stop(why)
        self._thread.wait_for(self._shut_down(), 30.0)
        self._fitters.close(INTERRUPTED_WAIT_S)
        self._pool.close(INTERRUPTED_WAIT_S if interrupted else SCORING_DEADLINE_S)
        self._thread.stop()

    @property
    def running(self) -> int:
        return sum(lane.slots.in_use for lane in self.lanes.values())

    @property
    def countdown(self) -> int | None:
        """Symbols until a confirmed loop is ended: the oldest of the first model that has one."""
        return next((n for lane in self.lanes.values() if (n := lane.board.countdown) is not None), None)

    # ------------------------------------------------------------------ the loop thread

    def _enqueue(self, jobs: list[Job]) -> None:
        for job in jobs:
            if job not in self._queued and not self._is_open(job):
                self._queued.add(job)
                self._pending[job.cell.model].append(job)
        self._fill()

    def _hurry(self, job: Job) -> None:
        with self.changed:
            if self._awaited != job or job in self._verdicts or self._is_open(job):
                return
            if job in self._queued and not self._stalled:
                return
        self._queued.add(job)
        self._urgent[job.cell.model].append(job)
        self._fill()

    def _is_open(self, job: Job) -> bool:
        return job in self._open or job in self._concluding

    def _tick(self) -> None:
        """Ten times a second: a shared hold may have ended, another process may have decided a cell."""
        if self._decided is not None and self._decided.any:
            for job, task in list(self._running.items()):
                if self._decided.why(job.cell.axes) is not None:
                    task.cancel()
        if self._budget is not None and self._budget.overdue:
            for task in list(self._running.values()):
                task.cancel()
        self._fill()

    def _not_to_ask(self, job: Job, lane: Lane) -> Verdict | None:
        """The verdict on a job that is not asked any more; ``None`` when it is."""
        spent = self._budget.spent() if self._budget is not None else None
        if (why := self._closing or lane.why_not(job) or spent) is not None:
            return Verdict(job.key, NOT_ASKED, one_line(f"not asked: {why}"))
        if self._decided is not None and (why := self._decided.why(job.cell.axes)) is not None:
            return Verdict(job.key, UNNEEDED, one_line(f"not asked: {why}"))
        return None

    def _fill_later(self) -> None:
        asyncio.get_running_loop().call_soon(self._fill)

    def _fill(self) -> None:
        busy_endpoints: set[str] = set()
        for name, lane in self.lanes.items():
            self._fill_rounds(lane)
            self._fill_lane(lane, self._urgent[name], urgent=True)
            if lane.endpoint in busy_endpoints:
                continue  # models of one endpoint run one after the other
            self._fill_lane(lane, self._pending[name], urgent=False)
            if self._pending[name] or lane.slots.in_use or self._may_repair(lane) or self._evicting(lane):
                busy_endpoints.add(lane.endpoint)

    def _fill_lane(self, lane: Lane, queue: deque[Job], *, urgent: bool) -> None:
        while queue:
            job = queue[0]
            if job not in self._queued:
                queue.popleft()
                continue
            if (verdict := self._not_to_ask(job, lane)) is not None:
                queue.popleft()
                self._queued.discard(job)
                self._deliver(job, verdict)
                continue
            if not urgent and (len(self._open) >= self._most_open or self._held_bytes >= HELD_BYTES):
                self._stalled = True
                if (awaited := self._awaited) is not None and awaited in self._queued:
                    self._urgent[awaited.cell.model].append(awaited)
                    self._thread.call(self._fill)
                return
            # tasks that wait for a retry hold no slot, yet a dead server must not collect them all; one more
            # than the slots may be without, which is the reply that has just come
            if lane.started - lane.slots.in_use > lane.slots.capacity or not lane.slots.try_enter():
                return
            queue.popleft()
            self._queued.discard(job)
            with self.changed:
                self._open.add(job)
            self._begin(job, lane)

    def _fill_rounds(self, lane: Lane) -> None:
        """Repair rounds go before new tasks: what they wait for is in memory."""
        queue = self._rounds[lane.name]
        while queue:
            job, asked = queue[0]
            if self._not_to_ask(job, lane) is not None:
                queue.popleft()
                self._pool.submit(self._conclude, job, lane, asked, asked.earlier)
            elif lane.slots.try_enter():
                queue.popleft()
                self._begin(job, lane, asked)
            else:
                return

    def _evicting(self, lane: Lane) -> bool:
        """Whether a model that has nothing left to do is still on its way out of its endpoint."""
        waiting = (other for name, other in self.lanes.items() if self._pending[name] and other is not lane)
        return self._closing is None and self.evictions.hold(lane, waiting)

    def _may_repair(self, lane: Lane) -> bool:
        """Whether a task of this lane that is being scored may have to be asked again."""
        if not lane.settings.repair_attempts:
            return False
        with self.changed:
            return any(job.cell.model == lane.name for job in self._open)

    def _begin(self, job: Job, lane: Lane, before: Asked | None = None) -> None:
        lane.started += 1
        if self._budget is not None:
            self._budget.spending.begin()
        self._running[job] = asyncio.get_running_loop().create_task(self._run(job, lane, before))

    async def _run(self, job: Job, lane: Lane, before: Asked | None) -> None:
        """Asks one task, or again after the rounds ``before``; scoring goes to the pool the moment the reply
        is here."""
        ticket = Ticket(lane.slots, taken=True)
        try:
            if before is None:
                asked = await asking.first(job, lane, ticket, self._fitters)
            else:
                asked = await asking.again(lane, ticket, before)
            # before the slot is free again: a refusal must not let one more request out
            lane.note_exchange(asked.exchange, job.cell.name)
            if self._budget is not None and (unknown := self._budget.add(asked.exchange)) is not None:
                lane.stop(unknown)
        except asyncio.CancelledError:
            if before is not None:
                self._pool.submit(self._conclude, job, lane, before, before.earlier)
            else:
                cancelled = Verdict(job.key, NOT_ASKED, "not asked: cancelled")
                self._deliver(job, self._not_to_ask(job, lane) or cancelled)
            raise
        finally:
            self._running.pop(job, None)
            lane.started -= 1
            ticket.leave()
        deadline = SANDBOXED_DEADLINE_S if "sandbox" in job.cell.suite.needs else SCORING_DEADLINE_S
        overdue = asyncio.get_running_loop().call_later(deadline, self._give_up, job, lane, asked, deadline)
        self._pool.submit(self._finish, job, lane, asked, overdue)

    # ------------------------------------------------------------------ scoring threads

    def _finish(self, job: Job, lane: Lane, asked: Asked, overdue: asyncio.TimerHandle) -> None:
        reply = asked.exchange.reply
        if asked.watch is not None and reply.loop is None:  # before another round is watched
            reply.loop = asked.watch.report(reply)
        judged = judging.judge(job.cell.suite, asked.task, asked.exchange)
        self._thread.call(overdue.cancel)
        last = repair.attempt(job.cell.suite, asked.exchange, judged)
        try:
            following = repair.next_round(job.cell.suite, asked, last)
        except (Exception, SystemExit) as error:
            words = f"feedback() of {job.cell.suite.key} raised {type(error).__name__}: {error}"
            self._thread.call(lane.note_crash, job.cell.name, words)
            following = None
        if following is None:
            self._conclude(job, lane, asked, (*asked.earlier, last))
        else:
            self._thread.call(self._queue_round, job, lane, following)

    def _queue_round(self, job: Job, lane: Lane, asked: Asked) -> None:
        with self.changed:
            if job not in self._open:
                return  # the scorer was given up on
        self._rounds[lane.name].append((job, asked))
        self._fill()

    def _give_up(self, job: Job, lane: Lane, asked: Asked, seconds: float) -> None:
        """A scorer that does not return: its row is an error, its thread is left behind and replaced."""
        words = f"the scorer of {job.cell.suite.key} did not return within {seconds:g} s"
        last = repair.attempt(job.cell.suite, asked.exchange, judging.Judged(None, crash=words))
        self._pool.replace(self._conclude, job, lane, asked, (*asked.earlier, last))

    def _conclude(self, job: Job, lane: Lane, asked: Asked, attempts: tuple[repair.Attempt, ...]) -> None:
        with self.changed:
            if job not in self._open:
                return  # the deadline passed and the scorer returned: the first of them counts
            self._open.discard(job)
            self._concluding.add(job)
        record = conclude(self.recorder, job, asked, attempts, store_prompts=lane.settings.store_prompts)
        self._sink(record)
        if (crash := attempts[-1].judged.crash) is not None:
            self._thread.call(lane.note_crash, job.cell.name, crash)
        self._thread.call(lane.note_outcome, job.cell.name, Outcome(record["outcome"]))
        self._deliver(job, Verdict.of(record, text=self._excerpt(record)))

    def _on_fault(self, error: BaseException) -> None:
        """A scoring thread that raised could not write its record: the run ends with the reason."""
        with self.changed:
            self._fault = self._fault or error
            self.changed.notify_all()
        self._thread.call(self._stop_on_loop, str(error), threading.Event())

    def _deliver(self, job: Job, verdict: Verdict) -> None:
        with self.changed:
            self._open.discard(job)
            self._concluding.discard(job)
            self._verdicts[job] = verdict
            self._held_bytes += _size(verdict)
            go_on = self._stalled and len(self._open) < self._most_open and self._held_bytes < HELD_BYTES
            if go_on:
                self._stalled = False
            if self._awaited is not None and (self._awaited is ANY or self._awaited == job):
                self.changed.notify_all()
        if go_on:
            self._thread.call(self._fill)

    # ------------------------------------------------------------------ the end

    def _stop_on_loop(self, why: str, done: threading.Event) -> None:
        self._closing = why
        for lane in self.lanes.values():
            lane.sizer.close()
        for task in list(self._running.values()):
            task.cancel()
        self._fill()
        done.set()

    async def _shut_down(self) -> None:
        open_tasks = list(self._running.values())
        if open_tasks:
            await asyncio.wait(open_tasks, timeout=10.0)
        await self.evictions.aclose()
        for lane in self.lanes.values():
            await lane.model.aclose()


def _size(verdict: Verdict) -> int:
    return VERDICT_BYTES + len(verdict.text or "")


ANY = Job(None, -1)  # type: ignore[arg-type]
"""Stands for whichever job comes first while a worker waits for any of several."""
