"""When a model is evicted from its server's memory: between models, or at the end (M-12)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_benchkit.engine.lane import Lane
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.base import Model
    from pytest_benchkit.models.profiles import ModelSpec

Say = Callable[[str], None]


def policy(spec: ModelSpec, prepared: Prepared) -> str:
    """``never``, ``between`` or ``always``: the user's, else ``between`` for Ollama."""
    if prepared.kind != "http":
        return "never"
    return spec.settings.unload or ("between" if prepared.facts.get("flavour") == "ollama" else "never")


class Evictions:
    """Evictions between the models of one endpoint, on the event loop of the only process that asks them."""

    def __init__(self, say: Say, then: Callable[[], None]) -> None:
        self.done: set[str] = set()
        """Names of the models that were sent away."""
        self._say = say
        self._then = then
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def hold(self, lane: Lane, waiting: Iterable[Lane]) -> bool:
        """Whether the endpoint's next model, one of ``waiting``, has to wait for this one to leave, which has
        no more tasks. The first call after its last reply sends it away; ``then`` is called when it has
        left."""
        if lane.name in self._tasks:
            return not self._tasks[lane.name].done()
        nexts = [other for other in waiting if other.endpoint == lane.endpoint]
        if not nexts or lane.evict == "never" or not lane.slots.peak:
            return False
        if any(other.served_id == lane.served_id for other in nexts):
            return False  # the same model under another name
        if lane.started:
            return True  # its last reply has just come, or waits to be asked for again
        self._tasks[lane.name] = asyncio.get_running_loop().create_task(self._evict(lane))
        return True

    async def _evict(self, lane: Lane) -> None:
        await evict(lane.name, lane.model, self._say)
        self.done.add(lane.name)
        asyncio.get_running_loop().call_soon(self._then)  # when this task counts as done

    async def aclose(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def evict(name: str, model: Model, say: Say) -> None:
    """Sends one model away and says what came of it; that it stays is no fault of the run."""
    unload = getattr(model, "unload", None)
    if unload is None:
        return
    problem = await unload()
    say(f"{name}: {'unloaded' if problem is None else f'could not be unloaded: {problem}'}")


def evict_all(leaving: Iterable[tuple[str, Model]], say: Say) -> None:
    """The same for several models at the end of a run, when no loop runs any more; closes them."""

    async def one_after_the_other() -> None:
        for name, model in leaving:
            try:
                await evict(name, model, say)
            finally:
                await model.aclose()

    asyncio.run(one_after_the_other())
