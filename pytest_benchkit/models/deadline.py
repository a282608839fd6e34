"""A request's deadline on the server's clock (section 7 of the engine's rules: D-1 to D-3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

GRACE_S = 0.02
"""At a deadline, bytes already in the socket get this long to be read (D-3)."""


class Deadline:
    """A request's deadline on the server's clock: our own lag is added before it is declared passed."""

    def __init__(
        self, limit: asyncio.Timeout, started: float, seconds: float, lag: Callable[[], float]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._seconds = seconds
        self._lag = lag
        self._lag_at_start = lag()
        self._end = started + seconds
        self._grace = False
        self._timer = self._loop.call_later(seconds, self._check)

    def starts_at(self, sent_at: float) -> None:
        self._end = sent_at + self._seconds

    def at_most(self, seconds: float) -> None:
        """Moves the deadline near: the reply is complete, only its tail is awaited."""
        self._timer.cancel()
        self._end = time.monotonic() + seconds
        self._timer = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        late = time.monotonic() - self._end - (self._lag() - self._lag_at_start)
        if late < 0:
            self._timer = self._loop.call_later(-late, self._check)
        elif not self._grace:
            self._grace = True
            self._timer = self._loop.call_later(GRACE_S, self._check)
        else:
            self._limit.reschedule(self._loop.time())

    def cancel(self) -> None:
        self._timer.cancel()
