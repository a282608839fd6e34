"""What came back from a model: :class:`Reply`, and :class:`Exchange`, one ask with its fate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class ToolCall:
    """A function call the model asked for. ``arguments`` is absent when ``raw`` is not a JSON object,
    and ``arguments_error`` then says why."""

    name: str
    arguments: dict[str, Any] | None = None
    raw: str = ""
    id: str | None = None
    arguments_error: str | None = None


@dataclass(slots=True)
class Usage:
    """Token counts and who told them; absent = unknown.

    ``source``: ``usage``, ``timings``, ``tokenizer`` or ``simulated``.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    source: str | None = None


@dataclass(slots=True)
class Timing:
    """Times of one request. Zero point ``t0``: the last byte of the request left on an open connection.

    ``ttft_ms``: t0 to the first chunk of generated text of any kind; ``ttfa_ms``: to the first answer
    text; ``e2e_ms``: to the last generated chunk; ``end_ms``: to the end of the body. ``decode_tok_s``:
    (output tokens - 1) / (last - first generated chunk). ``server`` holds what the server measured
    itself, never mixed with ours. Absent = not measured.
    """

    sent_at: float | None = None
    queued_s: float | None = None
    connect_ms: float | None = None
    ttft_ms: float | None = None
    ttfa_ms: float | None = None
    e2e_ms: float | None = None
    end_ms: float | None = None
    decode_tok_s: float | None = None
    chunks: int | None = None
    itl_p50_ms: float | None = None
    itl_p99_ms: float | None = None
    chunk_gap_p50_ms: float | None = None
    chunk_gap_p99_ms: float | None = None
    client_lag_ms: float | None = None
    score_ms: float | None = None
    server: dict[str, float] = field(default_factory=dict)
    simulated: bool = False


LOOPS = frozenset({"exact_cycle", "numeric_cycle"})
"""Kinds of loops that end a request."""


@dataclass(slots=True)
class Loop:
    """Whether a reply goes round in circles.

    ``state``: ``unavailable`` (no text), ``observing`` (too little of it), ``clear``, ``suspected``,
    ``looping`` or ``recovered``. ``kind`` of evidence: ``exact_cycle``, ``numeric_cycle``,
    ``structural_cycle`` or ``overlap``; ``channel``: ``thinking`` or ``answer``. ``period`` and ``span``
    count symbols (words and marks), ``onset`` and ``killed_at`` are positions among those of the channel.
    ``share``: of words said before; ``likeness``: greatest overlap of 64 words with earlier ones, both 0..1.
    """

    state: str
    killed: bool = False
    kind: str | None = None
    channel: str | None = None
    period: int | None = None
    repetitions: int | None = None
    span: int | None = None
    onset: int | None = None
    killed_at: int | None = None
    share: float | None = None
    likeness: float | None = None


@dataclass(slots=True)
class Reply:
    """One model reply.

    ``text`` is the answer channel as sent; ``answer`` is it with thinking and stray template tokens
    removed, and is all that scorers read. ``finish_reason`` is ``stop``, ``length``, ``tool_calls``,
    ``content_filter`` or absent. ``trace_status``: ``observed`` (thinking text seen),
    ``available_empty`` (the channel exists, nothing in it), ``unavailable`` (cannot know).
    """

    text: str = ""
    answer: str = ""
    thinking: str = ""
    refusal: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    finish_reason: str | None = None
    finish_raw: str | None = None
    trace_status: str = "unavailable"
    reasoning_field: str | None = None
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)
    flags: list[str] = field(default_factory=list)
    system_fingerprint: str | None = None
    loop: Loop | None = None
    """The verdict of the loop detector, where the reply was watched."""
    decision: dict[str, Any] | None = None
    """Of a decision model: ``probabilities`` by key, ``choice``, ``confidence``, ``p_gold``, ``brier`` ..."""

    @property
    def cut(self) -> bool:
        """Whether a token limit ended the reply."""
        return self.finish_reason == "length"

    @classmethod
    def of(cls, answer: str, **fields: Any) -> Reply:
        """A complete reply with this answer; handy for testing a suite without a model."""
        fields.setdefault("finish_reason", "stop")
        return cls(text=answer, answer=answer, **fields)

    def flag(self, name: str) -> None:
        if name not in self.flags:
            self.flags.append(name)


@dataclass(slots=True)
class Failure:
    """Why a request has no scorable reply.

    ``kind`` is a stable detail code of ``spec`` outcomes (``http_503``, ``stream_dropped``,
    ``connect_failed``, ``timed_out``, ``context_too_small`` ...); ``category`` steers retries:
    ``connection``, ``busy``, ``refusing``, ``client``, ``after_output``, ``deadline``, ``loop``.
    """

    kind: str
    message: str
    category: str
    status: int | None = None
    where: str | None = None
    retry_after: float | None = None
    need_tokens: int | None = None
    window_tokens: int | None = None

    @property
    def retryable(self) -> bool:
        return self.category in ("connection", "busy")


@dataclass(slots=True)
class Retry:
    """One repeated try: what made it needed and how long we waited before it."""

    cause: str
    wait_s: float


@dataclass(slots=True)
class Exchange:
    """One ask with everything known about it: a reply, or a failure with what text arrived before it."""

    reply: Reply
    failure: Failure | None = None
    endpoint: int = 0
    http_status: int | None = None
    request_id: str | None = None
    tries: int = 1
    retries: list[Retry] = field(default_factory=list)
    max_tokens: int | None = None
    seed: int | None = None
    fingerprint: str = ""
    open_s: float = 0.0
    """Seconds for which a request was open, tries that failed included."""
