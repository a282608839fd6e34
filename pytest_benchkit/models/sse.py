"""Server-sent events: bytes in, the data of whole events out.

Framing after the WHATWG HTML standard, section 9.2, with what servers of language models add to it: an
``error`` field of its own and the closing word ``[DONE]``. Works on bytes, because line ends and field names
are ASCII: characters cut between two reads come together again by themselves, and only CR, LF and
CRLF end a line. Pure and incremental; no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

MAX_EVENT = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


class Reader(Protocol):
    """Cuts a body into the pieces that hold one JSON value each: events, or lines. Names as in
    :class:`EventReader`."""

    done: bool
    oversize: bool
    odd: int

    def feed(self, data: bytes) -> Iterable[bytes]: ...

    def finish(self) -> Iterable[bytes]: ...


class ErrorData(bytes):
    """The data of an event that the server marked as an error."""


class EventReader:
    """Cuts a byte stream into events.

    ``done``: ``[DONE]`` was read, later bytes are ignored. ``oversize``: one event was above ``max_event``
    bytes, reading has ended. ``fields``: lines with a known field name, ``comments``: comment lines,
    ``odd``: lines that are neither, so that a page of HTML can be told from an empty stream.
    """

    def __init__(self, max_event: int = MAX_EVENT) -> None:
        self.done = False
        self.oversize = False
        self.fields = 0
        self.comments = 0
        self.odd = 0
        self._max = max_event
        self._tail: list[bytes] = []  # a line whose end has not come yet, in pieces
        self._tail_size = 0
        self._data: list[bytes] = []  # data lines of the event that is open
        self._data_size = 0
        self._is_error = False
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[bytes]:
        """Data of the events that these bytes complete, in order; errors as :class:`ErrorData`."""
        if self.done or self.oversize or not data:
            return []
        if self._after_cr:
            self._after_cr = False
            if data[0] == 10:  # the LF of a CRLF that two reads cut apart
                data = data[1:]
        if b"\n" not in data and b"\r" not in data:
            self._keep(data)
            return []
        if self._tail:
            self._tail.append(data)
            data = b"".join(self._tail)
            self._tail.clear()
            self._tail_size = 0
        lines = data.splitlines()  # of bytes: at CR, LF and CRLF only
        last = data[-1]
        if last == 13:
            self._after_cr = True
        elif last != 10:
            self._keep(lines.pop())
        events: list[bytes] = []
        for line in lines:
            self._line(line, events)
            if self.done or self.oversize:
                break
        return events

    def finish(self) -> list[bytes]:
        """End of the body: an event without its closing blank line is given out as it is."""
        events: list[bytes] = []
        if self.done or self.oversize:
            return events
        if self._tail:
            line = b"".join(self._tail)
            self._tail.clear()
            self._line(line, events)
        self._dispatch(events)
        return events

    def _keep(self, data: bytes) -> None:
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            self.oversize = self._tail_size > self._max + 16  # 16: the field name is not the event

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        if len(line) > self._max + 16:
            self.oversize = True
        elif not line:
            self._dispatch(events)
        elif line.startswith(b"data:"):
            self._data_line(line[6:] if line[5:6] == b" " else line[5:], events)
        elif line[0] == 58:
            self.comments += 1
        else:
            self._other(line, events)

    def _data_line(self, value: bytes, events: list[bytes]) -> None:
        self.fields += 1
        if len(value) < 32 and value.strip() == b"[DONE]":
            self._dispatch(events)
            self.done = True
            return
        self._data.append(value)
        self._data_size += len(value)
        if self._data_size > self._max:
            self.oversize = True
            self._data.clear()

    def _other(self, line: bytes, events: list[bytes]) -> None:
        name, _, value = line.partition(b":")
        if name == b"error":
            self.fields += 1
            events.append(ErrorData(value.removeprefix(b" ")))
        elif name == b"event":
            self.fields += 1
            self._is_error = value.strip() == b"error"
        elif name in (b"data", b"id", b"retry"):
            self.fields += 1
            if name == b"data":  # the bare word: an empty data line
                self._data.append(b"")
        else:
            self.odd += 1

    def _dispatch(self, events: list[bytes]) -> None:
        if self._data:
            value = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            if self._is_error:
                events.append(ErrorData(value))
            elif value:
                events.append(value)
            self._data.clear()
            self._data_size = 0
        self._is_error = False
