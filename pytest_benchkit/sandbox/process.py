"""A process inside the sandbox as seen from outside: the wire to it, and its end."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import subprocess
import time
from typing import TYPE_CHECKING

from pytest_benchkit.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchkit.sandbox.backend import Backend
    from pytest_benchkit.sandbox.limits import Limits

LENGTH = struct.Struct("<I")
STATUS = struct.Struct("<i")
READY_S = 30.0
TICK_S = 0.1
MOST_COMPLAINT = 4096
END_S = 5.0
"""For what ends a program to say so: it cannot be kept from it but by being stopped."""


class WireClosed(Exception):
    """The other end is gone."""


class BadFrame(WireClosed):
    """What was sent is no frame."""


class Wire:
    """Frames over a stream socket: a length of four bytes and that many bytes.

    The other end may stall at any byte, or send one at a time: whoever sends or receives gives a function
    that is called each tenth of a second meanwhile, and ends the wait by raising.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._looked = time.monotonic()
        end.setblocking(False)

    def send(self, body: bytes, idle: Callable[[], None]) -> None:
        """Raises :class:`WireClosed`."""
        left = memoryview(LENGTH.pack(len(body)) + body)
        while left:
            self._look(idle)
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

    def peek(self) -> bytes:
        """The next byte, which stays where it is; empty at the end of the stream or when there is none."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK)
        except OSError:
            return b""

    def _look(self, idle: Callable[[], None]) -> None:
        """Calls ``idle`` when it is time for it, however busy the other end keeps this one."""
        if (now := time.monotonic()) - self._looked >= TICK_S:
            self._looked = now
            idle()

    def _wait(self, event: int, idle: Callable[[], None]) -> None:
        while not self.wait(TICK_S, event):
            idle()

    def _exactly(self, count: int, idle: Callable[[], None]) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._look(idle)
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
        self.wire = Wire(mine)
        command = backend.command(script, limits, *words)
        self._after = command.after
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
        self._errors = b""
        self.clean = False
        """Whether the last program left nothing in it."""

    def greeted(self) -> None:
        """Waits for the byte by which a script says that it can be told of wires. Raises
        :class:`SandboxError` with what was complained about."""
        if not self.wire.wait(READY_S) or self.wire.peek() != b"r":
            raise SandboxError(f"the sandbox did not start: {self.complaint()}")
        self.wire.socket.recv(1)

    def hand_over(self, end: socket.socket) -> None:
        """Gives a script one end of a socket pair. Raises ``OSError`` when it is gone."""
        socket.send_fds(self.wire.socket, [b"t"], [end.fileno()])

    def ended(self) -> tuple[bool, int | None]:
        """Has a worker's script end its program: whether nothing was left behind, and how it ended (a wait
        status). Neither is known of a script that is gone, or does not answer."""
        heard = b""
        end = time.monotonic() + END_S
        with contextlib.suppress(OSError):
            self.wire.socket.send(b"k")
            while len(heard) < 1 + STATUS.size and self.wire.wait(end - time.monotonic()):
                part = self.wire.socket.recv(1 + STATUS.size - len(heard))
                if not part:
                    break
                heard += part
        if len(heard) < 1 + STATUS.size:
            return False, None
        return heard[:1] == b"c", STATUS.unpack_from(heard, 1)[0]

    def complaint(self) -> str:
        """The end of what it wrote to its error stream, after it was stopped."""
        self.stop()
        text = self._errors.decode(errors="replace").strip()
        return text[-MOST_COMPLAINT:] or f"it ended with status {self.popen.returncode}"

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
