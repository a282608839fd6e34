"""From what a server sends when it fails to a :class:`~pytest_benchkit.reply.Failure` (H-8, H-9, O-4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models import jsonlib
from pytest_benchkit.models.figures import positive
from pytest_benchkit.reply import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, *range(520, 525), 529})
REFUSING = frozenset({401, 402, 403, 404})
CONTEXT_WORDS = frozenset({"exceed_context_size_error", "context_length_exceeded"})
MESSAGE_LENGTH = 2000
NEED_NAMES = ("n_prompt_tokens", "prompt_tokens", "num_prompt_tokens", "requested_tokens")
WINDOW_NAMES = ("n_ctx", "max_model_len", "context_length", "max_context_length", "context_window")
# Sizes in the message of an error that is already known to be a context error, never to recognise one.
TOLD_WINDOW = re.compile(r"(?:maximum )?context (?:length|size|window)[^0-9]{0,20}(\d{1,9})", re.IGNORECASE)
TOLD_NEED = re.compile(r"(?:resulted in|requested|request has) (\d{1,9}) tokens", re.IGNORECASE)


def category_of(status: int) -> str:
    """``busy``, ``refusing`` or ``client``, by the number alone."""
    if status in BUSY:
        return "busy"
    return "refusing" if status in REFUSING else "client"


def failure_of_body(status: int, body: bytes, content_type: str) -> Failure:
    """What an answer with another status than 200 means. Any body is survivable.

    ``content_type`` is not trusted: a body that is JSON is read as JSON whatever its label says.
    """
    try:
        value = jsonlib.loads(body)
    except ValueError:
        value = None
    error = value.get("error", value) if isinstance(value, dict) else value
    message = (
        message_of(error) if value is not None else body[: 4 * MESSAGE_LENGTH].decode("utf-8", "replace")
    )
    failure = Failure(f"http_{status}", quote(message) or f"status {status}", category_of(status), status)
    if status < 500 and isinstance(error, dict):
        _recognise_context(failure, error)
    return failure


def failure_of_error(error: Any, *, after_output: bool) -> Failure:
    """What an error object inside a response of status 200 means; its class comes from its inner code."""
    fields = error if isinstance(error, dict) else {}
    code = next(
        (c for c in (positive(fields.get(name)) for name in ("code", "status", "status_code")) if c), None
    )
    message = quote(message_of(error)) or "the server reported an error without a message"
    if code is not None and 400 <= code <= 599:
        failure = Failure(f"http_{code}", message, category_of(code), code)
    else:
        failure = Failure("server_error", message, "busy")
    if code is None or code < 500:
        _recognise_context(failure, fields)
    if after_output:
        failure.category = "after_output"
    return failure


def message_of(error: Any, depth: int = 4) -> str:
    """The server's words in an error of any shape, looked for ``depth`` levels deep."""
    if isinstance(error, str):
        return error
    if not depth:
        return ""
    if isinstance(error, dict):
        for name in ("message", "detail", "error", "msg", "description"):
            if value := error.get(name):
                return message_of(value, depth - 1)
    if isinstance(error, list) and error:
        return "; ".join(message_of(item, depth - 1) for item in error[:5])
    return "" if error is None else str(error)[: 2 * MESSAGE_LENGTH]


def quote(text: str, length: int = MESSAGE_LENGTH) -> str:
    """The first characters of a foreign text, safe to print: whatever is not printable is escaped."""
    text = text.strip()[:length]
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)[
        :length
    ]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait that a ``Retry-After`` header asks for: a number, or a date read against ``now``
    (Unix seconds). ``None`` when there is none, or when it is unreadable, negative or past."""
    value = next((v.strip() for k, v in headers.items() if k.lower() == "retry-after"), "")
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value, re.ASCII):
        return float(value)
    if not value or value[0].isdigit() or value[0] == "-":
        return None
    from email.utils import parsedate_to_datetime

    try:
        wait = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return wait if wait > 0 else None


def _recognise_context(failure: Failure, error: Mapping[str, Any]) -> None:
    need = next((n for n in (positive(error.get(name)) for name in NEED_NAMES) if n), None)
    window = next((n for n in (positive(error.get(name)) for name in WINDOW_NAMES) if n), None)
    named = any(
        error.get(name) in CONTEXT_WORDS for name in ("type", "code") if isinstance(error.get(name), str)
    )
    if not named and not (need and window):
        return
    if named and (told := TOLD_WINDOW.search(failure.message)) and window is None:
        window = int(told[1])
    if named and (told := TOLD_NEED.search(failure.message)) and need is None:
        need = int(told[1])
    failure.kind = "context_too_small"
    failure.category = "client"
    failure.need_tokens, failure.window_tokens = need, window
