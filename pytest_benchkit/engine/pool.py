"""Daemon threads for scorers: unlike an executor's, one that never returns does not hold the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any


class ScoringPool:
    """Runs calls on at most ``size`` threads, started as they are needed.

    What a call raises goes to ``on_fault``. Calls keep their order of submission where threads allow.
    """

    def __init__(self, size: int, on_fault: Callable[[BaseException], None]) -> None:
        self._size = size
        self._on_fault = on_fault
        self._queue: SimpleQueue[tuple[Callable[..., None], tuple[Any, ...]] | None] = SimpleQueue()
        self._lock = threading.Condition()
        self._threads = 0
        self._unfinished = 0

    def submit(self, call: Callable[..., None], *args: Any) -> None:
        with self._lock:
            self._unfinished += 1
            if self._threads < self._size and self._unfinished > self._threads:
                self._threads += 1
                threading.Thread(target=self._work, name="benchkit-score", daemon=True).start()
        self._queue.put((call, args))

    def replace(self, call: Callable[..., None], *args: Any) -> None:
        """Runs what is to be done about a call that does not return, in a thread that takes the place of the
        one that is stuck."""
        with self._lock:
            self._unfinished += 1
            self._size += 1
            self._threads += 1

        def take_over() -> None:
            self._run(call, args)
            self._work()

        threading.Thread(target=take_over, name="benchkit-score", daemon=True).start()

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            self._run(*task)

    def _run(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        try:
            call(*args)
        except BaseException as error:
            self._on_fault(error)
        finally:
            with self._lock:
                self._unfinished -= 1
                self._lock.notify_all()

    def close(self, seconds: float) -> bool:
        """Waits at most so long for what was submitted; whether all of it is done. Idle threads end."""
        end = time.monotonic() + seconds
        with self._lock:
            while self._unfinished and (left := end - time.monotonic()) > 0:
                self._lock.wait(left)
            done = not self._unfinished
            threads = self._threads
        for _ in range(threads):
            self._queue.put(None)
        return done
