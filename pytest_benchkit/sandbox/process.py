"""A process inside the sandbox as seen from outside: its wire, what it used, its end."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchkit.sandbox.backend import Backend
    from pytest_benchkit.sandbox.cgroups import Group
    from pytest_benchkit.sandbox.limits import Limits

LENGTH = struct.Struct("<I")
SECONDS = struct.Struct("<d")
NONCE = 8
READY_S = 30.0
TICK_S = 0.1
MOST_COMPLAINT = 4096
CREDENTIALS = struct.Struct("iii")
TICKS = os.sysconf("SC_CLK_TCK")


class WireClosed(Exception):
    """The other end is gone."""


class BadFrame(WireClosed):
    """What was sent is no frame."""


class Wire:
    """Frames over a stream socket: a length of four bytes and that many bytes.

    The other end may stall at any byte: whoever sends or receives gives a function that is called each tenth
    of a second meanwhile, and ends the wait by raising.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        end.setblocking(False)

    def send(self, body: bytes, idle: Callable[[], None]) -> None:
        """Raises :class:`WireClosed`."""
        left = memoryview(LENGTH.pack(len(body)) + body)
        while left:
            try:
                left = left[self.socket.send(left) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, idle)
            except OSError as error:
                raise WireClosed(str(error)) from None

    def receive(self, most: int, idle: Callable[[], None]) -> bytes:
        """The next frame; waits for it. Raises :class:`WireClosed`, for one above ``most`` bytes too."""
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, idle))
        if length > most:
            raise BadFrame("a frame too large")
        return self._exactly(length, idle)

    def wait(self, seconds: float, event: int = select.POLLIN) -> bool:
        """Whether something can be read, after at most so long."""
        poller = select.poll()
        poller.register(self.socket, event)
        return bool(poller.poll(max(0, int(seconds * 1000))))

    def _wait(self, event: int, idle: Callable[[], None]) -> None:
        while not self.wait(TICK_S, event):
            idle()

    def _exactly(self, count: int, idle: Callable[[], None]) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            try:
                part = self.socket.recv(min(count - len(parts), 1 << 20))
            except BlockingIOError:
                self._wait(select.POLLIN, idle)
                continue
            except OSError as error:
                raise WireClosed(str(error)) from None
            if not part:
                raise WireClosed("end of stream")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        self.socket.close()


class Process:
    """A script of ``sandbox/inside`` that was started; must be made by a thread that outlives it, for it
    dies with that thread (``PR_SET_PDEATHSIG``)."""

    def __init__(self, backend: Backend, script: str, limits: Limits, *words: str) -> None:
        mine, theirs = socket.socketpair()
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.wire = Wire(mine)
        command = backend.command(script, limits, *words)
        self._after = command.after
        self._shares = backend.shares_sockets
        try:
            self.popen = subprocess.Popen(
                command.argv,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                pass_fds=command.inherited,
                env={},
                start_new_session=True,
            )
        except OSError as error:
            mine.close()
            raise SandboxError(f"{backend.name} does not start: {error}") from None
        finally:
            theirs.close()
            for descriptor in command.once:
                os.close(descriptor)
        self.pid: int | None = None
        self.group: Group | None = None
        self._born = ""
        self._used = 0.0
        self._errors = b""

    def ready(self, greeting: int) -> None:
        """Waits for the greeting of so many bytes, by whose credentials the process is known. Raises
        :class:`SandboxError` with what was complained about."""
        heard = b""
        end = time.monotonic() + READY_S
        while len(heard) < greeting and self.wire.wait(end - time.monotonic()):
            part, extra, _, _ = self.wire.socket.recvmsg(
                greeting - len(heard), socket.CMSG_SPACE(CREDENTIALS.size)
            )
            if not part:
                break
            heard += part
            for level, kind, data in extra:
                if self._shares and (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    self.pid = CREDENTIALS.unpack(data)[0]
        if len(heard) < greeting:
            raise SandboxError(f"the sandbox did not start: {self.complaint()}")
        self.wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        self._born = _stat(self.pid)[19] if self.pid is not None and _stat(self.pid) else ""

    def complaint(self) -> str:
        """The end of what it wrote to its error stream, after it was stopped."""
        self.stop()
        text = self._errors.decode(errors="replace").strip()
        return text[-MOST_COMPLAINT:] or f"it ended with status {self.popen.returncode}"

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

    def status(self, seconds: float) -> int | None:
        """Its exit status (128 + signal), ``None`` while it runs; waits at most so long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.popen.wait(seconds)
        return None

    def kill(self) -> None:
        """Ends it with all that it started; whoever waits for it hears the end. From any thread."""
        self.popen.kill()
        with contextlib.suppress(OSError):
            self.wire.socket.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """Kills it and gives back what it held. By its owner; may be called twice."""
        self.popen.kill()
        self.popen.wait()
        if self._after:
            subprocess.run(self._after, capture_output=True, stdin=subprocess.DEVNULL, check=False)
            self._after = ()
        if self.popen.stderr is not None and not self.popen.stderr.closed:
            os.set_blocking(self.popen.stderr.fileno(), False)
            self._errors = self.popen.stderr.read(1 << 16) or b""
            self.popen.stderr.close()
        self.wire.close()


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
