"""Runs one candidate and answers calls about it; a process of its own, used once.

Started inside the sandbox, as ``one`` with the wire on descriptors 0 and 1, or as ``all`` with a control
socket there, over which wires come: then each candidate runs in a fork, for starting Python and importing
what most programs import costs several times as much as judging one. What a candidate does to its process is
its own affair: all that leaves it are values, and those the judge checks.

Frames are a length of four bytes and that many bytes. A request is a nonce of 8 bytes, an operation and its
data; an answer the same nonce, the CPU seconds it took by this process's own clock, a kind and its data.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
import time
import types

import plain  # type: ignore[import-not-found]  # beside this file in the sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

LENGTH = struct.Struct("<I")
SECONDS = struct.Struct("<d")
NONCE = 8
STATUS = struct.Struct("<i")
PRELOADED = (
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "functools",
    "heapq",
    "itertools",
    "math",
    "operator",
    "re",
    "resource",
    "string",
    "typing",
)
"""What programs import, imported once. Not ``random``: each program shall have its own chance."""
MOST_HANDED_DOWN = 256
NICE = 5
SELDOM = 50_000
"""New containers between two looks for garbage: a tenth of an import's time goes into them otherwise."""
NAME = "solution"
LONGEST_NAME = 60


class Absent(Exception):
    """The program does not bind the name that is to be called."""


class Candidate:
    """The program, its namespace, and what can be asked of it."""

    def __init__(self) -> None:
        self.module = types.ModuleType(NAME)
        self.entry: str | None = None

    def load(self, source: str, entry: str | None, limits: dict[str, int]) -> None:
        """Sets the limits for good, then runs the program's top level."""
        limit(limits)
        code = self._compiled(source, "exec")
        sys.modules[NAME] = self.module  # dataclasses and pickle look their module up
        exec(code, self.module.__dict__)  # noqa: S102  the very purpose of this process
        self.entry = entry
        if entry is not None and entry not in self.module.__dict__:
            raise Absent

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        return self.module.__dict__[self.entry or ""](*args, **kwargs)

    def evaluate(self, source: str) -> object:
        return eval(self._compiled(source, "eval"), self.module.__dict__)  # noqa: S307

    def execute(self, source: str) -> None:
        exec(self._compiled(source, "exec"), self.module.__dict__)  # noqa: S102

    def _compiled(self, source: str, mode: str) -> types.CodeType:
        try:
            return compile(source, f"<{NAME}>", mode, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, OverflowError, MemoryError) as error:
            raise NotCompiled from error  # NUL bytes, lone surrogates and deep nesting are among them


class NotCompiled(Exception):
    """A source that is no Python."""


def limit(limits: dict[str, int]) -> None:
    """Lowers this process's limits to ``{resource name: value}``; a soft CPU limit comes a second earlier."""
    import resource

    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value - 1 if name == "CPU" and value > 1 else value, value))


def answer(candidate: Candidate, operation: bytes, data: bytes) -> tuple[bytes, bytes]:
    """(kind, data) of what came of one request: ``v`` value, ``o`` done, ``n`` not plain data, ``s`` syntax,
    ``a`` name absent, ``m`` memory, ``e`` tried to exit, ``x`` another exception by name."""
    try:
        if operation == b"L":
            candidate.load(*plain.decode(data))
            return b"o", b""
        if operation == b"X":
            candidate.execute(plain.decode(data))
            return b"o", b""
        asked = candidate.call if operation == b"C" else candidate.evaluate
        value = asked(*plain.decode(data))
        return b"v", plain.encode(value)
    except NotCompiled:
        return b"s", b""
    except Absent:
        return b"a", b""
    except plain.NotPlain as error:
        return b"n", str(error).encode()
    except MemoryError:
        return b"m", b""
    except (SystemExit, KeyboardInterrupt):
        return b"e", b""
    except BaseException as error:
        return b"x", type(error).__name__[:LONGEST_NAME].encode("utf-8", "replace")


def serve(wire: int) -> NoReturn:
    """Answers requests until the other end closes or the candidate ends this process."""
    candidate = Candidate()
    leave = os._exit
    send(wire, bytes(NONCE), 0.0, b"r", b"")
    while True:
        request = receive(wire)
        if request is None:
            leave(0)
        nonce, operation, data = request[:NONCE], request[NONCE : NONCE + 1], request[NONCE + 1 :]
        started = time.process_time()
        kind, value = answer(candidate, operation, data)
        send(wire, nonce, time.process_time() - started, kind, value)


def send(wire: int, nonce: bytes, seconds: float, kind: bytes, data: bytes) -> None:
    body = nonce + SECONDS.pack(seconds) + kind + data
    left = memoryview(LENGTH.pack(len(body)) + body)
    while left:
        left = left[os.write(wire, left) :]


def receive(wire: int) -> bytes | None:
    head = read_exactly(wire, LENGTH.size)
    return None if head is None else read_exactly(wire, LENGTH.unpack(head)[0])


def read_exactly(wire: int, count: int) -> bytes | None:
    """So many bytes, or ``None`` at the end of the stream."""
    parts = bytearray()
    while len(parts) < count:
        part = os.read(wire, min(count - len(parts), 1 << 16))
        if not part:
            return None
        parts += part
    return bytes(parts)


def serve_all(control: int) -> NoReturn:
    """Forks for each wire that comes down the control socket; ends the fork when told to and says how it
    ended, until that socket closes, or until a candidate has left something behind: then this sandbox is not
    used again."""
    import signal
    import socket

    ours = os.getuid() == 0  # else a candidate has our user, and could change what the next one finds
    for name in PRELOADED:
        __import__(name)
    gc.collect()
    gc.freeze()
    channel = socket.socket(fileno=control)
    channel.sendall(b"r")
    while True:
        told, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        if not told:
            os._exit(0)
        child = os.fork()
        if child == 0:
            channel.close()
            os.setsid()
            become_nobody()
            serve(descriptors[0])
        os.close(descriptors[0])
        if not channel.recv(1):
            os._exit(0)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        clean = ours and untouched()
        channel.sendall((b"c" if clean else b"d") + STATUS.pack(status))
        if not clean:
            os._exit(0)


def untouched() -> bool:
    """Whether there is nothing here but bubblewrap's first process and this one, and no file."""
    with os.scandir("/proc") as entries:
        processes = {entry.name for entry in entries if entry.name.isdigit()}
    with os.scandir(".") as files:
        return processes <= {"1", str(os.getpid())} and next(files, None) is None


def become_nobody() -> None:
    """Gives up the user that set the sandbox up, where that is still to be done, and all its rights; steps
    behind what asks the model."""
    os.nice(NICE)
    if os.getuid() == 0:
        user = int(sys.argv[-1])
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def wire_of_stdin() -> int:
    """Takes the wire off the standard descriptors and leaves them empty; gives the wire. Whatever else was
    handed down is closed."""
    os.closerange(3, MOST_HANDED_DOWN)
    wire = os.dup(0)
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(empty, number)
    os.close(empty)
    return wire


def check() -> None:
    """Tells whether this works at all: Python's library can be read by nobody."""
    become_nobody()
    import resource

    print("ok" if resource.RLIMIT_CPU >= 0 else "")


def main() -> NoReturn:
    wire = wire_of_stdin()
    gc.set_threshold(SELDOM)
    for name in ("plain", "worker"):  # nothing of ours is importable for the candidate
        sys.modules.pop(name, None)
    if "all" in sys.argv:
        serve_all(wire)
    become_nobody()
    serve(wire)
