"""What one finished task leaves behind: :class:`TaskRecord`, one JSON line (record version 1).

A suffix fixes the unit: ``_s`` seconds, ``_ms`` milliseconds, ``_usd``, ``_pp`` percentage points,
``_tokens``; ``score`` is a fraction 0…1. A key that is absent is not known; it is never 0 or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired

from typing_extensions import TypedDict

RECORD_VERSION = 1


class ReadingFields(TypedDict):
    rule: str
    extracted: Any
    score: float


class PromptFields(TypedDict):
    messages: NotRequired[list[dict[str, Any]]]
    sha256: str
    chars: int
    images: NotRequired[list[dict[str, str]]]


class ReplyFields(TypedDict):
    answer: NotRequired[str]
    thinking: NotRequired[str]
    refusal: NotRequired[str]
    tool_calls: NotRequired[list[dict[str, Any]]]
    finish_reason: NotRequired[str]
    finish_raw: NotRequired[str]
    trace_status: str
    cut_chars: NotRequired[int]


class UsageFields(TypedDict):
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_usd: NotRequired[float]
    source: NotRequired[str]


class TimingFields(TypedDict):
    sent_at: NotRequired[float]
    queued_s: NotRequired[float]
    connect_ms: NotRequired[float]
    ttft_ms: NotRequired[float]
    ttfa_ms: NotRequired[float]
    e2e_ms: NotRequired[float]
    end_ms: NotRequired[float]
    decode_tok_s: NotRequired[float]
    chunks: NotRequired[int]
    itl_p50_ms: NotRequired[float]
    itl_p99_ms: NotRequired[float]
    chunk_gap_p50_ms: NotRequired[float]
    chunk_gap_p99_ms: NotRequired[float]
    client_lag_ms: NotRequired[float]
    score_ms: NotRequired[float]
    server: NotRequired[dict[str, float]]
    simulated: NotRequired[bool]


class RetryFields(TypedDict):
    cause: str
    wait_s: float


class AskFields(TypedDict):
    endpoint: NotRequired[int]
    http_status: NotRequired[int]
    request_id: NotRequired[str]
    tries: int
    retries: NotRequired[list[RetryFields]]
    max_tokens: NotRequired[int]
    seed: NotRequired[int]


class LoopFields(TypedDict):
    """The loop detector's verdict; places and lengths in symbols of the channel."""

    state: str
    killed: bool
    kind: NotRequired[str]
    channel: NotRequired[str]
    period: NotRequired[int]
    repetitions: NotRequired[int]
    span: NotRequired[int]
    onset: NotRequired[int]
    killed_at: NotRequired[int]
    share: NotRequired[float]
    likeness: NotRequired[float]


class ErrorFields(TypedDict):
    kind: str
    status: NotRequired[int]
    message: str
    where: NotRequired[str]
    retryable: bool


class TaskRecord(TypedDict):
    """One task on one set of axes, as it ended. ``key`` comes first in the line."""

    key: str
    v: int
    suite: str
    task_id: str
    model: str
    harness: str
    perturbation: str
    repeat: int
    index: int
    group: NotRequired[str]
    category: NotRequired[str]
    ask_id: str
    fingerprint: str
    outcome: str
    detail: NotRequired[str]
    reason: str
    score: NotRequired[float]
    flags: list[str]
    extracted: NotRequired[Any]
    expected: NotRequired[Any]
    rule: NotRequired[str]
    span: NotRequired[list[int]]
    labels: NotRequired[dict[str, Any]]
    also: NotRequired[list[ReadingFields]]
    decision: NotRequired[dict[str, Any]]
    perturbed: NotRequired[dict[str, Any]]
    prompt: NotRequired[PromptFields]
    reply: NotRequired[ReplyFields]
    usage: NotRequired[UsageFields]
    timing: NotRequired[TimingFields]
    ask: NotRequired[AskFields]
    error: NotRequired[ErrorFields]
    loop: NotRequired[LoopFields]
    choices: NotRequired[int]
    attempts: NotRequired[list[dict[str, Any]]]
    started_at: str
    finished_at: str
    session: int
    worker: str
    extra: NotRequired[dict[str, Any]]


TEXTS = ("prompt", "reply", "extra")
ATTEMPT_TEXTS = ("reply", "feedback", "flags")
"""Fields that only inspectors read; everything else is kept in memory for the tables."""


def key_of(
    suite: str, task_id: str, model: str, harness: str = "direct", perturbation: str = "none", repeat: int = 0
) -> str:
    """The record's key: its axes joined by ``|``; ``|`` and ``\\`` inside a part are escaped by ``\\``."""
    parts = (suite, task_id, model, harness, perturbation, str(repeat))
    return "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)


def parts_of(key: str) -> list[str]:
    """The axes that :func:`key_of` joined: suite, task id, model, harness, perturbation, repeat."""
    parts, part, escaped = [], "", False
    for char in key:
        if escaped or char not in "\\|":
            part += char
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            parts.append(part)
            part = ""
    return [*parts, part]


def slim(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without its texts: what metrics and tables are computed from."""
    row = {name: value for name, value in record.items() if name not in TEXTS}
    for name in ("extracted", "expected"):
        value = row.get(name)
        if isinstance(value, str) and len(value) > 200:
            row[name] = value[:200]
    if "attempts" in row:
        row["attempts"] = [{k: v for k, v in a.items() if k not in ATTEMPT_TEXTS} for a in row["attempts"]]
    reply = record.get("reply")
    if isinstance(reply, Mapping):
        row["trace_status"] = reply.get("trace_status", "unavailable")
        row["finish_reason"] = reply.get("finish_reason")
    return row


def json_schema() -> dict[str, Any]:
    """The published JSON Schema of :class:`TaskRecord`."""
    from pydantic import TypeAdapter

    return TypeAdapter(TaskRecord).json_schema()


def validate(record: Mapping[str, Any]) -> None:
    """Raises ``pydantic.ValidationError`` when the record does not fit the schema."""
    from pydantic import TypeAdapter

    TypeAdapter(TaskRecord).validate_python(record, strict=True)
