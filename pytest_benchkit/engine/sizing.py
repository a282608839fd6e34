"""The engine's side of prompts that are sized for their model: :class:`ModelSizer`, and the measurements at
preflight that it is made of (RU-9 … RU-11)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pytest_benchkit.models.limits import Ticket
from pytest_benchkit.sizing import TEMPLATE_TOKENS
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from pytest_benchkit.engine.lane import Lane
    from pytest_benchkit.engine.pool import ScoringPool
    from pytest_benchkit.task import Task

Count = Callable[[str], Awaitable[int | None]]

ALLOWANCE = "allowance"
"""Name of the template's tokens among the measured figures; the others are kinds of content."""
CAUTION = 0.95
"""Share of a measured ratio that is used: other texts of the kind may be less efficient."""
WORD = "Hello"
COUNT_WAIT_S = 15.0


class ModelSizer:
    """What is known of one model; implements :class:`~pytest_benchkit.sizing.Sizer`.

    ``measured`` is the same in all processes of a run; the units remembered are this process's own.
    """

    def __init__(
        self,
        window: int | None = None,
        measured: Mapping[str, float] | None = None,
        count: Count | None = None,
    ) -> None:
        self.window = window
        self._measured = dict(measured or {})
        self._count = count
        self._units: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[concurrent.futures.Future[int | None]] = set()
        self._lock = threading.Lock()

    @property
    def allowance(self) -> int:
        return int(self._measured.get(ALLOWANCE, TEMPLATE_TOKENS))

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Told the loop on which counting runs."""
        self._loop = loop

    def count(self, text: str) -> int | None:
        """Called in a thread; counts on the loop. ``None`` where nobody counts, or not in time."""
        with self._lock:
            if self._count is None or self._loop is None:
                return None
            told = asyncio.run_coroutine_threadsafe(_awaited(self._count(text)), self._loop)
            self._waiting.add(told)
        try:
            return told.result(COUNT_WAIT_S)
        except (concurrent.futures.CancelledError, TimeoutError):
            told.cancel()
            return None
        finally:
            with self._lock:
                self._waiting.discard(told)

    def ratio(self, kind: str) -> float | None:
        return self._measured.get(kind)

    def recall(self, cell: str) -> int | None:
        return self._units.get(cell)

    def keep(self, cell: str, units: int) -> None:
        self._units[cell] = units

    def close(self) -> None:
        """Nothing is counted any more; threads that wait for a count go on without."""
        with self._lock:
            self._count = None
            waiting = list(self._waiting)
        for told in waiting:
            told.cancel()


async def _awaited(counting: Awaitable[int | None]) -> int | None:
    return await counting


async def fitted(suite: Suite, task: Task, sizer: ModelSizer, pool: ScoringPool) -> Task:
    """The task as the suite sizes it for the model, off the loop; at once where the suite sizes nothing.

    Raises whatever the suite's ``fit`` raises.
    """
    if type(suite).fit is Suite.fit:
        return task
    loop = asyncio.get_running_loop()
    sizer.bind(loop)
    done: asyncio.Future[Task] = loop.create_future()

    def settle(made: Task | None, error: BaseException | None) -> None:
        if done.done():
            return
        if made is not None:
            done.set_result(made)
        else:
            done.set_exception(error or TypeError(f"{suite.key}: fit() returned nothing"))

    def work() -> None:
        made, error = None, None
        try:
            made = suite.fit(task, sizer)
        except (Exception, SystemExit) as raised:
            error = raised if isinstance(raised, Exception) else RuntimeError(f"SystemExit: {raised}")
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, made, error)

    pool.submit(work)
    return await done


def texts_of(suites: Iterable[Suite]) -> dict[str, str] | None:
    """What to measure for these suites: a text by kind of content; ``None`` when no suite sizes prompts."""
    sizing = [suite for suite in suites if type(suite).fit is not Suite.fit]
    return {kind: text for suite in sizing for kind, text in suite.size_samples().items()} if sizing else None


async def measure(lane: Lane, texts: Mapping[str, str]) -> dict[str, float]:
    """Tokens that the template adds and, of a model whose tokens nobody counts, characters per token of each
    text by the prompt counts of its replies. Figures that could not be had are left out."""
    count: Count | None = getattr(lane.model, "count", None)
    counted = await count(WORD) if count is not None else None
    told = await _prompt_tokens(lane, WORD)
    if told is None:
        return {}
    around = max(0, told - (counted or 1))
    found: dict[str, float] = {ALLOWANCE: around}
    if counted is None:
        for kind, text in texts.items():
            tokens = await _prompt_tokens(lane, text)
            if tokens is not None and tokens > around:
                found[kind] = round(CAUTION * len(text) / (tokens - around), 4)
    return found


async def _prompt_tokens(lane: Lane, text: str) -> int | None:
    """What the server counts for a request of one message with one token of answer."""
    from pytest_benchkit.harnesses.direct import messages_of
    from pytest_benchkit.models.base import ChatRequest

    ticket = Ticket(lane.slots, taken=False)
    request = ChatRequest(messages_of(text, lane.settings.system), max_tokens=1, identity="size")
    try:
        exchange = await lane.model.ask(request, ticket)
    finally:
        ticket.leave()
    return exchange.reply.usage.input_tokens if exchange.failure is None else None
