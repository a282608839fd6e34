"""One reply of an OpenAI-compatible chat server: bytes in, a :class:`~pytest_benchkit.reply.Reply` out.

:class:`ChatStream` is a pure machine over streamed answers and whole JSON bodies (rules S-1 to S-39 of the
engine's specification, without Ollama's own format). It has no clock and no I/O; whoever reads the socket
says when the bytes came. Pieces of text are appended and joined once, so the work per chunk does not depend
on how long the reply already is.
"""

from __future__ import annotations

from typing import Any

from pytest_benchkit.models import jsonlib, stopwatch
from pytest_benchkit.models.channels import Channels
from pytest_benchkit.models.faults import failure_of_body, failure_of_error, quote, retry_after
from pytest_benchkit.models.sse import BOM, ErrorData, EventReader
from pytest_benchkit.models.thinking import AUTO, Split, Tags, split
from pytest_benchkit.models.toolcalls import ToolCalls
from pytest_benchkit.models.usage import read_usage, server_times
from pytest_benchkit.reply import Failure, Reply

__all__ = ["ChatStream", "failure_of_body", "retry_after"]

MAX_REPLY = 64 * 1024 * 1024
HEAD = 1024
"""Bytes kept of a body that may turn out to be no stream at all, for the message."""
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
LENGTH_WORDS = frozenset({"length", "max_tokens", "MAX_TOKENS"})
CALL_WORDS = frozenset({"tool_calls", "function_call"})
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
        self._tags = think_tags
        self._max = max_reply
        self._reader = EventReader()
        self._channels = Channels(think_tags)
        self._kind = ""  # "events" or "json", as the first visible byte tells
        self._head = b""  # the body's first bytes
        self._body: list[bytes] = []  # pieces of a whole JSON body
        self._size = 0
        self._answer: list[str] = []
        self._answer_at: list[float] = []
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._generated_at: list[float] = []
        self._calls = ToolCalls()
        self._reasoning_field: str | None = None
        self._reasoning_channel = False
        self._finish: str | None = None
        self._extras: dict[str, Any] = {}
        self._error: Any = None
        self._events = 0
        self._damaged = 0
        self._bad_utf8 = False
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
            self._error = self._error or _error_of(chunk, data)
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
            self._bad_utf8 = True
            return chunk
        return None

    def _chunk(self, chunk: dict[str, Any], at: float, pieces: list[Piece]) -> None:
        for name in EXTRAS:
            if (value := chunk.get(name)) is not None and value != {}:
                self._extras[name] = value  # the last one that says anything wins
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
        self._answer.append(text)
        self._answer_at.append(at)
        pieces += self._channels.feed(text)

    def _mark(self, size: int, at: float) -> None:
        self.generated = True
        self._generated_at.append(at)
        self._size += size
        if self._size > self._max:
            self.oversize = True

    def _on_finish(self, word: Any) -> None:
        if word == "error":
            self._error = self._error or "the server ended the reply with finish_reason error"
        elif self._finish is None and isinstance(word, str):
            self._finish = word
            self.finished = True

    def _choice(self, choice: dict[str, Any], delta: Any, at: float, pieces: list[Piece]) -> None:
        """A choice of any shape: ``delta``, ``message``, or the completions route's ``text``."""
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if not isinstance(delta, dict):
            delta = {"content": choice.get("text")}
        text, thought = _texts(delta.get("content"))
        thought = self._reasoning(delta) or thought
        call = self._calls.feed(delta["tool_calls"]) if delta.get("tool_calls") else ""
        if isinstance(legacy := delta.get("function_call"), dict):
            call += self._calls.take(legacy, 0)
        refusal = delta.get("refusal")
        refusal = refusal if isinstance(refusal, str) else ""
        if not (text or thought or call or refusal):
            return
        self._mark(len(text) + len(thought) + len(call) + len(refusal), at)
        if thought:
            self._thinking.append(thought)
            pieces.append(("thinking", thought))
        if text:
            self._answer.append(text)
            self._answer_at.append(at)
            pieces += self._channels.feed(text)
        if refusal:
            self._refusal.append(refusal)
            pieces.append(("answer", refusal))
        if call:
            pieces.append(("tool", call))

    def _reasoning(self, delta: dict[str, Any]) -> str:
        """Text of the reasoning field; the first name that carries text is the name for the whole stream."""
        names = REASONING_FIELDS if self._reasoning_field is None else (self._reasoning_field,)
        for name in names:
            value = delta.get(name)
            if value is None:
                continue
            self._reasoning_channel = True
            text, thought = _texts(value)
            if text or thought:
                self._reasoning_field = name
                return thought + text
        return ""

    def close(self, at: float, *, content_type: str, t0: float) -> tuple[Reply, Failure | None]:
        """The end of the body, at ``at`` seconds; ``t0`` is when the request had been sent.

        The reply holds what was read, also beside a failure; a failure says that it must not be scored.
        """
        if self._kind == "json":
            return self._close_whole(at, content_type, t0)
        if not self.oversize:
            for event in self._reader.finish():
                self._event(event, self._last_at, [], last=True)
        reply, answer_at = self._reply()
        stopwatch.fill(reply.timing, t0=t0, generated_at=self._generated_at, answer_at=answer_at, end=at)
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
        reply, _ = self._reply()
        reply.flag("not_streamed")
        reply.timing.end_ms = max(0.0, (at - t0) * 1000.0)
        if self.generated:
            reply.timing.e2e_ms = reply.timing.end_ms
        if not self.failed and not self.oversize and not (isinstance(value, dict) and value.get("choices")):
            return reply, _not_a_reply(body, content_type)
        return reply, self._verdict(reply, content_type)

    def _verdict(self, reply: Reply, content_type: str) -> Failure | None:
        if self._error is not None:
            return failure_of_error(self._error, after_output=self.generated)
        if self.oversize:
            reply.flag("client_size")
            reply.finish_reason = "length"
            return None
        if not self._events and self._reader.odd:
            return _not_a_reply(self._head, content_type)
        if not self._events:
            return Failure("empty_body", "the server answered with status 200 and sent no event", "busy")
        if self._damaged:
            words = f"{self._damaged} of {self._events} events of the stream are not valid JSON objects"
            return Failure("stream_damaged", words, "after_output" if self.generated else "busy")
        if self._finish is None and not self._reader.done and self._kind == "events":
            words = f"the stream ended without a finish word and without [DONE] after {self._events} events"
            return Failure("stream_dropped", words, "after_output" if self.generated else "connection")
        if self._finish is None:
            reply.flag("finish_missing")
        return None

    def _reply(self) -> tuple[Reply, float | None]:
        """The reply without its times, and when its first answer text came."""
        text = self._mend(self._answer)
        thinking = self._mend(self._thinking)
        parts = split(text, self._tags, reasoning_field_seen=bool(thinking))
        reply = Reply(text=text, answer=parts.answer)
        reply.thinking = "\n".join(t for t in (thinking, parts.thinking) if t)
        reply.refusal = self._mend(self._refusal) or None
        if reply.refusal and not reply.answer:
            reply.answer = reply.refusal
            reply.text = text or reply.refusal
        reply.tool_calls = self._calls.result()
        reply.finish_raw = quote(self._finish, 200) if self._finish else None
        reply.finish_reason = _finish_of(self._finish)
        reply.reasoning_field = self._reasoning_field
        if reply.thinking.strip():
            reply.trace_status = "observed"
        elif self._reasoning_channel or parts.tagged:
            reply.trace_status = "available_empty"
        fingerprint = self._extras.get("system_fingerprint")
        reply.system_fingerprint = quote(fingerprint, 200) if isinstance(fingerprint, str) else None
        self._count(reply)
        for flag in (*parts.flags, *(["bad_utf8"] if self._bad_utf8 else [])):
            reply.flag(flag)
        return reply, self._first_answer(parts, reply)

    def _first_answer(self, parts: Split, reply: Reply) -> float | None:
        if parts.answer_at is None:
            return self._generated_at[0] if reply.answer else None  # a refusal, which comes alone
        end = 0
        for text, at in zip(self._answer, self._answer_at, strict=True):
            end += len(text)
            if end > parts.answer_at:
                return at
        return None

    def _count(self, reply: Reply) -> None:
        def extra(name: str) -> dict[str, Any]:
            value = self._extras.get(name)
            return value if isinstance(value, dict) else {}

        cost = self._extras.get("cost", self._extras.get("cost_usd"))
        reply.usage, flags = read_usage(extra("usage"), extra("timings"), cost, generated=self.generated)
        reply.timing.server = server_times(extra("stats"), extra("metrics"), extra("timings"))
        for flag in flags:
            reply.flag(flag)

    def _mend(self, parts: list[str]) -> str:
        text = "".join(parts)
        mended = jsonlib.mend(text)
        self._bad_utf8 = self._bad_utf8 or mended.count("\ufffd") > text.count("\ufffd")
        return mended


def _finish_of(word: str | None) -> str | None:
    if word is None:
        return None
    if word in LENGTH_WORDS:
        return "length"
    if word in CALL_WORDS:
        return "tool_calls"
    return "content_filter" if word == "content_filter" else "stop"


def _texts(value: Any, depth: int = 4) -> tuple[str, str]:
    """Text and thinking in a content of any shape: a string, an object, a list of parts."""
    if isinstance(value, str):
        return value, ""
    if not depth:
        return "", ""
    if isinstance(value, list):
        found = [_texts(part, depth - 1) for part in value]
        return "".join(text for text, _ in found), "".join(thought for _, thought in found)
    if not isinstance(value, dict):
        return "", ""
    if value.get("type") in ("thinking", "reasoning"):
        text, thought = _texts(value.get("thinking") or value.get("text") or value.get("content"), depth - 1)
        return "", text + thought
    names = ("text", "content", "summary")
    return _texts(next((value[name] for name in names if value.get(name)), None), depth - 1)


def _error_of(value: Any, data: bytes) -> Any:
    """The error in the data of an error event; its bare text when it is not JSON."""
    if isinstance(value, dict) and value.get("error"):
        return value["error"]
    return value or data.decode("utf-8", "replace") or "error"


def _not_a_reply(body: bytes, content_type: str) -> Failure:
    text = quote(body.decode("utf-8-sig", "replace"), 200)
    kind = quote(content_type, 80) or "unknown type"
    return Failure(
        "bad_response",
        f"the server answered with something else than a chat reply ({kind}): {text}",
        "client",
    )
