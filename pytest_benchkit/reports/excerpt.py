"""One finished row as text for people: what was asked, thought and answered, and how it was judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_benchkit.reports.format import safe

LIMIT = 4000
"""Most characters of each of prompt, thinking and reply."""
VALUE_LIMIT = 400
GUTTER = "| "
"""Before each line of foreign text: it tells whose words these are, and a line that begins with ``::``
would be a command to a CI runner."""


def excerpt(record: Mapping[str, Any], limit: int = LIMIT) -> str:
    """Id, outcome, reason, rule and span; then prompt, thinking, reply and error under their headings.

    Each text has at most ``limit`` characters, head and tail, with the number left out between them.
    Control characters are escaped, LF and TAB kept; no line can start a CI workflow command.
    """
    lines = [
        f"row: {_one(record['key'])}",
        f"outcome: {_one(record['outcome'])}"
        + (f" ({_one(record['detail'])})" if record.get("detail") else ""),
        f"reason: {_one(record.get('reason', ''))}",
    ]
    if record.get("rule"):
        lines.append(f"rule: {_one(record['rule'])}" + _span(record))
    for name in ("extracted", "expected"):
        if record.get(name) is not None:
            value = str(record[name])
            more = "..." if len(value) > VALUE_LIMIT else ""
            lines.append(f"{name}: {_one(value[:VALUE_LIMIT])}{more}")
    if retries := (record.get("ask") or {}).get("retries"):
        lines.append(
            f"attempts: {1 + len(retries)}, after " + ", ".join(_one(r.get("cause", "")) for r in retries)
        )
    for heading, text in _texts(record):
        lines += [f"{heading}:", *_quoted(shorten(text, limit))]
    return "\n".join(lines)


def _one(value: object) -> str:
    return safe(str(value))


def _span(record: Mapping[str, Any]) -> str:
    span = record.get("span")
    return f", characters {span[0]} to {span[1]} of the reply" if span else ""


def _texts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in (record.get("prompt") or {}).get("messages", ()):
        role = "prompt" if message.get("role") == "user" else f"prompt ({_one(message.get('role'))})"
        yield role, _content(message.get("content"))
    reply = record.get("reply") or {}
    if reply.get("thinking"):
        yield "thinking", reply["thinking"]
    if "answer" in reply:
        yield "reply", reply["answer"] or "(empty)"
    if reply.get("refusal"):
        yield "refusal", reply["refusal"]
    for call in reply.get("tool_calls") or ():
        yield (
            f"tool call {_one(call.get('name', ''))}",
            str(call.get("raw") or json.dumps(call.get("arguments"))),
        )
    if error := record.get("error"):
        status = f" {error['status']}" if error.get("status") else ""
        yield f"error {_one(error.get('kind', ''))}{status}", str(error.get("message", ""))


def _content(content: object) -> str:
    """A message's text; parts that are no text are named."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text", f"({part.get('type', 'part')})") for part in parts if isinstance(part, Mapping)]
    return "\n".join(map(str, texts))


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text that is longer than ``limit``, and how much was left out between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def _quoted(text: str) -> list[str]:
    return [GUTTER + line for line in safe(text, lines=True).split("\n")]
