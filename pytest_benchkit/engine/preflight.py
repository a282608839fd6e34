"""Everything that is found out and refused before the first task, once per run, on the controller.

The result is plain data, so that xdist workers get it instead of asking again (M-1).
"""

from __future__ import annotations

import asyncio
import difflib
import importlib.util
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.decisions import YES_NO, Decision
from pytest_benchkit.engine import windows
from pytest_benchkit.engine.lane import Lane
from pytest_benchkit.engine.lanes import build_lane
from pytest_benchkit.engine.sizing import measure
from pytest_benchkit.errors import BenchkitError, UsageProblem
from pytest_benchkit.models.limits import SharedHold
from pytest_benchkit.settings import SAMPLING

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest, Model
    from pytest_benchkit.models.local import LocalServer
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.suite import Suite

Say = Callable[[str], None]
UNKNOWN_CAPACITY = 8
EMBEDDED_CAPACITY = 16
STREAM_UP_TO = 128
"""Streams cost 6-17 times a plain reply: above this many in flight ``auto`` asks without."""


@dataclass(slots=True)
class Prepared:
    """A model that is ready to be asked, as plain data for ``run.json`` and for workers."""

    name: str
    kind: str
    endpoint: str
    capacity: int
    capacity_source: str
    stream: bool
    window: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    load_s: float | None = None
    dropped: list[str] = field(default_factory=list)
    """Request fields that the server refused in the warm-up."""
    sizing: dict[str, float] = field(default_factory=dict)
    """What was measured for prompts of a given size: the template's tokens, characters per token by kind."""
    usage: list[str] | None = None
    """The counts that the warm-up's reply told; ``None`` without a warm-up."""
    stopped: str | None = None
    """Why the model is not asked at all: its warm-up was refused."""

    @property
    def decides(self) -> bool:
        """Whether it gives probabilities instead of text."""
        return bool(self.facts.get("decision"))

    @property
    def header(self) -> str:
        """The line of the session header: where the model is and how it is asked (TTY-1)."""
        where = f" at {self.base_url}" if self.base_url else ""
        window = f", window {self.window}" if self.window else ""
        kind = "decision model" if self.decides else self.kind
        return f"{self.name}: {kind}{where}{window}, {self.capacity} in flight ({self.capacity_source})"


class Preflight:
    """Prepares the models of a run and keeps what has to be stopped at its end (the local server)."""

    def __init__(self, say: Say, log_folder: Path, names: Sequence[str] = ()) -> None:
        self._say = say
        self._names = names
        self._logs = log_folder
        self._servers: dict[str, LocalServer] = {}

    def prepare(
        self,
        specs: Sequence[ModelSpec],
        registered: Mapping[str, Callable[[], Model]],
        *,
        warm: bool = True,
        deciding: Collection[str] = (),
        texts: Mapping[str, str] | None = None,
        sizing: Mapping[str, dict[str, float]] | None = None,
        planned: Callable[[str], windows.Planned] = lambda name: (),
        asked_before: Mapping[str, int] | None = None,
    ) -> list[Prepared]:
        """Finds the models and, unless nothing will be asked, warms them up. ``deciding`` names models that
        are decision models, whatever their server says. ``texts`` are what prompt sizes are measured with,
        where some suite has such; ``sizing`` holds by model what this run has measured before. ``planned``
        gives the rows to be asked of a model, ``asked_before`` the ``num_ctx`` this run has used: both for
        servers that take the window with each request.

        Raises :class:`UsageProblem` naming every model that cannot be used.
        """
        prepared: list[Prepared] = []
        problems: list[str] = []
        for spec in specs:
            try:
                prepared.append(self._prepare(spec))
                self._settle_window(spec, prepared[-1], planned, (asked_before or {}).get(spec.name))
                if spec.name in deciding:
                    prepared[-1].facts["decision"] = True
                prepared[-1].sizing.update((sizing or {}).get(spec.name, {}))
            except BenchkitError as error:
                problems.append(f"{error}{self._hint(spec)}")
                continue
            if prepared[-1].kind in ("http", "local") and warm:
                lane = build_lane(
                    spec, prepared[-1], share=1, hold=SharedHold(), say=self._say, registered=registered
                )
                asyncio.run(_first_requests(lane, prepared[-1], texts))
        if problems:
            self.close()
            raise UsageProblem("\n".join(problems))
        return prepared

    def _settle_window(
        self,
        spec: ModelSpec,
        ready: Prepared,
        planned: Callable[[str], windows.Planned],
        earlier: int | None,
    ) -> None:
        """The window of a server that takes it with each request, settled before the first of them."""
        if ready.facts.get("flavour") != "ollama":
            return
        need = windows.largest_need(planned(spec.name), spec.settings)
        ready.window = windows.settle(spec, ready.facts.get("trained_window"), need, earlier, self._say)
        ready.facts["num_ctx"] = ready.window
        ready.facts["sources"]["window"] = "num_ctx of each request"

    def _hint(self, spec: ModelSpec) -> str:
        """For a name without an address that no server knows: what it may have been meant to be."""
        if spec.kind != "http" or spec.origins.get("base_url") != "default" or spec.profile:
            return ""
        near = difflib.get_close_matches(spec.name, [*self._names, "demo", "local"], n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f". {spec.name} is no profile and no embedded model: {meant}an address goes behind @"

    def _prepare(self, spec: ModelSpec) -> Prepared:
        if spec.kind == "demo":
            from pytest_benchkit.models.demo import DemoModel

            DemoModel.parse(spec.argument)
            return self._embedded(spec, "simulated")
        if spec.kind == "registered":
            return self._embedded(spec, "registered")
        if spec.kind == "local":
            return self._local(spec)
        return self._discover(spec, spec.base_url or "")

    def _embedded(self, spec: ModelSpec, source: str) -> Prepared:
        inflight = spec.settings.inflight
        capacity = inflight if isinstance(inflight, int) else EMBEDDED_CAPACITY
        return Prepared(spec.name, spec.kind, spec.name, capacity, source, stream=False)

    def _local(self, spec: ModelSpec) -> Prepared:
        from pytest_benchkit.models import local, weights

        path = Path(spec.argument).expanduser() if spec.argument else weights.ensure(self._say)
        inflight = spec.settings.inflight
        slots = inflight if isinstance(inflight, int) else local.DEFAULT_SLOTS
        server = local.start(
            path,
            slots=slots,
            context=spec.settings.context or local.DEFAULT_CONTEXT,
            log=self._logs / f"llama.cpp-{len(self._servers)}.log",
            say=self._say,
            alias=spec.served_id,
        )
        self._servers[spec.name] = server
        return self._discover(spec, server.base_url)

    def _discover(self, spec: ModelSpec, base_url: str) -> Prepared:
        from pytest_benchkit.models.discovery import discover

        settings = spec.settings
        headers = dict(settings.headers)
        if spec.api_key:
            headers["Authorization"] = f"Bearer {spec.api_key}"
        facts = asyncio.run(
            discover(
                base_url,
                spec.served_id,
                provider=settings.provider,
                headers=headers,
                connect_timeout=settings.connect_timeout,
                wait=settings.wait,
                verify=settings.ca_file or True,
                say=self._say,
            )
        )
        if isinstance(settings.inflight, int):
            capacity, source = settings.inflight, "asked for"
        elif facts.capacity:
            capacity, source = min(facts.capacity, 256), facts.sources.get("capacity", "the server says so")
        else:
            capacity, source = UNKNOWN_CAPACITY, "server did not say; --bench-inflight=N"
        stream = settings.stream == "on" or (settings.stream == "auto" and capacity <= STREAM_UP_TO)
        if not stream and settings.stream == "auto":
            self._say(
                f"{spec.name}: replies are not streamed above {STREAM_UP_TO} in flight: no TTFT, no ITL"
            )
        window = settings.context or facts.window
        return Prepared(
            spec.name, spec.kind, base_url, capacity, source, stream, window, asdict(facts), base_url
        )

    def close(self) -> None:
        for server in self._servers.values():
            server.stop()
        self._servers.clear()


async def _first_requests(lane: Lane, prepared: Prepared, texts: Mapping[str, str] | None) -> None:
    """The warm-up, and what has to be measured for suites that size their prompts."""
    try:
        if lane.settings.warmup:
            await _warm_up(lane, prepared)
        if texts is not None and lane.stopped is None and not prepared.sizing and not prepared.decides:
            prepared.sizing = await measure(lane, texts)
    finally:
        await lane.model.aclose()


async def _warm_up(lane: Lane, prepared: Prepared) -> None:
    """One request of at most 8 tokens outside every task's numbers (M-8).

    It also finds out which request fields the server refuses, before sixteen tasks find out at once. Its
    failure is treated as the first task's would be.
    """
    from pytest_benchkit.models.limits import Ticket

    started = time.monotonic()
    exchange = await lane.model.ask(warm_up_request(lane), Ticket(lane.slots, taken=False))
    prepared.load_s = round(time.monotonic() - started, 3)
    prepared.dropped = sorted(getattr(lane.model, "dropped", ()))
    lane.note_exchange(exchange)
    prepared.stopped = lane.stopped
    if exchange.failure is None:
        counts = asdict(exchange.reply.usage)
        prepared.usage = sorted(name for name, value in counts.items() if value is not None)


def warm_up_request(lane: Lane) -> ChatRequest:
    """A request of at most 8 tokens with every field that the tasks will send."""
    from pytest_benchkit.models.base import ChatRequest

    settings = lane.settings
    return ChatRequest(
        [{"role": "user", "content": "Say OK."}],
        max_tokens=8,
        seed=settings.seed,
        sampling={name: value for name in SAMPLING if (value := getattr(settings, name)) is not None},
        identity="warm-up",
        samples=("OK", "OK"),
        decision=Decision("Water is wet.", "Is this true?", YES_NO, "yes"),
    )


def missing_modules(suites: Iterable[Suite]) -> list[str]:
    """A sentence with pip's command for each suite whose scorer needs a library that is not here."""
    problems = []
    for suite in suites:
        missing = [name for name in suite.requires if importlib.util.find_spec(name) is None]
        if missing:
            wanted = " ".join(sorted({f"'{suite.requires[name]}'" for name in missing}))
            problems.append(f"{suite.key}: scoring needs {' and '.join(missing)}: pip install {wanted}")
    return problems


def undecidable(suites: Iterable[Suite], prepared: Iterable[Prepared]) -> list[str]:
    """A sentence for each decision model and suite that does not say what is to be decided."""
    from pytest_benchkit.suite import Suite as Base

    without = [suite for suite in suites if type(suite).decision is Base.decision]
    return [
        f"{suite.key}: {ready.name} is a decision model, and the suite has nothing to decide; "
        f"leave it out with -k 'not {suite.key}'"
        for ready in prepared
        if ready.decides
        for suite in without
    ]


def shares(capacity: int, workers: int) -> list[int]:
    """A model's slots divided over the processes of a run; the sum is the capacity (H-15)."""
    return [capacity // workers + (1 if index < capacity % workers else 0) for index in range(workers)]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
