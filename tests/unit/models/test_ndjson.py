"""Ollama's own stream (S-37), each case whole, byte by byte and cut at 50 random places."""

from __future__ import annotations

import itertools
import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.models.ndjson import LineReader, OllamaStream
from pytest_benchkit.reply import Failure, Reply
from tests.unit.models.wires import bad as any_bad
from tests.unit.models.wires import good as any_good

COUNTS = {"prompt_eval_count": 26, "eval_count": 3}
TIMES = {
    "total_duration": 3_000_000_000,
    "load_duration": 100_000_000,
    "prompt_eval_duration": 400_000_000,
    "eval_duration": 1_500_000_000,
}


def line(content: str | None = "", **fields: Any) -> bytes:
    """One line; ``thinking``, ``tool_calls`` and ``more`` go into its message."""
    message: dict[str, Any] = {"role": "assistant"}
    if content is not None:
        message["content"] = content
    for name in ("thinking", "tool_calls", "more"):
        if name in fields:
            message[name] = fields.pop(name)
    value = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False, **fields}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def text(*pieces: str) -> bytes:
    return b"".join(line(piece) for piece in pieces)


def end(reason: str | None = "stop", **fields: Any) -> bytes:
    word = {} if reason is None else {"done_reason": reason}
    return line("", **{**word, "done": True, **COUNTS, **TIMES, **fields})


def good(wire: bytes, **options: Any) -> Reply:
    return any_good(wire, content_type="application/x-ndjson", dialect=OllamaStream, **options)


def bad(wire: bytes, **options: Any) -> tuple[Failure, Reply]:
    return any_bad(wire, content_type="application/x-ndjson", dialect=OllamaStream, **options)


def test_a_reply() -> None:
    reply = good(text("The ", "answer is ", "7") + end())
    assert (reply.text, reply.answer, reply.thinking) == ("The answer is 7", "The answer is 7", "")
    assert (reply.finish_reason, reply.finish_raw, reply.flags) == ("stop", "stop", ["single_chunk"])
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.source) == (26, 3, "usage")
    assert reply.timing.server == {**{name: float(ns) for name, ns in TIMES.items()}, "predicted_ms": 1500.0}
    assert (reply.timing.ttft_ms, reply.timing.chunks) == (500.0, 3)


def test_the_clock_starts_at_text_and_ends_at_text() -> None:
    stream = OllamaStream()
    for at, wire in ((1.0, line()), (2.0, line("a")), (2.5, line("b")), (3.0, line("c")), (9.0, end())):
        stream.feed(wire, at)
    reply, failure = stream.close(9.5, content_type="", t0=1.0)
    assert failure is None
    assert (reply.timing.ttft_ms, reply.timing.e2e_ms, reply.timing.end_ms) == (1000.0, 2000.0, 8500.0)
    assert reply.timing.decode_tok_s == pytest.approx(2.0)
    assert reply.timing.itl_p50_ms == pytest.approx(500.0)


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\n\n", b"\n \r\n"])
def test_line_ends(ends: bytes) -> None:
    assert good((text("a", "b") + end()).replace(b"\n", ends)).answer == "ab"
    assert good(b"\xef\xbb\xbf" + text("a", "b") + end()).answer == "ab"
    assert good((text("a", "b") + end()).rstrip(b"\n")).answer == "ab"  # the last line without its end


def test_characters() -> None:
    assert good(text("a\u2028b\u0085", "\U0001f642") + end()).answer == "a\u2028b\u0085\U0001f642"
    reply = good(text("a") + line("X").replace(b"X", b"\xff\xfe") + end())
    assert reply.answer == "a\ufffd\ufffd"
    assert "bad_utf8" in reply.flags


def test_thinking_in_its_own_field_and_in_tags() -> None:
    reply = good(line("", thinking="so ") + line(None, thinking="12") + text("The answer is 9") + end())
    assert (reply.thinking, reply.answer, reply.reasoning_field) == ("so 12", "The answer is 9", "thinking")
    assert reply.trace_status == "observed"
    tagged = good(text("<thi", "nk>so 12</think>", "The answer is 9") + end())
    assert (tagged.thinking, tagged.answer) == ("so 12", "The answer is 9")
    only = good(line("", thinking="so 12") + end("length"))
    assert (only.answer, only.finish_reason) == ("", "length")


def test_tool_calls_come_whole_one_or_several_a_line() -> None:
    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"function": {"name": name, "arguments": arguments}}

    first = line("", tool_calls=[call("f", x=1), call("g", y="é")])
    reply = good(first + line("", tool_calls=[call("f", x=2)]) + end())
    assert [(made.name, made.arguments) for made in reply.tool_calls] == [
        ("f", {"x": 1}),
        ("g", {"y": "é"}),
        ("f", {"x": 2}),
    ]
    assert (reply.answer, reply.finish_reason) == ("", "stop")


@pytest.mark.parametrize(
    ("reason", "finish", "raw"),
    [("stop", "stop", "stop"), ("length", "length", "length"), ("odd", "stop", "odd"), (None, None, None)],
)
def test_done_reasons(reason: str | None, finish: str | None, raw: str | None) -> None:
    reply = good(text("a", "b") + end(reason))
    assert (reply.finish_reason, reply.finish_raw) == (finish, raw)
    assert ("finish_missing" in reply.flags) == (reason is None)


def test_nothing_after_the_end_counts() -> None:
    assert good(text("a", "b") + end() + text("c") + b'{"error": "late"}\n<html>\n{"bad').answer == "ab"


def test_without_done_it_is_a_dropped_stream() -> None:
    for wire in (text("a", "b"), text("a", "b") + end()[:-20], text("a") + line("b", done_reason="stop")):
        failure, reply = bad(wire)
        assert (failure.kind, failure.category) == ("stream_dropped", "after_output")
        assert "done: true" in failure.message
        assert reply.text in ("a", "ab")
    failure, _ = bad(line())
    assert (failure.kind, failure.category) == ("stream_dropped", "connection")
    failure, _ = bad(text("a") + line("b", done="true"))  # a word is no truth
    assert failure.kind == "stream_dropped"


def test_an_error_line() -> None:
    words = "an error was encountered while running the model: CUDA error"
    failure, reply = bad(text("a") + json.dumps({"error": words}).encode() + b"\n")
    assert (failure.kind, failure.category, failure.message) == ("server_error", "after_output", words)
    assert reply.text == "a"
    failure, _ = bad(json.dumps({"error": words}).encode())  # the whole body, without a line end
    assert (failure.kind, failure.category) == ("server_error", "busy")


def test_only_loaded_is_asked_again() -> None:
    failure, _ = bad(end("load", eval_count=None, prompt_eval_count=None))
    assert (failure.kind, failure.category) == ("empty_body", "busy")
    assert good(text("a", "b") + end("load")).answer == "ab"  # with text it is a reply


@pytest.mark.parametrize("wire", [b"", b"\n\r\n \n", b"\xef\xbb\xbf"])
def test_nothing_is_an_empty_body(wire: bytes) -> None:
    failure, _ = bad(wire)
    assert (failure.kind, failure.category) == ("empty_body", "busy")


@pytest.mark.parametrize(
    "wire", [b"<html>\n<b>504</b>\n</html>\n", b"Bad gateway", b'["a"]\n', b"data: x\n\n"]
)
def test_other_texts_are_quoted(wire: bytes) -> None:
    failure, _ = bad(wire)
    assert (failure.kind, failure.category) == ("bad_response", "client")
    assert wire.split(b"\n")[0].decode() in failure.message


@pytest.mark.parametrize("odd", [b"{oops}\n", b"<html>\n", b"null\n", b'{"a": 1}]\n'])
def test_a_damaged_line_is_never_skipped_in_silence(odd: bytes) -> None:
    failure, reply = bad(text("a", "b") + odd + text("c") + end())
    assert (failure.kind, failure.category) == ("stream_damaged", "after_output")
    assert reply.text == "abc"


def test_a_reply_in_one_piece_has_no_first_token() -> None:
    reply = good(line("7", done=True, done_reason="stop", **COUNTS, **TIMES))
    assert (reply.answer, reply.flags, reply.usage.output_tokens) == ("7", ["not_streamed"], 3)
    assert (reply.timing.ttft_ms, reply.timing.chunks, reply.timing.e2e_ms) == (None, None, 1000.0)
    assert reply.timing.server["eval_duration"] == 1.5e9


def test_counts_that_are_missing_or_odd() -> None:
    cached = good(text("a", "b") + line(done=True, done_reason="stop", eval_count=2, eval_duration=-1))
    assert (cached.usage.input_tokens, cached.usage.output_tokens) == (None, 2)
    assert cached.timing.server == {}
    none = good(text("a", "b") + end(eval_count=0, prompt_eval_count=True))
    assert (none.usage.input_tokens, none.usage.output_tokens) == (None, None)
    assert "usage_zero" in none.flags


def test_shapes_that_no_version_sends() -> None:
    odd: list[Any] = [None, 7, "text", [], {"content": {"text": "a"}}, {"role": 1, "content": 2}]
    wire = b"".join(json.dumps({"message": value, "done": False}).encode() + b"\n" for value in odd)
    assert good(wire + text("b") + end()).answer == "ab"


def test_sizes_are_limited() -> None:
    stream = OllamaStream(max_reply=1000)
    for _ in range(200):
        stream.feed(text("0123456789"), 1.0)
    assert stream.oversize
    reply, failure = stream.close(2.0, content_type="", t0=0.0)
    assert failure is None
    assert (reply.finish_reason, "client_size" in reply.flags) == ("length", True)
    for cut in (1, 7, 1000):
        reader = LineReader(max_line=100)
        wire = b'{"a": 1}\n{"b": "' + b"x" * 200 + b'"}\n{"c": 1}\n'
        found = [found for i in range(0, len(wire), cut) for found in reader.feed(wire[i : i + cut])]
        assert (found, reader.oversize, list(reader.finish())) == ([b'{"a": 1}'], True, [])


def test_work_does_not_grow_with_the_reply() -> None:
    stream = OllamaStream()
    wire = text("word ")
    started = time.process_time()
    for _ in range(20_000):
        stream.feed(wire, 1.0)
    assert time.process_time() - started < 2.0  # 100 µs a line, some ten times what it takes
    assert len(stream.close(1.0, content_type="", t0=0.0)[0].text) == 100_000


PIECES = [
    line("a"),
    line("é<think>"),
    end(),
    end("load"),
    b"\n",
    b"{",
    b'"',
    b"<b>\n",
    b'{"error": {"code": 400}}\n',
]


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=8), max_size=12), st.randoms())
def test_whatever_comes_is_the_same_for_every_cut(pieces: list[bytes], dice: random.Random) -> None:
    wire = b"".join(pieces)
    results = []
    for places in (
        [0, len(wire)],
        sorted({0, len(wire), *(dice.randrange(len(wire) + 1) for _ in range(9))}),
    ):
        stream = OllamaStream()
        for a, b in itertools.pairwise(places):
            for channel, words in stream.feed(wire[a:b], 1.0):
                assert channel in ("thinking", "answer", "tool")
                assert words
        results.append(stream.close(1.5, content_type="", t0=0.5))
    assert results[0] == results[1]
