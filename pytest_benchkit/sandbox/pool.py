"""Warm workers, one judge, and how many programs run at once: :class:`Pool`."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox import cgroups
from pytest_benchkit.sandbox.interpreter import compile_inside
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.sandbox.process import READY_S, Process, Wire
from pytest_benchkit.sandbox.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_benchkit.sandbox.backend import Backend

SPARE = 1
"""Sandboxes above the number of programs, ready for when a program leaves its own unfit for the next."""
EMPTY_S = 5.0


class Pool:
    """Runs at most ``size`` programs at once, each in a worker of its own that was started beforehand.

    All processes are started by one thread of the pool and die with it, however this process ends.
    """

    def __init__(self, backend: Backend, size: int, limits: Limits | None = None) -> None:
        self.backend = backend
        self.size = size
        self._limits = limits or Limits()
        self._changed = threading.Condition()
        self._warm: deque[Process | SandboxError] = deque()
        self._judge: Process | SandboxError | None = None
        self._alone = False
        self._alone_waiting = 0
        self._running: set[Process] = set()
        self._places = 0
        self._tree = cgroups.find()
        self._groups: list[cgroups.Group] = []
        self.closed = False
        compile_inside()
        if self._tree is not None:
            cgroups.sweep(self._tree)
            name = f"{cgroups.PREFIX}{os.getpid()}-{id(self):x}"
            self._groups = [self._tree.group(f"{name}-{place}") for place in range(size)]
        self._free = deque(self._groups)
        self._thread = threading.Thread(target=self._keep, name="benchkit-sandbox", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------------ taking part

    @contextlib.contextmanager
    def worker(self, limits: Limits, *, alone: bool = False) -> Iterator[Worker]:
        """A fresh worker, ready, when it is its turn; afterwards it and all it started are gone. ``alone``:
        nothing else of this pool runs meanwhile. Raises :class:`SandboxError`."""
        with self._place(alone), self._sandbox() as sandbox:
            worker = Worker(sandbox, forks=self.backend.shares_sockets)
            group = None
            try:
                worker.ready()
                if worker.pid is not None and self._free:
                    group = self._free.popleft()
                    group.enter(worker.pid, limits)
                    worker.group = group
                yield worker
            except OSError as error:
                raise SandboxError(f"the sandbox does not work: {error}") from error
            finally:
                worker.end()
                sandbox.clean = worker.clean
                if group is not None:
                    _wait_until_empty(group)
                    self._free.append(group)

    @contextlib.contextmanager
    def _sandbox(self) -> Iterator[Process]:
        """A sandbox to run one program in; afterwards it is kept for another if it is clean, else stopped."""
        sandbox = self._take()
        sandbox.clean = False
        try:
            yield sandbox
        except SandboxError as error:
            raise self._closed() if self.closed else error from None
        finally:
            with self._changed:
                # the last that is done with it: from here on it may be another program's
                self._running.discard(sandbox)
                kept = sandbox.clean and not self.closed
                if kept:
                    self._warm.appendleft(sandbox)
                self._changed.notify_all()
            if not kept:
                sandbox.stop()

    @contextlib.contextmanager
    def judge(self) -> Iterator[Wire]:
        """A wire to a judge for one trial. Raises :class:`SandboxError`."""
        if not self.backend.shares_sockets:
            process = Process(self.backend, "judge", self._limits, "one")
            try:
                yield process.wire
            finally:
                process.stop()
            return
        mine, theirs = socket.socketpair()
        wire = Wire(mine)
        try:
            self._hand_over(theirs)
            theirs.close()  # held here, it would hide that the judge is gone
            yield wire
        finally:
            theirs.close()
            wire.close()

    def _hand_over(self, end: socket.socket) -> None:
        """Gives one end of a socket pair to the judge, which forks for it."""
        with self._changed:
            while True:
                while self._judge is None and not self.closed:
                    self._changed.wait()
                judge = self._judge
                if self.closed or judge is None:
                    raise self._closed()
                if isinstance(judge, Process):
                    with contextlib.suppress(OSError):
                        judge.hand_over(end)
                        return
                    judge.stop()
                self._judge = None  # another is started
                self._changed.notify_all()
                if isinstance(judge, SandboxError):
                    raise judge

    @contextlib.contextmanager
    def _place(self, alone: bool) -> Iterator[None]:
        with self._changed:
            self._alone_waiting += alone
            try:
                while not self.closed and not self._may_start(alone):
                    self._changed.wait()
            finally:
                self._alone_waiting -= alone
            if self.closed:
                raise self._closed()
            self._places += 1
            self._alone = alone
        try:
            yield
        finally:
            with self._changed:
                self._places -= 1
                self._alone = False
                self._changed.notify_all()

    def _may_start(self, alone: bool) -> bool:
        if self._alone:
            return False
        return not self._places if alone else not self._alone_waiting and self._places < self.size

    def _take(self) -> Process:
        """The next sandbox in which a program can run. Raises what kept it from starting."""
        while True:
            with self._changed:
                while not self._warm and not self.closed:
                    self._changed.wait()
                if self.closed:
                    raise self._closed()
                process = self._warm.popleft()
                self._changed.notify_all()
                if isinstance(process, SandboxError):
                    raise process
                if process.popen.poll() is None:
                    self._running.add(process)
                    return process
            process.stop()  # it died while it waited

    def _closed(self) -> SandboxError:
        return SandboxError("the sandbox was closed")

    # ------------------------------------------------------------------ the thread that starts processes

    def _keep(self) -> None:
        while True:
            with self._changed:
                while not self.closed and (wanted := self._wanted()) is None:
                    self._changed.wait()
                if self.closed:
                    return
            made = self._made(wanted or "worker")
            with self._changed:
                if wanted == "judge":
                    self._judge = made
                else:
                    self._warm.append(made)
                self._changed.notify_all()
                if self.closed:
                    self._stop_all()
                    return

    def _wanted(self) -> str | None:
        """Which script there is one too few of."""
        if self.backend.shares_sockets and self._judge is None:
            return "judge"
        return "worker" if len(self._warm) + len(self._running) < self.size + SPARE else None

    def _made(self, script: str) -> Process | SandboxError:
        forks = self.backend.shares_sockets
        try:
            process = Process(self.backend, script, self._limits, "all" if forks else "one")
            if forks:
                process.greeted()
                process.wire.socket.setblocking(True)
        except (SandboxError, OSError) as error:
            return error if isinstance(error, SandboxError) else SandboxError(f"no sandbox: {error}")
        return process

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Ends every process; what runs raises :class:`SandboxError` in its thread. May be called twice."""
        with self._changed:
            if self.closed:
                return
            self.closed = True
            self._stop_all()
            self._changed.notify_all()
        self._thread.join(READY_S)
        for group in self._groups:
            _wait_until_empty(group)
            group.remove()

    def _stop_all(self) -> None:
        for process in self._running:
            process.kill()
        for idle in (*self._warm, self._judge):
            if isinstance(idle, Process):
                idle.stop()
        self._warm.clear()


def _wait_until_empty(group: cgroups.Group) -> None:
    """The kernel takes a moment to end what a killed process had started."""
    end = time.monotonic() + EMPTY_S
    with contextlib.suppress(FileNotFoundError):  # the pool was closed
        while not group.empty and time.monotonic() < end:
            time.sleep(0.002)


_lock = threading.Lock()
_pool: Pool | None = None
_processes = 1


def share_with(processes: int) -> None:
    """Says how many processes of this run have a pool each: they share the machine's cores."""
    global _processes
    _processes = max(1, processes)


def shared(backend: Backend) -> Pool:
    """This process's pool: as many programs at once as its share of the cores."""
    global _pool
    with _lock:
        if _pool is None or _pool.closed:
            atexit.register(close)
            _pool = Pool(backend, max(1, len(os.sched_getaffinity(0)) // _processes))
        return _pool


def close() -> None:
    """Closes this process's pool, if it has one."""
    with _lock:
        if _pool is not None:
            _pool.close()
