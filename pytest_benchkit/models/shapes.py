"""The many shapes in which servers put texts, finish words and errors, read into one."""

from __future__ import annotations

from typing import Any

from pytest_benchkit.models.faults import quote
from pytest_benchkit.reply import Failure

LENGTH_WORDS = frozenset({"length", "max_tokens", "MAX_TOKENS"})
CALL_WORDS = frozenset({"tool_calls", "function_call"})


def finish_of(word: str | None) -> str | None:
    """The finish reason that a server's word stands for (S-22)."""
    if word is None:
        return None
    if word in LENGTH_WORDS:
        return "length"
    if word in CALL_WORDS:
        return "tool_calls"
    return "content_filter" if word == "content_filter" else "stop"


def texts(value: Any, depth: int = 4) -> tuple[str, str]:
    """Text and thinking in a content of any shape: a string, an object, a list of parts (S-25)."""
    if isinstance(value, str):
        return value, ""
    if not depth:
        return "", ""
    if isinstance(value, list):
        found = [texts(part, depth - 1) for part in value]
        return "".join(text for text, _ in found), "".join(thought for _, thought in found)
    if not isinstance(value, dict):
        return "", ""
    if value.get("type") in ("thinking", "reasoning"):
        text, thought = texts(value.get("thinking") or value.get("text") or value.get("content"), depth - 1)
        return "", text + thought
    names = ("text", "content", "summary")
    return texts(next((value[name] for name in names if value.get(name)), None), depth - 1)


def is_reply(value: Any) -> bool:
    """Whether a whole body has a first choice that says anything, if only nothing (O-5)."""
    choices = value.get("choices") if isinstance(value, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        return False
    return isinstance(first.get("message") or first.get("delta"), dict) or isinstance(first.get("text"), str)


def error_of(value: Any, data: bytes) -> Any:
    """The error in the data of an error event; its bare text when it is not JSON."""
    if isinstance(value, dict) and value.get("error"):
        return value["error"]
    return value or data.decode("utf-8", "replace") or "error"


def not_a_reply(body: bytes, content_type: str) -> Failure:
    """A body of status 200 that is no chat reply, with its first 200 characters (S-14)."""
    text = quote(body.decode("utf-8-sig", "replace"), 200)
    kind = quote(content_type, 80) or "unknown type"
    return Failure(
        "bad_response",
        f"the server answered with something else than a chat reply ({kind}): {text}",
        "client",
    )
