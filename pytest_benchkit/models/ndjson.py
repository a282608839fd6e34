"""One reply of Ollama's own ``/api/chat``: a JSON object a line, into a :class:`~pytest_benchkit.reply.Reply`
(rule S-37).

Only the framing and the names of fields are Ollama's; channels, thinking tags, tool calls, limits, damage and
times are those of every other stream (:class:`~pytest_benchkit.models.chat.ChatStream`). Fields after
ollama/ollama ``api/types.go`` (``ChatResponse``, ``Metrics``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.chat import MAX_REPLY, ChatStream, Piece
from pytest_benchkit.models.figures import measure
from pytest_benchkit.models.sse import BOM, MAX_EVENT
from pytest_benchkit.models.thinking import AUTO, Tags
from pytest_benchkit.models.usage import OLLAMA_TIMES
from pytest_benchkit.reply import Failure, Timing

if TYPE_CHECKING:
    from pytest_benchkit.reply import Reply

LOADED = "load"
"""The ``done_reason`` of an answer that only loaded the model."""


class LineReader:
    """Cuts a byte stream into lines that may hold a JSON object; stands where an event reader would.

    ``done``: set by whoever reads the lines, later bytes are ignored. ``oversize``: one line was above
    ``max_line`` bytes, reading has ended. ``odd``: lines that begin like no object, so that a page of HTML
    can be told from an empty stream.
    """

    def __init__(self, max_line: int = MAX_EVENT) -> None:
        self.done = False
        self.oversize = False
        self.odd = 0
        self._max = max_line
        self._tail: list[bytes] = []  # a line whose end has not come yet, in pieces
        self._tail_size = 0
        self._at_start = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete, in order, without blank ones. One at a time: whether there is
        a next one depends on what was found in the last."""
        if self.oversize or not data:
            return
        *whole, rest = data.split(b"\n")
        for part in whole:
            if self.done or self.oversize:
                return
            self._keep(part)
            yield from self.finish()
        if not self.done:
            self._keep(rest)

    def finish(self) -> Iterator[bytes]:
        """The line that is open, as it is: at its end, and at the end of the body."""
        if self.done or self.oversize:
            return
        line = self._tail[0] if len(self._tail) == 1 else b"".join(self._tail)
        self._tail.clear()
        self._tail_size = 0
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        line = line.strip()
        if line.startswith(b"{"):
            yield line
        elif line:
            self.odd += 1

    def _keep(self, data: bytes) -> None:
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            self.oversize = self._tail_size > self._max


class OllamaStream(ChatStream):
    """Reads one response body of ``/api/chat``, streamed or in one piece; used like its base."""

    def __init__(self, *, think_tags: Tags = AUTO, max_reply: int = MAX_REPLY) -> None:
        super().__init__(think_tags=think_tags, max_reply=max_reply)
        self._kind = "events"  # a first brace means no whole document here
        self._lines = LineReader()
        self._reader = self._lines
        self._in_one_piece = False
        self._only_loaded = False

    def _chunk(self, chunk: dict[str, Any], at: float, pieces: list[Piece]) -> None:
        if error := chunk.get("error"):
            self._error = self._error or error
        before = self.generated
        message = chunk.get("message")
        if type(message) is dict:
            text = message.get("content")
            if len(message) == 2 and type(text) is str and "role" in message:
                if text:  # nearly every line of nearly every reply goes this way
                    self._on_answer(text, at, pieces)
            else:
                self._choice({}, message, at, pieces)
        if chunk.get("done") is True:
            self._in_one_piece = self.generated and not before
            self._on_done(chunk)

    def _on_done(self, chunk: dict[str, Any]) -> None:
        reason = chunk.get("done_reason")
        if reason:
            self._on_finish(reason)
        self._only_loaded = reason == LOADED and not self.generated
        self.finished = self._lines.done = True
        counts = {
            "completion_tokens": chunk.get("eval_count"),
            "prompt_tokens": chunk.get("prompt_eval_count"),
        }
        self._seen.extras["usage"] = counts
        times = {name: chunk.get(name) for name in OLLAMA_TIMES}
        if (decode := measure(times["eval_duration"])) is not None:
            times["predicted_ms"] = decode / 1e6  # under the name by which servers' speeds are compared
        self._seen.extras["stats"] = times

    def close(self, at: float, *, content_type: str, t0: float) -> tuple[Reply, Failure | None]:
        reply, failure = super().close(at, content_type=content_type, t0=t0)
        if self._in_one_piece:  # there was no first token to see (S-12)
            end = reply.timing.end_ms
            reply.timing = Timing(end_ms=end, e2e_ms=end, server=reply.timing.server)
            reply.flags = [flag for flag in reply.flags if flag != "single_chunk"]
            reply.flag("not_streamed")
        return reply, failure

    def _verdict(self, reply: Reply, content_type: str) -> Failure | None:
        if self._events:  # among objects, a line that is none is damage
            self._events += self._lines.odd
            self._damaged += self._lines.odd
        failure = super()._verdict(reply, content_type)
        if failure is not None and failure.kind == "stream_dropped":
            failure.message = f"the stream ended without done: true after {self._events} lines"
        if failure is None and self._only_loaded:
            return Failure("empty_body", "the server only loaded the model (done_reason load)", "busy")
        if failure is None and self._seen.finish is None and not self.oversize:
            reply.flag("finish_missing")
        return failure
