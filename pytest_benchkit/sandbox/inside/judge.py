"""Judges trials: holds tests and expected values, and never runs a byte of a candidate.

One process for all trials of a pool; each trial is judged in a fork of it. It asks for calls by writing
them to its descriptor, and gets plain values back. Frames are a length of four bytes and that many bytes.
From here: ``A`` seconds, operation, data (ask the worker), ``N`` note or ``V`` verdict; to here: ``J`` trial,
then for each ``A`` a kind, the CPU seconds by the worker's clock, and data.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import traceback

import plain  # type: ignore[import-not-found]  # beside this file in the sandbox
import worker  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SECONDS = struct.Struct("<d")
MOST_NOTES = 64 << 20
MISSES = {
    b"s": "syntax",
    b"a": "name_missing",
    b"n": "not_plain_data",
    b"m": "memory",
    b"e": "bad_exit",
    b"x": "exception",
}
PRELOADED = ("collections", "copy", "datetime", "functools", "itertools", "math", "random", "re", "typing")
"""What trusted tests import; loaded once, before the forks."""


OFFERED = ("call", "candidate", "evaluate", "execute", "note", "spent")
"""Methods of :class:`Trial` that a trial's source finds as names."""


class Missed(BaseException):
    """The candidate's answer was none; ends the trial whatever its source catches."""

    def __init__(self, category: str, detail: str = "") -> None:
        super().__init__(category)
        self.category, self.detail = category, detail


class Trial:
    """What a trial's source can use: the proxy of the candidate, and notes for the verdict."""

    def __init__(self, wire: int) -> None:
        self._wire = wire
        self.answered = False
        self.spent_s = 0.0

    def call(self, args: Any, kwargs: Any = None, seconds: float | None = None) -> Any:
        """The candidate's value for these arguments, with at most so many CPU seconds for it."""
        return self._ask(b"C", (tuple(args), dict(kwargs or {})), seconds)

    def candidate(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(args, kwargs)

    def evaluate(self, source: str, seconds: float | None = None) -> Any:
        """The value of an expression of ours in the candidate's namespace."""
        return self._ask(b"E", (source,), seconds)

    def execute(self, source: str, seconds: float | None = None) -> None:
        """Runs statements of ours in the candidate's namespace."""
        self._ask(b"X", source, seconds)

    def note(self, name: str, value: Any) -> None:
        """Keeps plain data beside the verdict, however the trial goes on."""
        write(self._wire, b"N" + plain.encode((name, value), MOST_NOTES))

    def spent(self) -> float:
        """CPU seconds of the last call by the worker's own clock: only for programs of ours."""
        return self.spent_s

    def _ask(self, operation: bytes, data: Any, seconds: float | None) -> Any:
        encoded: bytes = plain.encode(data, MOST_NOTES)
        write(self._wire, b"A" + SECONDS.pack(seconds or 0.0) + operation + encoded)
        body = worker.receive(self._wire)
        if not body:
            os._exit(0)  # the trial was ended from outside; whoever ended it knows why
        kind = body[:1]
        (self.spent_s,) = SECONDS.unpack_from(body, 1)
        value = None
        if kind == b"v":
            try:
                value = plain.decode(body[1 + SECONDS.size :])
            except plain.Damaged:
                raise Missed("bad_exit", "forged answer") from None
        elif kind != b"o":
            raise Missed(MISSES.get(kind, "bad_exit"), body[1 + SECONDS.size :].decode("utf-8", "replace"))
        if (kind == b"o") != (operation == b"X"):
            raise Missed("bad_exit", "forged answer")
        self.answered = True
        return value


def judge(wire: int, source: str, entry: str | None, data: Any) -> tuple[bool, str, str]:
    """(passed, category, detail). A category of ``fault`` is about the trial, not the candidate: it
    raised before any answer, or asked for none."""
    trial = Trial(wire)
    names: dict[str, Any] = {
        "__name__": "trial",
        "data": data,
        **{name: getattr(trial, name) for name in OFFERED},
    }
    if entry is not None:
        names[entry] = trial.candidate
    try:
        exec(compile(source, "<trial>", "exec", dont_inherit=True), names)  # noqa: S102  trusted source
    except Missed as missed:
        return False, missed.category, missed.detail
    except AssertionError:
        if trial.answered:
            return False, "wrong_value", ""
        return False, "fault", traceback.format_exc()
    except BaseException as error:
        if trial.answered:  # the values received are of types that the tests cannot handle
            return False, "wrong_value", type(error).__name__
        return False, "fault", traceback.format_exc()
    if not trial.answered:
        return False, "fault", "the trial asked nothing of the candidate"
    return True, "passed", ""


def serve_one(wire: int) -> None:
    """Judges the one trial that comes down the wire."""
    body = worker.receive(wire)
    if not body:
        return
    source, entry, data, limits = plain.decode(body[1:])
    worker.limit(limits)
    write(wire, b"V" + plain.encode(judge(wire, source, entry, data), MOST_NOTES))


def serve_all(control: int) -> NoReturn:
    """Forks for each descriptor that comes down the control socket, until that closes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel
    for name in PRELOADED:
        __import__(name)
    channel = socket.socket(fileno=control)
    channel.sendall(b"r")
    while True:
        told, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        if not told:
            os._exit(0)
        for wire in descriptors:
            if os.fork() == 0:
                channel.close()
                serve_one(wire)
                os._exit(0)
            os.close(wire)


def write(wire: int, body: bytes) -> None:
    left = memoryview(worker.LENGTH.pack(len(body)) + body)
    while left:
        left = left[os.write(wire, left) :]


def main() -> NoReturn:
    wire = worker.wire_of_stdin()
    worker.become_nobody()
    if "all" in sys.argv:
        serve_all(wire)
    serve_one(wire)
    os._exit(0)
