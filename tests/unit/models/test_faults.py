"""H-8, H-9, O-4: what a failing server's answer means."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.models.faults import category_of, failure_of_body, failure_of_error, quote, retry_after


@pytest.mark.parametrize(
    ("status", "category"),
    [
        *((s, "busy") for s in (408, 425, 429, 500, 502, 503, 504, 520, 524, 529)),
        *((s, "refusing") for s in (401, 402, 403, 404)),
        *((s, "client") for s in (400, 405, 413, 422, 501, 525, 302)),
    ],
)
def test_class_by_status(status: int, category: str) -> None:
    assert category_of(status) == category
    assert failure_of_body(status, b"", "").category == category


@pytest.mark.parametrize(
    "body", [b'["a", {"message": "b"}]', b"<html>slow down</html>", b"", b"\xff\xfe", b"null", b"7"]
)
def test_h8_a_body_of_any_shape(body: bytes) -> None:
    failure = failure_of_body(429, body, "text/html")
    assert (failure.kind, failure.category, failure.status, failure.retryable) == (
        "http_429",
        "busy",
        429,
        True,
    )
    assert failure.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "m"}}, "m"),
        ({"error": "m"}, "m"),
        ({"message": "m"}, "m"),
        ({"detail": [{"loc": ["x"], "msg": "m"}, {"msg": "n"}]}, "m; n"),
        ({"error": {"message": "a\nb\x1b[0m\u202e"}}, "a\\nb\\x1b[0m\\u202e"),
        ({"error": {"message": "x" * 9000}}, "x" * 2000),
    ],
)
def test_the_servers_own_words(body: object, message: str) -> None:
    assert failure_of_body(400, json.dumps(body).encode(), "application/json").message == message


@pytest.mark.parametrize(
    ("error", "need", "window"),
    [
        ({"type": "exceed_context_size_error", "n_prompt_tokens": 1228, "n_ctx": 512}, 1228, 512),
        ({"code": "context_length_exceeded", "message": "no"}, None, None),
        (
            {
                "code": "context_length_exceeded",
                "message": "This model's maximum context length is 8192 tokens. "
                "However, your messages resulted in 9001 tokens.",
            },
            9001,
            8192,
        ),
        ({"message": "?", "prompt_tokens": 10, "max_model_len": 5}, 10, 5),
    ],
)
def test_o4_context_errors(error: dict[str, object], need: int | None, window: int | None) -> None:
    failure = failure_of_body(400, json.dumps({"error": error}).encode(), "")
    assert (failure.kind, failure.category) == ("context_too_small", "client")
    assert (failure.need_tokens, failure.window_tokens) == (need, window)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "maximum context length is 8192 tokens, you requested 9000 tokens"},
        {"message": "x", "n_ctx": 512},
        {"message": "x", "type": ["exceed_context_size_error"]},
        {"message": "x", "n_prompt_tokens": True, "n_ctx": 512},
    ],
)
def test_o4_words_alone_are_an_ordinary_400(error: dict[str, object]) -> None:
    assert failure_of_body(400, json.dumps({"error": error}).encode(), "").kind == "http_400"


def test_a_context_word_in_a_server_fault_stays_a_server_fault() -> None:
    body = json.dumps({"error": {"type": "exceed_context_size_error", "message": "x"}}).encode()
    assert failure_of_body(503, body, "").kind == "http_503"


def test_after_output_is_never_repeated() -> None:
    assert not failure_of_error({"code": 503, "message": "m"}, after_output=True).retryable


NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("7200", 7200.0),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sun, 06 Nov 1994 08:49:07 GMT", None),
        ("-3", None),
        ("soon", None),
        ("nan", None),
        ("1e9", None),
        ("", None),
        ("٣", None),
        ("Sun, 99 Nov 1994 08:49:47 GMT", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": value}, NOW) == seconds
    assert retry_after({"retry-after": value}, NOW) == seconds


def test_no_retry_after() -> None:
    assert retry_after({"Date": "x"}, NOW) is None


@given(body=st.binary(max_size=300), status=st.integers(100, 999))
def test_any_body_is_survivable(body: bytes, status: int) -> None:
    assert failure_of_body(status, body, "").message.isprintable()


@given(text=st.text(max_size=100), header=st.text(max_size=40))
def test_quotes_are_printable(text: str, header: str) -> None:
    assert quote(text).isprintable()
    retry_after({"Retry-After": header}, NOW)


def test_deep_bodies_are_survivable() -> None:
    deep = b"[" * 900 + b"]" * 900
    assert failure_of_body(500, deep, "").kind == "http_500"
    assert failure_of_body(500, b"[" * 200_000, "").kind == "http_500"
