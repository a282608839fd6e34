"""Builds the :class:`~pytest_benchkit.runs.record.TaskRecord` of a finished task."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pytest_benchkit.models.body import prompt_text
from pytest_benchkit.perturbations import PerturbedTask
from pytest_benchkit.runs.plain import plain
from pytest_benchkit.runs.record import (
    RECORD_VERSION,
    AskFields,
    ErrorFields,
    LoopFields,
    PromptFields,
    ReplyFields,
    TaskRecord,
)

if TYPE_CHECKING:
    from pytest_benchkit.engine.outcome import Classified
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.engine.repair import Attempt
    from pytest_benchkit.reply import Exchange, Failure, Loop, Reply
    from pytest_benchkit.score import Score
    from pytest_benchkit.task import Message, Task

PROMPT_LIMIT = 32 * 1024
EXACT = ("sent_at", "cost_usd")
"""Numbers that four digits after the point would spoil: a clock, and the price of a short reply."""
REPLY_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Recorder:
    """What all records of a process share. ``store_prompts``: ``all``, ``auto`` or ``none``."""

    session: int = 0
    worker: str = "main"

    def record(
        self,
        job: Job,
        task: Task,
        messages: Sequence[Message],
        exchange: Exchange,
        score: Score | None,
        classified: Classified,
        reason: str,
        *,
        started: float,
        store_prompts: str,
        flags: Sequence[str] = (),
        extra: dict[str, Any] | None = None,
        attempts: Sequence[Attempt] = (),
        choices: int | None = None,
    ) -> TaskRecord:
        """The record of one task; ``started`` is Unix seconds. Where ``attempts`` were several, the first is
        the record's own."""
        cell = job.cell
        reply = exchange.reply
        hide = not cell.suite.store_prompts and store_prompts != "all"
        record: TaskRecord = {
            "key": job.key,
            "v": RECORD_VERSION,
            "suite": cell.name,
            "task_id": task.id,
            "model": cell.model,
            "harness": cell.harness,
            "perturbation": cell.perturbation,
            "repeat": cell.repeat,
            "index": task.index,
            "ask_id": secrets.token_hex(8),
            "fingerprint": exchange.fingerprint,
            "outcome": classified.outcome.value,
            "reason": reason,
            "flags": [*reply.flags, *(flag for flag in flags if flag not in reply.flags)],
            "prompt": _prompt(messages, "none" if hide else store_prompts),
            "reply": _reply(reply, hide),
            "started_at": _rfc3339(started),
            "finished_at": _rfc3339(time.time()),
            "session": self.session,
            "worker": self.worker,
        }
        if task.group is not None:
            record["group"] = task.group
        if task.category is not None:
            record["category"] = task.category
        if reply.decision is not None:
            record["decision"] = plain({**reply.decision, "latency_ms": reply.timing.e2e_ms})
        if isinstance(task, PerturbedTask):
            record["perturbed"] = task.facts
        if classified.detail is not None:
            record["detail"] = classified.detail
        if score is not None:
            _add_score(record, score, counted=classified.outcome.counted)
        elif classified.outcome.counted:
            record["score"] = 0.0
        if usage := _present(reply.usage):
            record["usage"] = cast("Any", usage)
        if timing := _present(reply.timing):
            record["timing"] = cast("Any", timing)
        record["ask"] = _ask(exchange)
        if reply.loop is not None:
            record["loop"] = _loop(reply.loop)
        if choices is not None:
            record["choices"] = choices
        if len(attempts) > 1:
            record["attempts"] = [_attempt(one, number, hide) for number, one in enumerate(attempts)]
        if exchange.failure is not None:
            record["error"] = _error(exchange.failure)
        if extra:
            record["extra"] = plain(extra)
        return record


def prompt_sha256(messages: Sequence[Message]) -> str:
    return hashlib.sha256(json.dumps(messages, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _prompt(messages: Sequence[Message], store: str) -> PromptFields:
    chars = sum(len(m["content"]) if isinstance(m.get("content"), str) else 0 for m in messages)
    if not chars:
        chars = len(prompt_text(messages))
    prompt: PromptFields = {"sha256": prompt_sha256(messages), "chars": chars}
    if store == "all" or (store == "auto" and chars <= PROMPT_LIMIT):
        prompt["messages"] = plain(messages)
    return prompt


def _reply(reply: Reply, hide: bool) -> ReplyFields:
    out: ReplyFields = {"trace_status": reply.trace_status}
    if reply.finish_reason is not None:
        out["finish_reason"] = reply.finish_reason
    if reply.finish_raw is not None and reply.finish_raw != reply.finish_reason:
        out["finish_raw"] = reply.finish_raw
    if hide:
        return out
    for name in ("answer", "thinking"):
        text: str = getattr(reply, name)
        if len(text) > REPLY_LIMIT:
            half = REPLY_LIMIT // 2
            out["cut_chars"] = out.get("cut_chars", 0) + len(text) - REPLY_LIMIT
            text = text[:half] + text[-half:]
        if text or name == "answer":
            out[name] = text
    if reply.refusal is not None:
        out["refusal"] = reply.refusal
    if reply.tool_calls:
        out["tool_calls"] = plain(reply.tool_calls)
    return out


def _add_score(record: TaskRecord, score: Score, *, counted: bool) -> None:
    if counted:
        record["score"] = score.value
    if score.extracted is not None:
        record["extracted"] = plain(score.extracted)
    if score.expected is not None:
        record["expected"] = plain(score.expected)
    if score.rule is not None:
        record["rule"] = score.rule
    if score.span is not None:
        record["span"] = list(score.span)
    if score.labels:
        record["labels"] = plain(score.labels)
    if score.also:
        record["also"] = [
            {"rule": r.rule, "extracted": plain(r.extracted), "score": float(r.score)} for r in score.also
        ]


def _present(value: object) -> dict[str, Any]:
    """The fields of a data class that are known."""
    out = {}
    for f in fields(value):  # type: ignore[arg-type]
        item = getattr(value, f.name)
        if item is not None and item is not False and item != {}:
            out[f.name] = round(item, 4) if type(item) is float and f.name not in EXACT else item
    return out


def _attempt(attempt: Attempt, number: int, hide: bool) -> dict[str, Any]:
    """One attempt, in the form of a small record (R-7)."""
    exchange, score, (outcome, detail) = attempt.exchange, attempt.judged.score, attempt.classified
    entry: dict[str, Any] = {
        "number": number,
        "outcome": outcome.value,
        "flags": list(exchange.reply.flags),
        "reply": _reply(exchange.reply, hide),
        "usage": _present(exchange.reply.usage),
        "timing": _present(exchange.reply.timing),
        "ask": _ask(exchange),
    }
    if detail is not None:
        entry["detail"] = detail
    if outcome.counted:
        entry["score"] = score.value if score is not None else 0.0
    if score is not None and score.rule is not None:
        entry["rule"] = score.rule
    if attempt.feedback is not None:
        entry["feedback"] = attempt.feedback
    if exchange.reply.loop is not None:
        entry["loop"] = _loop(exchange.reply.loop)
    if exchange.failure is not None:
        entry["error"] = _error(exchange.failure)
    return entry


def _ask(exchange: Exchange) -> AskFields:
    ask: AskFields = {"tries": exchange.tries}
    if exchange.http_status is not None:
        ask["http_status"] = exchange.http_status
    if exchange.request_id is not None:
        ask["request_id"] = exchange.request_id
    if exchange.retries:
        ask["retries"] = [{"cause": r.cause, "wait_s": r.wait_s} for r in exchange.retries]
    if exchange.max_tokens is not None:
        ask["max_tokens"] = exchange.max_tokens
    if exchange.seed is not None:
        ask["seed"] = exchange.seed
    return ask


def _loop(loop: Loop) -> LoopFields:
    found = {f.name: getattr(loop, f.name) for f in fields(loop)}
    for name in ("share", "likeness"):
        if found[name] is not None:
            found[name] = round(found[name], 4)
    return cast("LoopFields", {name: value for name, value in found.items() if value is not None})


def _error(failure: Failure) -> ErrorFields:
    error: ErrorFields = {
        "kind": failure.kind,
        "message": failure.message[:2000],
        "retryable": failure.retryable,
    }
    if failure.status is not None:
        error["status"] = failure.status
    if failure.where is not None:
        error["where"] = failure.where
    return error


def _rfc3339(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
