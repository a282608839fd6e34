"""A program that runs inside, as seen from outside: its wire, what it used, how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox.process import LENGTH, READY_S, Process, Wire

if TYPE_CHECKING:
    from pytest_benchkit.sandbox.cgroups import Group

NONCE = 8
SECONDS = struct.Struct("<d")
GREETING = LENGTH.size + NONCE + SECONDS.size + 1
"""Bytes of a worker's first frame."""
CREDENTIALS = struct.Struct("iii")
TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """One program's process, in a sandbox that is its own (``forks`` is false) or was clean before it."""

    def __init__(self, sandbox: Process, *, forks: bool) -> None:
        self.sandbox = sandbox
        self.group: Group | None = None
        self.pid: int | None = None
        self._forks = forks
        self._born = ""
        self._used = 0.0
        self._end: tuple[bool, int | None] | None = None
        self.wire = self._handed_over() if forks else sandbox.wire

    def _handed_over(self) -> Wire:
        mine, theirs = socket.socketpair()
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with theirs:
            try:
                self.sandbox.hand_over(theirs)
            except OSError:
                mine.close()
                raise SandboxError(f"the sandbox is gone: {self.sandbox.complaint()}") from None
        return Wire(mine)

    def ready(self) -> None:
        """Waits for its greeting, by whose credentials a fork is known outside. Raises
        :class:`SandboxError` with what was complained about."""
        heard = b""
        end = time.monotonic() + READY_S
        room = socket.CMSG_SPACE(CREDENTIALS.size) if self._forks else 0
        while len(heard) < GREETING and self.wire.wait(end - time.monotonic()):
            part, extra, _, _ = self.wire.socket.recvmsg(GREETING - len(heard), room)
            if not part:
                break
            heard += part
            for level, kind, data in extra:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    self.pid = CREDENTIALS.unpack(data)[0]
        if len(heard) < GREETING:
            raise SandboxError(f"the sandbox did not start: {self.sandbox.complaint()}")
        if self.pid is not None and (fields := _stat(self.pid)):
            self._born = fields[19]

    def cpu_s(self) -> float | None:
        """CPU seconds of it and of all it started so far; ``None`` where that cannot be seen."""
        if self.group is not None:
            return self.group.cpu_s()
        if self.pid is None:
            return None
        fields = _stat(self.pid)
        if fields and fields[19] == self._born:
            self._used = max(self._used, sum(_cpu_s(pid) for pid in _tree(self.pid)))
        return self._used

    @property
    def asleep(self) -> bool:
        """Whether it waits for something else than the CPU or a disk; false where that cannot be seen."""
        fields = _stat(self.pid) if self.pid is not None else []
        return bool(fields) and fields[0] == "S"

    def killed_for_memory(self) -> int:
        """How often the kernel ended one of its processes for memory, as far as that is counted."""
        if self.group is not None:
            with contextlib.suppress(OSError):
                return self.group.killed_for_memory()
        return 0

    def end(self) -> None:
        """Ends it with all that it started; a sandbox in which something was left is stopped. May be called
        twice."""
        if self._end is not None:
            return
        self._end = self.sandbox.ended() if self._forks else (False, None)
        self.wire.close()
        if not self._end[0]:
            self.sandbox.stop()

    @property
    def clean(self) -> bool:
        """Whether it ended and left nothing behind, so that its sandbox can be used again."""
        return self._end is not None and self._end[0]

    @property
    def ran_out_of_time(self) -> bool:
        """Whether the kernel ended it for its CPU time."""
        return self._ended_by(signal.SIGXCPU)

    @property
    def was_killed(self) -> bool:
        """Whether something ended it that it could not refuse, or its sandbox is gone: told of forks only,
        before we end it."""
        gone = self._end is not None and self._end[1] is None
        return self._forks and (gone or self._ended_by(signal.SIGKILL))

    def _ended_by(self, number: signal.Signals) -> bool:
        if not self._forks:
            return self.sandbox.popen.returncode == 128 + number
        status = self._end[1] if self._end is not None else None
        return status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == number


def _stat(pid: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` behind the name (proc(5) numbers them from 3); empty when it is
    gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []


def _cpu_s(pid: int) -> float:
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICKS if fields else 0.0


def _tree(root: int) -> list[int]:
    """A process and its living descendants."""
    found = [root]
    for pid in found:  # grows while it is walked
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return found
