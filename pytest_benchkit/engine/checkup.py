"""What ``benchkit doctor`` looks at: each probe gives :class:`Check` lines, changes nothing and never raises.

The probes are the ones of preflight (the same discovery, the same first request, the same isolation), so that
a pass here means that a run will not be refused for it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_benchkit.engine.preflight import undecidable
from pytest_benchkit.errors import BenchkitError

if TYPE_CHECKING:
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.suite import Suite

State = Literal["pass", "warn", "fail", "n/a"]
LEAST_FREE = 1 << 30
"""Bytes of disk that a long run may need."""
REPLY_LIMIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line: where it belongs, what was looked at, how it is, what was seen, what to do about it."""

    section: str
    name: str
    state: State
    seen: str
    todo: str = ""


# ---------------------------------------------------------------------- the model's server


def endpoint_checks(spec: ModelSpec, prepare: Callable[[], Prepared]) -> tuple[list[Check], Prepared | None]:
    """Reaches the server, reads what it says of itself, and asks for one short reply."""
    if spec.kind in ("demo", "registered"):
        return [Check("endpoint", spec.name, "n/a", f"{spec.kind} needs no server")], None
    started = time.monotonic()
    try:
        ready = prepare()
    except BenchkitError as error:
        return [
            Check("endpoint", spec.name, "fail", str(error), "for another server: --bench-model=NAME@URL")
        ], None
    took = time.monotonic() - started
    facts = ready.facts
    where = f"{ready.base_url}, {facts.get('flavour', 'unknown')}, {took:.1f} s"
    found = [Check("endpoint", spec.name, "pass", where)]
    listed = facts.get("listing")
    seen = f"one of {len(listed)} listed" if listed else "the server lists no models"
    found.append(Check("endpoint", "model", "pass" if listed else "warn", seen))
    if facts.get("loaded") is False:
        found.append(
            Check("endpoint", "loaded", "warn", "not loaded yet", "the first reply will wait for it")
        )
    sources = facts.get("sources", {})
    found.append(_fact("capacity", ready.capacity, ready.capacity_source, "--bench-inflight=N"))
    window = sources.get("window", "settings") if ready.window else ""
    found.append(_fact("window", ready.window, window, "--bench-context=N, or the server's own option"))
    found += [Check("endpoint", "note", "warn", note) for note in facts.get("notes", [])]
    return found, ready


def _fact(name: str, value: int | None, source: str, option: str) -> Check:
    if value is None:
        return Check("endpoint", name, "warn", "the server does not say", option)
    known = "did not say" not in source
    return Check(
        "endpoint", name, "pass" if known else "warn", f"{value} ({source})", "" if known else option
    )


def reply_checks(spec: ModelSpec, ready: Prepared, ask: Callable[[], Exchange]) -> list[Check]:
    """One reply of at most 8 tokens: whether it comes, how, and what it tells."""
    exchange = ask()
    failure = exchange.failure
    if failure is not None:
        seen = f"{failure.kind}: {failure.message}"
        return [Check("reply", spec.name, "fail", seen, "look at the server's own log")]
    reply = exchange.reply
    ttft = f", first text after {reply.timing.ttft_ms:.0f} ms" if reply.timing.ttft_ms is not None else ""
    chunks = f"{reply.timing.chunks} chunks" if reply.timing.chunks else "in one piece"
    found = [Check("reply", "8 tokens", "pass", f"{chunks}{ttft}")]
    usage = reply.usage
    told = f"{usage.input_tokens} in, {usage.output_tokens} out ({usage.source})"
    if usage.output_tokens is None:
        found.append(Check("reply", "usage", "warn", "no token counts", "tok/s will be absent"))
    else:
        found.append(Check("reply", "usage", "pass", told))
    timings = ", ".join(sorted(reply.timing.server)) or "none sent"
    found.append(Check("reply", "server's own timings", "pass" if reply.timing.server else "n/a", timings))
    if ready.dropped:
        refused = ", ".join(ready.dropped)
        found.append(Check("reply", "refused fields", "warn", refused, "results say so as deviations"))
    channel = reply.reasoning_field or ("tags" if reply.thinking else "none seen")
    found.append(Check("reasoning", "channel", "pass", f"{channel} ({reply.trace_status})"))
    return found


def decision_checks(suites: Iterable[Suite], ready: Prepared) -> list[Check]:
    """Suites that a decision model cannot be asked; the sentences of preflight."""
    return [Check("data", ready.name, "fail", problem) for problem in undecidable(suites, [ready])]


# ---------------------------------------------------------------------- this machine


def sandbox_checks(suites: Iterable[Suite]) -> list[Check]:
    """Which isolation works here; without one the suites that will skip."""
    from pytest_benchkit.sandbox.probe import isolation

    started = time.monotonic()
    found = isolation()
    wanted = sorted({suite.key for suite in suites if "sandbox" in suite.needs})
    if found.backend is None:
        skips = f"; rows of {', '.join(wanted)} will be skipped" if wanted else ""
        state: State = "fail" if wanted else "warn"
        return [Check("sandbox", "isolation", state, f"{found.problem}{skips}", "apt-get install bubblewrap")]
    seen = f"{found.backend.name}, {1000 * (time.monotonic() - started):.0f} ms to find out"
    return [Check("sandbox", "isolation", "pass", seen)]


def data_checks(suites: Iterable[Suite]) -> list[Check]:
    """Whether the rows of each suite are here."""
    found = []
    for suite in suites:
        state = suite.source.state()
        word = f"{state.word}: {state.detail}" if state.detail else state.word
        found.append(Check("data", suite.key, "pass" if state.ready else "fail", word))
        found += [Check("data", f"{suite.key} gap", "warn", gap) for gap in state.gaps]
    return found


def library_checks(problems: Sequence[str]) -> list[Check]:
    """Libraries that scorers need; the sentences of preflight."""
    return [Check("data", "libraries", "fail", problem) for problem in problems]


def machine_checks(folder: Path) -> list[Check]:
    """Cores, load, memory, disk, clock, output, and how late an event loop is here."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0]
    busy = load > cores
    found = [
        Check(
            "machine",
            "cores",
            "warn" if busy else "pass",
            f"{cores}, load {load:.1f}",
            "times will include what else runs here" if busy else "",
        )
    ]
    if (free := _memory()) is not None:
        found.append(
            Check("machine", "memory", "pass" if free > LEAST_FREE else "warn", f"{_gib(free)} free")
        )
    disk = shutil.disk_usage(folder).free
    state: State = "pass" if disk > LEAST_FREE else "fail"
    found.append(
        Check("machine", "disk", state, f"{_gib(disk)} free", "" if state == "pass" else "make room")
    )
    year = time.gmtime().tm_year
    clock: State = "pass" if 2024 <= year < 2100 else "fail"
    found.append(Check("machine", "clock", clock, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))
    encoding = (getattr(sys.stdout, "encoding", None) or "unknown").lower()
    good = encoding.replace("-", "") == "utf8"
    seen = encoding if good else f"{encoding}: other characters are printed as escapes"
    found.append(Check("machine", "output", "pass" if good else "warn", seen))
    lag = asyncio.run(_lag())
    late = lag > 0.02
    words = f"{1000 * lag:.1f} ms late at most"
    found.append(Check("machine", "event loop", "warn" if late else "pass", words))
    versions = ", ".join(f"{name} {_version(name)}" for name in ("pytest", "pytest-xdist", "pytest-html"))
    found.append(Check("machine", "plugins", "pass", versions))
    return found


async def _lag(ticks: int = 40, step: float = 0.005) -> float:
    """How late the latest of some short sleeps ended, in seconds."""
    worst = 0.0
    for _ in range(ticks):
        started = time.monotonic()
        await asyncio.sleep(step)
        worst = max(worst, time.monotonic() - started - step)
    return worst


def _memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    value = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return int(value) * 1024 if value is not None else None


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def settings_checks(
    specs: Sequence[ModelSpec], unknown: Mapping[str, str], *, everything: bool
) -> list[Check]:
    """Where each setting comes from; without ``everything`` only those that somebody set. ``unknown``:
    names of environment variables that mean nothing, with the one that may have been meant."""
    found = []
    for spec in specs:
        for name, origin in sorted(spec.origins.items()):
            if name == "headers" or (origin == "default" and not everything):
                continue
            value: Any = getattr(spec.settings, name)
            found.append(Check("settings", f"{spec.name} {name}", "pass", f"{value!r} from {origin}"))
        if spec.key_origin:
            seen = f"set (from environment {spec.key_origin})"
            found.append(Check("settings", f"{spec.name} api key", "pass", seen))
    for name, meant in unknown.items():
        todo = f"did you mean {meant}?" if meant else "remove it"
        found.append(Check("settings", name, "warn", "no such setting: it has no effect", todo))
    return found or [Check("settings", "settings", "pass", "all at their defaults")]
