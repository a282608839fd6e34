"""One reply of an OpenAI-compatible chat server: bytes in, a :class:`~pytest_benchkit.reply.Reply` out.

:class:`ChatStream` is a pure machine over streamed answers and whole JSON bodies (rules S-1 to S-39 of the
engine's specification; Ollama's format: :mod:`~pytest_benchkit.models.ndjson`). It has no clock and no I/O;
whoever reads the socket says when the bytes came. Pieces of text are appended and joined once, so the work
per chunk does not depend on how long the reply already is.
"""

from __future__ import annotations

from typing import Any

from pytest_benchkit.models import jsonlib, stopwatch
from pytest_benchkit.models.channels import Channels
from pytest_benchkit.models.faults import failure_of_body, failure_of_error, retry_after
from pytest_benchkit.models.shapes import error_of, is_reply, not_a_reply, texts
from pytest_benchkit.models.sse import BOM, ErrorData, EventReader, Reader
from pytest_benchkit.models.thinking import AUTO, Tags
from pytest_benchkit.models.transcript import Transcript
from pytest_benchkit.reply import Failure, Reply

__all__ = ["ChatStream", "failure_of_body", "retry_after"]

MAX_REPLY = 64 * 1024 * 1024
HEAD = 1024
"""Bytes kept of a body that may turn out to be no stream at all, for the message."""
EXTRAS = ("usage", "timings", "metrics", "stats", "cost", "cost_usd", "system_fingerprint")

Piece = tuple[str, str]
"""Generated text of one read: the channel (``thinking``, ``answer``, ``tool``) and the text."""


class ChatStream:
    """Reads one response body.

    ``done``: ``[DONE]`` was seen (or the reply grew too large), the rest of the body is of no interest.
    ``finished``: a finish word was seen. ``generated``: text of the model was seen, so that the request
    must not be sent again. ``oversize``: the client's size limit ended the reply; close the connection.
    """

    def __init__(self, *, think_tags: Tags = AUTO, max_reply: int = MAX_REPLY) -> None:
        self.done = False
        self.finished = False
        self.generated = False
        self.oversize = False
        self._max = max_reply
        self._reader: Reader = EventReader()
        self._channels = Channels(think_tags)
        self._kind = ""  # "events" or "json", as the first visible byte tells
        self._head = b""  # the body's first bytes
        self._body: list[bytes] = []  # pieces of a whole JSON body
        self._size = 0
        self._seen = Transcript(think_tags)
        self._error: Any = None
        self._events = 0
        self._damaged = 0
        self._last_at = 0.0

    @property
    def failed(self) -> bool:
        """Whether the server reported an error inside the response."""
        return self._error is not None

    def feed(self, data: bytes, at: float) -> list[Piece]:
        """Takes the bytes of one read, made at ``at`` seconds; gives the generated text in them."""
        if self.oversize or not data:
            return []
        self._last_at = at
        if self._kind == "events":
            return self._feed_events(data, at)
        if self._kind == "json":
            self._keep(data)
            return []
        start = self._head + data
        if BOM.startswith(start):
            self._head = start
            return []
        self._head = b""
        if visible := start.removeprefix(BOM).lstrip():
            self._kind = "json" if visible[0] in b"{[" else "events"
            return self.feed(start, at)
        return []

    def _keep(self, data: bytes) -> None:
        self._body.append(data)
        self._size += len(data)
        self.oversize = self.done = self._size > self._max

    def _feed_events(self, data: bytes, at: float) -> list[Piece]:
        pieces: list[Piece] = []
        reader = self._reader
        for event in reader.feed(data):
            if self.oversize:
                break
            self._event(event, at, pieces)
        if reader.oversize:
            self.oversize = True
        self.done = reader.done or self.oversize
        if self.done:
            pieces += self._channels.flush()
        if not self._events and len(self._head) < HEAD:
            self._head += data[: HEAD - len(self._head)]
        return pieces

    def _event(self, data: bytes, at: float, pieces: list[Piece], *, last: bool = False) -> None:
        self._events += 1
        try:
            chunk = jsonlib.loads(data)
        except ValueError:
            chunk = self._repair(data)
        if type(data) is ErrorData:
            self._error = self._error or error_of(chunk, data)
        elif type(chunk) is dict:
            self._chunk(chunk, at, pieces)
        elif not last:
            self._damaged += 1

    def _repair(self, data: bytes) -> Any:
        """Bytes that are not UTF-8 become U+FFFD; anything else that is wrong stays damage."""
        try:
            data.decode()
        except UnicodeDecodeError:
            try:
                chunk = jsonlib.loads(data.decode("utf-8", "replace").encode())
            except ValueError:
                return None
            self._seen.bad_utf8 = True
            return chunk
        return None

    def _chunk(self, chunk: dict[str, Any], at: float, pieces: list[Piece]) -> None:
        for name in EXTRAS:
            if (value := chunk.get(name)) is not None and value != {}:
                self._seen.extras[name] = value  # the last one that says anything wins
        if error := chunk.get("error"):
            self._error = self._error or error
        choices = chunk.get("choices")
        if not choices or type(choices) is not list or type(choice := choices[0]) is not dict:
            return
        delta = choice.get("delta")
        if type(delta) is dict and len(delta) == 1 and type(text := delta.get("content")) is str:
            if text:  # nearly every chunk of nearly every stream goes this way
                self._on_answer(text, at, pieces)
        else:
            self._choice(choice, delta, at, pieces)
        if word := choice.get("finish_reason"):
            self._on_finish(word)

    def _on_answer(self, text: str, at: float, pieces: list[Piece]) -> None:
        self._mark(len(text), at)
        self._seen.answer.append(text)
        self._seen.answer_at.append(at)
        pieces += self._channels.feed(text)

    def _mark(self, size: int, at: float) -> None:
        self.generated = True
        self._seen.generated_at.append(at)
        self._size += size
        if self._size > self._max:
            self.oversize = True

    def _on_finish(self, word: Any) -> None:
        if word == "error":
            self._error = self._error or "the server ended the reply with finish_reason error"
        elif not self.finished and isinstance(word, str):
            self._seen.finish = word
            self.finished = True

    def _choice(self, choice: dict[str, Any], delta: Any, at: float, pieces: list[Piece]) -> None:
        """A choice of any shape: ``delta``, ``message``, or the completions route's ``text``."""
        seen = self._seen
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if not isinstance(delta, dict):
            delta = {"content": choice.get("text")}
        text, thought = texts(delta.get("content"))
        thought = seen.reasoning(delta) or thought
        call = seen.calls.feed(delta["tool_calls"]) if delta.get("tool_calls") else ""
        if isinstance(legacy := delta.get("function_call"), dict):
            call += seen.calls.take(legacy, 0)
        refusal = delta.get("refusal")
        refusal = refusal if isinstance(refusal, str) else ""
        if not (text or thought or call or refusal):
            return
        self._mark(len(text) + len(thought) + len(call) + len(refusal), at)
        if thought:
            seen.thinking.append(thought)
            pieces.append(("thinking", thought))
        if text:
            seen.answer.append(text)
            seen.answer_at.append(at)
            pieces += self._channels.feed(text)
        if refusal:
            seen.refusal.append(refusal)
            seen.refusal_at = at if seen.refusal_at is None else seen.refusal_at
            pieces.append(("answer", refusal))
        if call:
            pieces.append(("tool", call))

    def close(self, at: float, *, content_type: str, t0: float) -> tuple[Reply, Failure | None]:
        """The end of the body, at ``at`` seconds; ``t0`` is when the request had been sent.

        The reply holds what was read, also beside a failure; a failure says that it must not be scored.
        """
        if self._kind == "json":
            return self._close_whole(at, content_type, t0)
        if not self.oversize:
            for event in self._reader.finish():
                self._event(event, self._last_at, [], last=True)
        reply, answer_at = self._seen.reply()
        stopwatch.fill(reply.timing, t0=t0, generated_at=self._seen.generated_at, answer_at=answer_at, end=at)
        stopwatch.with_tokens(reply)
        return reply, self._verdict(reply, content_type)

    def _close_whole(self, at: float, content_type: str, t0: float) -> tuple[Reply, Failure | None]:
        """A body that is one JSON document: a finished completion, or an error."""
        body = b"".join(self._body).removeprefix(BOM)
        try:
            value = None if self.oversize else jsonlib.loads(body)
        except ValueError:
            value = self._repair(body)
        if isinstance(value, dict):
            self._events = 1
            self._chunk(value, at, [])
            if value.get("object") == "error":
                self._error = self._error or value
        reply, _ = self._seen.reply()
        reply.flag("not_streamed")
        reply.timing.end_ms = max(0.0, (at - t0) * 1000.0)
        if self.generated:
            reply.timing.e2e_ms = reply.timing.end_ms
        if not self.failed and not self.oversize and not is_reply(value):
            return reply, not_a_reply(body, content_type)
        return reply, self._verdict(reply, content_type)

    def _verdict(self, reply: Reply, content_type: str) -> Failure | None:
        if self._error is not None:
            return failure_of_error(self._error, after_output=self.generated)
        if self.oversize:
            reply.flag("client_size")
            reply.finish_reason = "length"
            return None
        if not self._events and self._reader.odd:
            return not_a_reply(self._head, content_type)
        if not self._events:
            return Failure("empty_body", "the server answered with status 200 and sent no event", "busy")
        if self._damaged:
            words = f"{self._damaged} of {self._events} events of the stream are not valid JSON objects"
            return Failure("stream_damaged", words, "after_output" if self.generated else "busy")
        if not self.finished and not self._reader.done and self._kind == "events":
            words = f"the stream ended without a finish word and without [DONE] after {self._events} events"
            return Failure("stream_dropped", words, "after_output" if self.generated else "connection")
        if not self.finished:
            reply.flag("finish_missing")
        return None
