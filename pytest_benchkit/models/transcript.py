"""What was read of a reply so far, and the :class:`~pytest_benchkit.reply.Reply` that it makes at the end."""

from __future__ import annotations

from typing import Any

from pytest_benchkit.models import jsonlib
from pytest_benchkit.models.faults import quote
from pytest_benchkit.models.shapes import finish_of, texts
from pytest_benchkit.models.thinking import Split, Tags, split
from pytest_benchkit.models.toolcalls import ToolCalls
from pytest_benchkit.models.usage import read_usage, server_times
from pytest_benchkit.reply import Reply

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


class Transcript:
    """Pieces of text by channel and when they came; joined once, in :meth:`reply`.

    ``generated_at`` has one entry per chunk with text of any channel, ``answer_at`` one per piece of
    ``answer``. ``extras``: the last of each object that servers put beside the choices.
    """

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.answer: list[str] = []
        self.answer_at: list[float] = []
        self.thinking: list[str] = []
        self.refusal: list[str] = []
        self.refusal_at: float | None = None
        self.generated_at: list[float] = []
        self.calls = ToolCalls()
        self.reasoning_field: str | None = None
        self.reasoning_channel = False
        self.finish: str | None = None
        self.extras: dict[str, Any] = {}
        self.bad_utf8 = False

    def reasoning(self, delta: dict[str, Any]) -> str:
        """Text of the reasoning field; the first name that carries text is the name for the whole stream."""
        names = REASONING_FIELDS if self.reasoning_field is None else (self.reasoning_field,)
        for name in names:
            value = delta.get(name)
            if value is None:
                continue
            self.reasoning_channel = True
            text, thought = texts(value)
            if text or thought:
                self.reasoning_field = name
                return thought + text
        return ""

    def reply(self) -> tuple[Reply, float | None]:
        """The reply without its times, and when its first answer text came."""
        text = self._mend(self.answer)
        thinking = self._mend(self.thinking)
        parts = split(text, self.tags, reasoning_field_seen=bool(thinking))
        reply = Reply(text=text, answer=parts.answer)
        reply.thinking = "\n".join(t for t in (thinking, parts.thinking) if t)
        reply.refusal = self._mend(self.refusal) or None
        if reply.refusal and not reply.answer:
            reply.answer = reply.refusal
            reply.text = text or reply.refusal
        reply.tool_calls = self.calls.result()
        reply.finish_raw = quote(self.finish, 200) if self.finish else None
        reply.finish_reason = finish_of(self.finish)
        reply.reasoning_field = self.reasoning_field
        if reply.thinking.strip():
            reply.trace_status = "observed"
        elif self.reasoning_channel or parts.tagged:
            reply.trace_status = "available_empty"
        fingerprint = self.extras.get("system_fingerprint")
        reply.system_fingerprint = quote(fingerprint, 200) if isinstance(fingerprint, str) else None
        self._count(reply)
        for flag in (*parts.flags, *(["bad_utf8"] if self.bad_utf8 else [])):
            reply.flag(flag)
        return reply, self._first_answer(parts, reply)

    def _first_answer(self, parts: Split, reply: Reply) -> float | None:
        if parts.answer_at is None:
            return self.refusal_at if reply.answer else None
        end = 0
        for text, at in zip(self.answer, self.answer_at, strict=True):
            end += len(text)
            if end > parts.answer_at:
                return at
        return None

    def _count(self, reply: Reply) -> None:
        def extra(name: str) -> dict[str, Any]:
            value = self.extras.get(name)
            return value if isinstance(value, dict) else {}

        cost = self.extras.get("cost", self.extras.get("cost_usd"))
        reply.usage, flags = read_usage(
            extra("usage"), extra("timings"), cost, generated=bool(self.generated_at)
        )
        reply.timing.server = server_times(extra("stats"), extra("metrics"), extra("timings"))
        for flag in flags:
            reply.flag(flag)

    def _mend(self, parts: list[str]) -> str:
        text = "".join(parts)
        mended = jsonlib.mend(text)
        self.bad_utf8 = self.bad_utf8 or mended.count("\ufffd") > text.count("\ufffd")
        return mended
