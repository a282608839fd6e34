"""One program, judged once: carries calls and values between its worker and its judge, and watches.

The judge asks, the worker answers, and this process, which trusts neither with the time, hands the frames
on without looking into them. It knows who went silent first, what was used, and what was killed.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox.inside import plain
from pytest_benchkit.sandbox.process import BadFrame, Wire, WireClosed
from pytest_benchkit.sandbox.worker import NONCE, SECONDS, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchkit.sandbox.limits import Limits
    from pytest_benchkit.sandbox.pool import Pool

JUDGE_S = 120.0
"""Seconds of wall time that a judge may think between two calls."""
IDLE_S = 5.0
"""Seconds of sleep without any use of the CPU after which a program has had its time: upstream gives it 3."""
IDLE_CPU_S = 0.02
JUDGE_LIMITS = {"CPU": 20, "AS": 4 << 30, "CORE": 0}
"""Of judging one program: a value may be built to be slow to compare."""
MOST_FROM_JUDGE = (64 << 20) + 1024
MOST_FROM_WORKER = plain.MOST_BYTES + 1024
LONGEST_WORD = 64
JUDGE_LOST = "the tests did not end on this value"
ASLEEP = "asleep"
KILLED = "killed"
"""A program ended by SIGKILL, which it or a machine short of memory may have sent."""
MISSES = {
    b"s": "syntax",
    b"a": "name_missing",
    b"m": "memory",
    b"e": "bad_exit",
    b"x": "exception",
}


@dataclass(slots=True)
class Ended:
    """How one attempt ended: ``category`` (``passed`` or a miss), ``detail``, notes of the trial, and what
    the program used. ``cpu_s`` is absent where it cannot be measured."""

    category: str
    detail: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    cpu_s: float | None = None
    wall_s: float = 0.0


class Miss(Exception):
    """The program's fault, which ends the attempt."""

    def __init__(self, category: str, detail: str = "") -> None:
        super().__init__(category)
        self.category, self.detail = category, detail


class Conversation:
    """An attempt in progress."""

    def __init__(self, pool: Pool, worker: Worker, limits: Limits) -> None:
        self._pool = pool
        self._worker = worker
        self._limits = limits
        self._started = time.monotonic()
        self._before = worker.cpu_s() or 0.0
        self._memory_before = worker.killed_for_memory()
        self._answers = 0
        self._awake = (self._started, 0.0)
        self._notes: dict[str, Any] = {}

    def run(self, source: str, entry: str | None, trial: tuple[str, str | None, Any]) -> Ended:
        """Loads the program, then lets the judge ask. Raises :class:`SandboxError` for faults of ours."""
        try:
            load = plain.encode((source, entry, self._limits.resources()), MOST_FROM_JUDGE)
            kind, _, data = self._ask(b"L" + load, None)
            if kind != b"o":
                raise Miss(MISSES.get(kind, "bad_exit"), _word(data) if kind == b"x" else "")
            with self._pool.judge() as judge:
                category, detail = self._judged(judge, trial)
            if category == "passed" and self._worker.wire.wait(0):
                raise Miss("bad_exit", "forged answer")
            ended = Ended(category, detail, self._notes)
        except Miss as miss:
            ended = Ended(miss.category, miss.detail, self._notes)
        if self._pool.closed:
            raise SandboxError("the sandbox was closed while a program ran")
        cpu_s = self._worker.cpu_s()
        ended.cpu_s = None if cpu_s is None else max(0.0, round(cpu_s - self._before, 4))
        ended.wall_s = round(time.monotonic() - self._started, 4)
        return ended

    def _judged(self, judge: Wire, trial: tuple[str, str | None, Any]) -> tuple[str, str]:
        """Carries frames until the verdict: (category, detail)."""
        source, entry, data = trial
        self._tell(judge, b"J" + plain.encode((source, entry, data, JUDGE_LIMITS), MOST_FROM_JUDGE))
        while True:
            body = self._hear(judge)
            if body[:1] == b"V":
                passed, category, detail = plain.decode(body[1:])
                if category == "fault":
                    raise SandboxError(f"a trial is broken: {detail}")
                told = _word(detail.encode("utf-8", "replace")) if category == "exception" else ""
                return ("passed" if passed else category), told
            if body[:1] == b"N":
                name, value = plain.decode(body[1:])
                self._notes[name] = value
                continue
            (seconds,) = SECONDS.unpack_from(body, 1)
            kind, took, value = self._ask(body[1 + SECONDS.size :], seconds or None)
            self._answers += 1
            self._tell(judge, kind + took + value)

    def _tell(self, judge: Wire, body: bytes) -> None:
        try:
            judge.send(body, self._until(JUDGE_S))
        except WireClosed as error:
            raise self._judge_gone(error) from None

    def _hear(self, judge: Wire) -> bytes:
        """The judge's next frame."""
        try:
            return judge.receive(MOST_FROM_JUDGE, self._until(JUDGE_S))
        except WireClosed as error:
            raise self._judge_gone(error) from None

    def _until(self, seconds: float) -> Callable[[], None]:
        """What is looked at while the judge thinks. The program may go on meanwhile, in threads."""
        end = time.monotonic() + seconds

        def check() -> None:
            self._check_time()
            if time.monotonic() > end:
                raise WireClosed("no sign of the judge")

        return check

    def _judge_gone(self, error: WireClosed) -> Exception:
        """A judge that ended over values it had received was ended by them; else the fault is ours."""
        if self._answers:
            return Miss("wrong_value", JUDGE_LOST)
        return SandboxError(f"the judge ended without a verdict: {error}")

    def _ask(self, request: bytes, seconds: float | None) -> tuple[bytes, bytes, bytes]:
        """The worker's answer to one request: kind, seconds by its own clock, data. Raises :class:`Miss` when
        there is none in time, or one that nobody asked for."""
        wire = self._worker.wire
        if wire.wait(0):
            raise Miss("bad_exit", "forged answer") if wire.peek() else self._end_of_worker()
        nonce = secrets.token_bytes(NONCE)
        before, started = (self._worker.cpu_s() or 0.0) if seconds is not None else 0.0, time.monotonic()
        self._awake = (time.monotonic(), 0.0)

        def check() -> None:
            self._check_time()
            self._check_awake()
            if seconds is not None:
                self._check_call(seconds, before, started)

        try:
            wire.send(nonce + request, check)
            body = wire.receive(MOST_FROM_WORKER, check)
        except BadFrame:
            raise Miss("bad_exit", "forged answer") from None
        except WireClosed:
            raise self._end_of_worker() from None
        check()
        if body[:NONCE] != nonce or len(body) < NONCE + SECONDS.size + 1:
            raise Miss("bad_exit", "forged answer")
        kind_at = NONCE + SECONDS.size
        kind = body[kind_at : kind_at + 1]
        return kind, body[NONCE:kind_at], body[kind_at + 1 :]

    def _end_of_worker(self) -> Miss:
        """Why the wire to the worker was closed."""
        self._check_time()
        self._worker.end()
        if self._worker.killed_for_memory() > self._memory_before:
            return Miss("memory")
        if self._worker.ran_out_of_time:
            return Miss("time")
        return Miss("bad_exit", KILLED if self._worker.was_killed else "")

    def _check_time(self) -> None:
        """Raises :class:`Miss` once the program has used up its time."""
        used = self._worker.cpu_s()
        if used is not None and used - self._before >= self._limits.cpu_s:
            raise Miss("time")
        if time.monotonic() - self._started >= self._limits.wall_s:
            raise Miss("time")

    def _check_awake(self) -> None:
        """The same for a program that sleeps: it is not the machine that keeps it waiting."""
        now, used = time.monotonic(), self._worker.cpu_s()
        since, then = self._awake
        if used is None or used - then > IDLE_CPU_S or not self._worker.asleep:
            self._awake = (now, used or 0.0)
        elif now - since >= IDLE_S:
            raise Miss("time", ASLEEP)

    def _check_call(self, seconds: float, before: float, started: float) -> None:
        """The same for one call, by what had been used before it."""
        used = self._worker.cpu_s()
        if used is not None and used - before >= seconds:
            raise Miss("time")
        if time.monotonic() - started >= self._limits.wall_of(seconds):
            raise Miss("time")


def _word(data: bytes) -> str:
    """A name from inside, when it is one that may be shown."""
    if len(data) > LONGEST_WORD:
        return ""
    text = data.decode("utf-8", "replace")
    return text if text.isascii() and text.replace(" ", "_").isidentifier() else ""
