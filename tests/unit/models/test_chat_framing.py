"""Rules S-1 to S-20 and S-38, S-39: framing, ends, errors. Every wire is read cut in three ways."""

from __future__ import annotations

import json

import pytest

from pytest_benchkit.models import chat as chat_module
from pytest_benchkit.models.chat import ChatStream
from tests.unit.models.wires import DONE, ROLE, bad, delta, event, good, read, stop, text, whole


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_s1_line_ends(end: bytes) -> None:
    wire = text("a\u2028b\u2029c\u0085de") + stop() + DONE
    assert good(wire.replace(b"\n", end)).text == "a\u2028b\u2029c\u0085de"


def test_s1_vertical_tab_and_form_feed_do_not_end_a_line() -> None:
    wire = b': a\x0bdata: {"choices":[{"delta":{"content":"no"}}]}\n\n' + text("yes") + stop() + DONE
    assert good(wire).text == "yes"


def test_s2_characters_cut_between_reads_and_a_byte_order_mark() -> None:
    reply = good(b"\xef\xbb\xbf" + text("one 🙂 two") + stop() + DONE)
    assert reply.text == "one 🙂 two"
    assert reply.flags == []


def test_s2_invalid_bytes_are_replaced_and_flagged() -> None:
    reply = good(text("a?b").replace(b"?", b"\xff") + stop() + DONE)
    assert reply.text == "a\ufffdb"
    assert "bad_utf8" in reply.flags


def test_s2_surrogates_torn_over_two_chunks_come_together() -> None:
    high = b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
    low = b'data: {"choices":[{"delta":{"content":"\\ude42"}}]}\n\n'
    reply = good(high + low + stop() + DONE)
    assert reply.text == "🙂"
    assert reply.flags == []
    lone = good(high + text("x") + stop() + DONE)
    assert lone.text == "\ufffdx"
    assert lone.flags == ["bad_utf8"]


def test_s3_fields() -> None:
    pretty = json.dumps(delta(content="joined"), indent=1).encode()
    wire = b"id: 7\nretry: 10\nfoo: bar\n" + b"".join(b"data:" + line + b"\n" for line in pretty.split(b"\n"))
    assert good(wire + b"\n" + stop() + DONE).text == "joined"


def test_s3_an_error_event_is_an_error() -> None:
    failure, reply = bad(text("part") + b'event: error\ndata: {"message": "boom", "code": 503}\n\n')
    assert (failure.kind, failure.category, failure.message) == ("http_503", "after_output", "boom")
    assert reply.text == "part"


def test_s3_an_event_name_holds_for_one_event() -> None:
    assert good(b"event: error\n\n" + text("fine") + stop() + DONE).text == "fine"


def test_s4_s5_comments_and_blank_lines() -> None:
    wire = (
        b": ping\n\n\n" + event(ROLE) + b": ping\n" + text("a") + b"\n\n:\n\n" + stop() + DONE + b": bye\n\n"
    )
    assert good(wire).text == "a"


@pytest.mark.parametrize(
    "end", [b"data: [DONE]\n\n", b"data: [DONE]", b"data:[DONE] \n", b"data:   [DONE]\r\n"]
)
def test_s6_done_in_any_dress(end: bytes) -> None:
    stream = ChatStream()
    stream.feed(text("a") + stop() + end + b"\n", 1.0)
    assert stream.done
    assert good(text("a") + stop() + end).text == "a"


def test_s6_nothing_after_done_counts() -> None:
    assert good(text("a") + stop() + DONE + text("b") + b"data: {broken\n\n").text == "a"


def test_s7_end_of_body_without_done() -> None:
    assert good(text("a") + stop()).finish_reason == "stop"
    failure, reply = bad(event(ROLE) + text("a", "b"))
    assert (failure.kind, failure.category) == ("stream_dropped", "after_output")
    assert reply.text == "ab"
    failure, _ = bad(event(ROLE))
    assert (failure.kind, failure.category) == ("stream_dropped", "connection")


def test_s8_last_event_without_its_blank_line() -> None:
    assert good(text("a") + stop().rstrip(b"\n")).text == "a"
    failure, reply = bad(text("a") + stop().rstrip(b"}\n"))
    assert failure.kind == "stream_dropped"
    assert reply.text == "a"


def test_s9_done_without_a_finish_word() -> None:
    reply = good(text("a") + DONE)
    assert reply.finish_reason is None
    assert reply.flags == ["single_chunk", "finish_missing"] or reply.flags == ["finish_missing"]


def test_s10_error_as_a_field_of_its_own() -> None:
    body = {"code": 400, "message": "too long", "type": "exceed_context_size_error"}
    sizes = {"n_prompt_tokens": 9000, "n_ctx": 8192}
    failure, _ = bad(b"error: " + json.dumps({**body, **sizes}).encode() + b"\n\n")
    assert (failure.kind, failure.need_tokens, failure.window_tokens) == ("context_too_small", 9000, 8192)
    assert not failure.retryable
    words = json.dumps({"code": 400, "message": "the request exceeds the available context size"}).encode()
    failure, _ = bad(b"error: " + words)
    assert (failure.kind, failure.category) == ("http_400", "client")
    assert failure.message == "the request exceeds the available context size"


@pytest.mark.parametrize(
    ("chunk", "kind", "category"),
    [
        ({"error": {"message": "m", "code": 429}}, "http_429", "busy"),
        ({"error": {"message": "m", "code": "503"}}, "http_503", "busy"),
        ({"error": {"message": "m", "code": 401}}, "http_401", "refusing"),
        ({"error": {"message": "m", "code": "oops"}}, "server_error", "busy"),
        ({"error": "m"}, "server_error", "busy"),
        ({"error": {"message": "m", "code": 422}, "choices": []}, "http_422", "client"),
    ],
)
def test_s11_error_in_a_chunk(chunk: dict[str, object], kind: str, category: str) -> None:
    failure, _ = bad(event(ROLE) + event(chunk) + DONE)
    assert (failure.kind, failure.category, failure.message) == (kind, category, "m")
    failure, reply = bad(text("so far") + event(chunk) + DONE)
    assert (failure.kind, failure.category, reply.text) == (kind, "after_output", "so far")


def test_s11_finish_word_error_beside_text_and_message() -> None:
    both = {**delta("error", content="b"), "error": {"code": 502, "message": "upstream"}}
    failure, reply = bad(text("a") + event(both) + DONE)
    assert (failure.kind, failure.message, reply.text) == ("http_502", "upstream", "ab")
    assert bad(text("a") + stop("error") + DONE)[0].kind == "server_error"


def test_s12_a_finished_completion_that_was_not_streamed() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    reply = good(whole({"content": "<think>hm</think>7"}, usage=usage), content_type="application/json")
    assert (reply.answer, reply.thinking, reply.finish_reason) == ("7", "hm", "stop")
    assert reply.flags == ["not_streamed"]
    assert (reply.usage.output_tokens, reply.timing.ttft_ms, reply.timing.e2e_ms) == (2, None, 1000.0)
    assert good(b"\n \n" + whole({"content": "x"}) + b"\n").text == "x"
    assert good(b"\xef\xbb\xbf" + whole({"content": "x"})).text == "x"


def test_s13_a_json_error_with_status_200() -> None:
    failure, _ = bad(b'{"error": {"message": "no model", "code": 404}}', content_type="application/json")
    assert (failure.kind, failure.category, failure.message) == ("http_404", "refusing", "no model")
    failure, _ = bad(b'{"object": "error", "message": "bad", "code": 400}')
    assert (failure.kind, failure.message) == ("http_400", "bad")


@pytest.mark.parametrize(
    "body", [b"<html>\n<h1>Hi</h1>" + b"x" * 500, b"plain words", b'{"hello": 1}', b"[1, 2", b'{"a']
)
def test_s14_something_else_with_status_200(body: bytes) -> None:
    failure, reply = bad(body, content_type="text/html")
    assert (failure.kind, failure.retryable, reply.text) == ("bad_response", False, "")
    assert body[:5].decode() in failure.message
    assert len(failure.message) < 320
    assert "\n" not in failure.message


@pytest.mark.parametrize("body", [b"", b": ping\n\n: ping\n\n", DONE, b"\n\n", b"id: 1\n\n"])
def test_s15_no_event_at_all(body: bytes) -> None:
    failure, reply = bad(body)
    assert (failure.kind, failure.retryable) == ("empty_body", True)
    assert reply.text == ""


def test_s16_one_damaged_event() -> None:
    failure, reply = bad(text("a") + b"data: {not json\n\n" + text("b") + stop() + DONE)
    assert (failure.kind, failure.category) == ("stream_damaged", "after_output")
    assert failure.message.startswith("1 of 4 events")
    assert reply.text == "ab"
    assert bad(b"data: 17\n\n" + stop() + DONE)[0].kind == "stream_damaged"


def test_s17_s18_s19_usage_anywhere() -> None:
    def usage(n: int) -> dict[str, object]:
        return {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": n}}

    wire = (
        event({**delta(content="a"), "usage": None}) + event(usage(1)) + text("b") + stop() + event(usage(2))
    )
    reply = good(wire + event({"choices": [], "usage": None}) + DONE)
    assert (reply.text, reply.usage.output_tokens, reply.finish_reason) == ("ab", 2, "stop")


@pytest.mark.parametrize("word", [None, ""])
def test_s20_no_finish_word(word: str | None) -> None:
    stream = ChatStream()
    stream.feed(event({"choices": [{"delta": {"content": "a"}, "finish_reason": word}]}), 1.0)
    assert not stream.finished


def test_s38_an_event_above_the_limit_ends_the_request() -> None:
    big = b'data: {"choices":[{"delta":{"content":"' + b"x" * (16 * 1024 * 1024) + b'"}}]}\n\n'
    for pieces in ([text("a") + big], [text("a"), big[:100], big[100:-9], big[-9:]]):
        stream = ChatStream()
        for piece in pieces:
            stream.feed(piece, 1.0)
        assert stream.oversize
        assert stream.done
        reply, failure = stream.close(1.0, content_type="", t0=0.0)
        assert failure is None
        assert (reply.text, reply.finish_reason) == ("a", "length")
        assert "client_size" in reply.flags


def test_s38_a_reply_above_the_limit() -> None:
    stream = ChatStream(max_reply=10)
    stream.feed(text("12345", "67890", "x", "never") + stop() + DONE, 1.0)
    assert stream.oversize
    reply, failure = stream.close(1.0, content_type="", t0=0.0)
    assert (reply.text, failure) == ("1234567890x", None)
    body = ChatStream(max_reply=10)
    body.feed(whole({"content": "x" * 20}), 1.0)
    assert body.oversize
    assert "client_size" in body.close(1.0, content_type="", t0=0.0)[0].flags
    assert chat_module.MAX_REPLY == 64 * 1024 * 1024


def test_pieces_name_their_channel_as_they_come() -> None:
    stream = ChatStream()
    wire = event(delta(reasoning="r")) + text("<thi", "nk>in", "side</think>", "out") + stop() + DONE
    calls = event(delta(tool_calls=[{"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}}]))
    pieces = stream.feed(calls + wire, 1.0)
    assert pieces == [
        ("tool", "f{}"),
        ("thinking", "r"),
        ("thinking", "in"),
        ("thinking", "side"),
        ("answer", "out"),
    ]
    assert stream.generated


def test_reading_is_the_same_for_a_long_mixture() -> None:
    wire = (
        event(ROLE)
        + text("<think>é", "\n", "</think>", "🙂 [a] <b>")
        + stop("length")
        + event({"choices": []})
        + DONE
    )
    reply, failure = read(wire)
    assert failure is None
    assert (reply.answer, reply.cut) == ("🙂 [a] <b>", True)
