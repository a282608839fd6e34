"""The watch over one request: feeds the detectors while text arrives and says when to end it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_benchkit.engine.loops.detector import Detector
from pytest_benchkit.engine.loops.symbols import count
from pytest_benchkit.engine.loops.verdict import CHANNELS, examine, verdict
from pytest_benchkit.reply import Failure, Loop, Reply

LARGEST = 64 * 1024
"""Characters in one piece beyond which a server does not stream: they are examined later, off the loop."""


class Board:
    """The confirmed loops of a process, oldest first. Written on the event loop, read from anywhere."""

    def __init__(self) -> None:
        self._looping: dict[Watch, None] = {}

    def put(self, watch: Watch) -> None:
        self._looping.setdefault(watch)

    def remove(self, watch: Watch) -> None:
        self._looping.pop(watch, None)

    @property
    def countdown(self) -> int | None:
        """Symbols until the oldest confirmed loop is ended; ``None`` when there is none."""
        return next((left for watch in list(self._looping) if (left := watch.left) is not None), None)


class Watch:
    """Implements :class:`~pytest_benchkit.models.base.Watch`. ``limit``: symbols that a confirmed loop may go
    on, 0 to end none."""

    def __init__(self, limit: int, board: Board | None = None) -> None:
        self._limit = limit
        self._board = board or Board()
        self._detectors: dict[str, Detector] = {}
        self._given_up = False
        self.failure: Failure | None = None

    def begin(self) -> None:
        self._detectors = {}
        self._given_up = False
        self.failure = None

    def end(self) -> None:
        self._board.remove(self)

    def see(self, pieces: Sequence[tuple[str, str]]) -> Failure | None:
        for channel, text in pieces:
            if channel not in CHANNELS or self._given_up:
                continue
            if len(text) > LARGEST:
                self._given_up = True
                continue
            detector = self._detectors.get(channel)
            if detector is None:
                detector = self._detectors[channel] = Detector(self._limit)
            detector.feed(text)
            if detector.killed:
                self.failure = _failure(verdict(self._detectors))
                break
        if self.left is None:
            self._board.remove(self)
        else:
            self._board.put(self)
        return self.failure

    @property
    def left(self) -> int | None:
        """Symbols until the kill; ``None`` while no loop is confirmed."""
        found = [left for d in list(self._detectors.values()) if (left := d.left) is not None]
        return min(found, default=None)

    def report(self, reply: Reply) -> Loop:
        """The verdict on the reply as it was read in the end.

        Which channel a text belongs to may show only later, and not all replies are streamed: what was not
        seen as it stands in the reply is examined again.
        """
        if self.failure is None:
            for detector in self._detectors.values():
                detector.finish()
            seen = {channel: d.symbols for channel, d in self._detectors.items()}
            if any(seen.get(channel, 0) != count(getattr(reply, channel)) for channel in CHANNELS):
                return examine(reply)
        return verdict(self._detectors)


def _failure(loop: Loop) -> Failure:
    what = "one word or mark" if loop.period == 1 else f"{loop.period} words and marks"
    words = f"{what} came {loop.repetitions} times on end in the {loop.channel}"
    return Failure(loop.kind or "exact_cycle", words, "loop")
