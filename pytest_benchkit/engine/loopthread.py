"""The engine's one background thread with its event loop, which measures how late it is."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
TICK_S = 0.1
TIMER_SLACK_S = 0.002


class LoopThread:
    """An event loop in a daemon thread. ``on_tick`` is called on it ten times a second.

    ``lag_s`` is the seconds by which its ticks have been late so far: time that our own process spent,
    which extends deadlines and is charged to nobody (D-2).
    """

    def __init__(self, on_tick: Callable[[], None]) -> None:
        self.lag_s = 0.0
        self._on_tick = on_tick
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self._loop is not None

    def start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="benchkit-engine", daemon=True)
        self._thread.start()
        ready.wait()

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Calls a function on the loop, from any thread; nothing when the loop is not running."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, *args)

    def wait_for(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Runs a coroutine on the loop and blocks until it is done."""
        if self._loop is None:
            work.close()
            raise RuntimeError("the engine is not running")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout)

    def stop(self) -> None:
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
        self._loop = None

    def _run(self, ready: threading.Event) -> None:
        loop = self._loop = _new_loop()
        asyncio.set_event_loop(loop)
        loop.call_later(TICK_S, self._tick, loop, time.monotonic() + TICK_S)
        loop.call_soon(ready.set)
        try:
            loop.run_forever()
        finally:
            loop.close()

    def _tick(self, loop: asyncio.AbstractEventLoop, expected: float) -> None:
        now = time.monotonic()
        self.lag_s += max(0.0, now - expected - TIMER_SLACK_S)
        loop.call_later(TICK_S, self._tick, loop, now + TICK_S)
        self._on_tick()


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it is installed and wanted; it is never required."""
    if os.environ.get("BENCHKIT_UVLOOP") != "0":
        try:
            import uvloop
        except ImportError:
            pass
        else:
            loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
            return loop
    return asyncio.new_event_loop()
