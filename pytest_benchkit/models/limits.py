"""Request slots of one model in this process, and the hold that all processes of a run share."""

from __future__ import annotations

import asyncio
import mmap
import os
import struct
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

HOLD_BYTES = 8 * 256


def mapped(path: Path | None, size: int) -> mmap.mmap | bytearray:
    """So many bytes that every process of a run sees; without a file, of this process alone."""
    if path is None:
        return bytearray(size)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size < size:
            os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


class SharedHold:
    """A time before which no request may start, one per model, seen by every process of the run.

    Backed by a small memory-mapped file of doubles on the system-wide monotonic clock, so that reading
    costs no system call. Without a file it is private to the process.
    """

    def __init__(self, path: Path | None = None, slot: int = 0) -> None:
        self._offset = 8 * (slot % 256)
        self._map = mapped(path, HOLD_BYTES)

    @property
    def until(self) -> float:
        return float(struct.unpack_from("d", self._map, self._offset)[0])

    def extend(self, until: float) -> None:
        """Two processes may race here; both saw a Retry-After, either value holds everyone back."""
        if until > self.until:
            struct.pack_into("d", self._map, self._offset, until)


class Slots:
    """At most ``capacity`` requests in flight; implements the :class:`~.base.Gate` protocol.

    Lives on one event loop. A freed slot goes to a waiter (a retry) first, else ``on_free`` is called at
    once, so that the next request leaves before anything is done with the finished reply.
    """

    def __init__(self, capacity: int, hold: SharedHold | None = None) -> None:
        self.capacity = capacity
        self.in_use = 0
        self.peak = 0
        self.on_free: Callable[[], None] = lambda: None
        self._hold = hold or SharedHold()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._busy_area = 0.0
        self._busy_since = 0.0
        self._busy_time = 0.0

    @property
    def held_for(self) -> float:
        """Seconds until requests may start again; 0 when nothing holds them."""
        return max(0.0, self._hold.until - time.monotonic())

    def try_enter(self) -> bool:
        """Takes a slot if one is free now and nothing holds requests back."""
        if self.in_use >= self.capacity or self._waiters or self.held_for > 0:
            return False
        self._take()
        return True

    async def enter(self) -> None:
        while True:
            if (wait := self.held_for) > 0:
                await asyncio.sleep(wait)
            if self.in_use < self.capacity:
                self._take()
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()
                else:
                    self._waiters.remove(waiter)
                raise

    def leave(self) -> None:
        self._account()
        self.in_use -= 1
        if not self._wake():
            self.on_free()

    def hold(self, seconds: float) -> None:
        self._hold.extend(time.monotonic() + seconds)

    def _take(self) -> None:
        self._account()
        self.in_use += 1
        self.peak = max(self.peak, self.in_use)

    def _wake(self) -> bool:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return True
        return False

    def _account(self) -> None:
        now = time.monotonic()
        if self.in_use:
            self._busy_area += self.in_use * (now - self._busy_since)
            self._busy_time += now - self._busy_since
        self._busy_since = now

    @property
    def mean(self) -> float | None:
        """Mean number in flight over the time in which any was."""
        return self._busy_area / self._busy_time if self._busy_time else None


class Ticket:
    """The gate of one task whose first slot the dispatcher has already taken."""

    __slots__ = ("_slots", "_taken")

    def __init__(self, slots: Slots, taken: bool) -> None:
        self._slots = slots
        self._taken = taken

    async def enter(self) -> None:
        if self._taken:
            return
        await self._slots.enter()
        self._taken = True

    def leave(self) -> None:
        if self._taken:
            self._taken = False
            self._slots.leave()

    def hold(self, seconds: float) -> None:
        self._slots.hold(seconds)
