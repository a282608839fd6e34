"""2,000 damaged transcripts: whatever comes, a Reply comes out, soon, and the same for every cut."""

from __future__ import annotations

import itertools
import json
import random
import time
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.models import jsonlib
from pytest_benchkit.models.chat import ChatStream
from tests.unit.models.wires import DONE, ROLE, delta, event, stop, text, whole

if TYPE_CHECKING:
    from pytest_benchkit.reply import Failure, Reply

KINDS = {
    "server_error",
    "context_too_small",
    "empty_body",
    "bad_response",
    "stream_dropped",
    "stream_damaged",
}
CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": [1, "é"]}'}}])
TRANSCRIPTS = [
    event(ROLE) + text("The ", "answer 🙂 ", "is ", "7") + stop() + DONE,
    text("<think>", "hm", "</think>\n", "7")
    + stop("length")
    + event({"choices": [], "usage": {"completion_tokens": 4}}),
    event(delta(reasoning_content="hm")) + event(CALL) + stop("tool_calls") + DONE,
    b": ping\r\n\r\n" + text("a").replace(b"\n", b"\r\n") + b'error: {"code": 400, "message": "no"}\r\n\r\n',
    whole(
        {"content": "7", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
        usage={"cost": 1},
    ),
    event(
        {"choices": [{"delta": {"content": [{"type": "text", "text": "a"}]}}], "timings": {"predicted_n": 3}}
    )
    + DONE,
]
VALUES: list[Any] = [None, True, 0, -1, 1e300, "", "\ud800", "x", [], {}, [[]], {"a": 1}, [None], 10**30]


def read(pieces: list[bytes]) -> tuple[Reply, Failure | None]:
    stream = ChatStream()
    for piece in pieces:
        for channel, words in stream.feed(piece, 1.0):
            assert channel in ("thinking", "answer", "tool")
            assert words
    return stream.close(1.5, content_type="text/event-stream", t0=0.5)


def check(wire: bytes, dice: random.Random) -> None:
    once = read([wire])
    places = sorted({0, len(wire), *(dice.randrange(len(wire) + 1) for _ in range(8))})
    assert read([wire[a:b] for a, b in itertools.pairwise(places)]) == once
    reply, failure = once
    if failure is not None:
        assert failure.kind in KINDS or failure.kind.startswith("http_")
        assert failure.message.isprintable()
        assert not (failure.retryable and reply.timing.chunks)
    f"{reply.text}{reply.thinking}{reply.tool_calls}".encode()  # everything kept can be written
    for number in (
        reply.timing.ttft_ms,
        reply.timing.e2e_ms,
        reply.timing.decode_tok_s,
        reply.usage.cost_usd,
    ):
        assert number is None or 0 <= number < float("inf")


def mutated(wire: bytes, dice: random.Random) -> bytes:
    data = bytearray(wire)
    for _ in range(dice.randrange(1, 5)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(5):
            case 0:
                del data[at : at + dice.randrange(1, 30)]
            case 1:
                data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 5)))
            case 2:
                data[at:at] = dice.choice(
                    [b"\n", b"\r", b"\n\n", b"data: ", b"[DONE]", b"null", b"{", b'"', b":", b"\xf0"]
                )
            case 3:
                data[at : at + 1] = b""
            case _:
                other = dice.choice(TRANSCRIPTS)
                data[at:at] = other[dice.randrange(len(other)) :][:200]
    return bytes(data)


def test_2000_mutated_transcripts() -> None:
    dice = random.Random(20261130)
    slowest = 0.0
    for turn in range(2000):
        wire = mutated(TRANSCRIPTS[turn % len(TRANSCRIPTS)], dice)
        began = time.process_time()
        check(wire, dice)
        slowest = max(slowest, time.process_time() - began)
    assert slowest < 0.5


def _spoiled(value: Any, dice: random.Random) -> Any:
    """The value with one thing in it replaced by something of another kind."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(sorted(value))
        return {**value, key: _spoiled(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        return [_spoiled(value[0], dice), *value[1:]]
    return dice.choice(VALUES)


def test_every_field_with_values_of_every_kind() -> None:
    dice = random.Random(7)
    usage = {"completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
    chunks: list[dict[str, Any]] = [
        ROLE,
        CALL,
        delta(
            "stop", content="a", reasoning="b", refusal="c", function_call={"name": "f", "arguments": "{}"}
        ),
        {
            "choices": [],
            "usage": usage,
            "timings": {"predicted_ms": 1, "predicted_n": 2},
            "error": {"code": 1},
        },
        {"choices": [{"message": {"content": [{"type": "thinking", "thinking": [{"text": "x"}]}]}}]},
    ]
    for turn in range(1500):
        chunk = _spoiled(chunks[turn % len(chunks)], dice)
        check(event(chunk, ascii=True) + text("a") + stop() + DONE, dice)
        check(json.dumps(chunk).encode(), dice)


@settings(max_examples=200, deadline=None)
@given(wire=st.binary(max_size=200))
def test_any_bytes(wire: bytes) -> None:
    check(wire, random.Random(len(wire)))


def test_without_orjson_the_same_bytes_mean_the_same(monkeypatch: Any) -> None:
    wires = [
        *TRANSCRIPTS,
        text("a") + b'data: {"choices":[{"delta":{"content":"\\ud83d"}}],"n":1e999}\n\n' + stop() + DONE,
    ]
    fast = [read([wire]) for wire in wires]
    monkeypatch.setattr(jsonlib, "_fast_loads", None)
    assert [read([wire]) for wire in wires] == fast
