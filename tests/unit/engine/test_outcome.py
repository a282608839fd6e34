"""The ten outcomes: one pure function, its order, and the one-line reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.engine.outcome import REASON_CHARS, Classified, classify, one_line, reason
from pytest_benchkit.reply import Exchange, Failure, Reply, ToolCall
from pytest_benchkit.score import Outcome, Score

READ = Score(0.0, "17", "18", "hash-number")
NOTHING = Score(0.0, None, "18", "none")


def reply(answer: str = "17", **fields: object) -> Exchange:
    fields.setdefault("finish_reason", "stop")
    return Exchange(Reply(text=answer, answer=answer, **fields))  # type: ignore[arg-type]


def failed(kind: str, category: str = "busy", status: int | None = None) -> Exchange:
    return Exchange(Reply(), Failure(kind, "words", category, status))


TABLE = [
    (failed("context_too_small"), None, Outcome.SKIPPED, "context_too_small"),
    (failed("context_cut"), None, Outcome.SKIPPED, "context_cut"),
    (failed("no_vision", "skip"), None, Outcome.SKIPPED, "no_vision"),
    (failed("http_503", status=503), None, Outcome.HARNESS_ERROR, "http_503"),
    (failed("rate_limited", "stop"), None, Outcome.HARNESS_ERROR, "rate_limited"),
    (failed("connect_failed", "connection"), None, Outcome.HARNESS_ERROR, "connect_failed"),
    (failed("tls_failed", "connection"), None, Outcome.HARNESS_ERROR, "tls_failed"),
    (failed("stream_dropped", "after_output"), None, Outcome.HARNESS_ERROR, "stream_dropped"),
    (failed("stream_damaged", "after_output"), None, Outcome.HARNESS_ERROR, "stream_damaged"),
    (failed("empty_body"), None, Outcome.HARNESS_ERROR, "empty_body"),
    (failed("server_unresponsive"), None, Outcome.HARNESS_ERROR, "server_unresponsive"),
    (failed("exact_cycle", "loop"), None, Outcome.LOOP_KILLED, "exact_cycle"),
    (failed("numeric_cycle", "loop"), None, Outcome.LOOP_KILLED, "numeric_cycle"),
    (failed("request", "deadline"), None, Outcome.TIMED_OUT, "request"),
    (failed("task", "deadline"), None, Outcome.TIMED_OUT, "task"),
    (reply(), None, Outcome.HARNESS_ERROR, "scorer_crash"),
    (reply(), Score(1.0, "18"), Outcome.CORRECT, None),
    (reply(finish_reason="length"), Score(1.0, "18"), Outcome.CORRECT, None),
    (reply(), Score(0.5, "x"), Outcome.PARTIAL, None),
    (reply(finish_reason="length"), Score(0.5, "x"), Outcome.PARTIAL, None),
    (reply(finish_reason="length"), READ, Outcome.TRUNCATED, "max_tokens"),
    (reply(finish_reason="length", flags=["context_full"]), READ, Outcome.TRUNCATED, "context_full"),
    (reply("", thinking="hm", flags=["thinking_unclosed"]), NOTHING, Outcome.TRUNCATED, "thinking_unclosed"),
    (reply(flags=["stop_in_thinking"]), READ, Outcome.TRUNCATED, "stop_in_thinking"),
    (reply(finish_reason="length", flags=["client_size"]), READ, Outcome.TRUNCATED, "client_size"),
    (reply("", thinking="x" * 42_000, finish_reason="length"), NOTHING, Outcome.TRUNCATED, "max_tokens"),
    (reply(" \n"), NOTHING, Outcome.NO_ANSWER, "empty"),
    (reply("", thinking="hm"), NOTHING, Outcome.NO_ANSWER, "thinking_only"),
    (reply("", tool_calls=[ToolCall("f")]), NOTHING, Outcome.NO_ANSWER, "tool_calls_only"),
    (reply("", finish_reason="content_filter"), NOTHING, Outcome.NO_ANSWER, "content_filter"),
    (reply("I like tea."), NOTHING, Outcome.NO_ANSWER, "unparseable"),
    (reply(), READ, Outcome.INCORRECT, None),
]


@pytest.mark.parametrize(("exchange", "score", "outcome", "detail"), TABLE)
def test_each_code(exchange: Exchange, score: Score | None, outcome: Outcome, detail: str | None) -> None:
    assert classify(exchange, score, extracts=True) == Classified(outcome, detail)


def test_a_suite_that_does_not_extract_has_no_unparseable_answers() -> None:
    assert classify(reply("tea"), Score(0.0), extracts=False).outcome is Outcome.INCORRECT
    assert classify(reply(""), Score(0.0), extracts=False).detail == "empty"


@pytest.mark.parametrize(
    ("exchange", "score", "line"),
    [
        (reply(), READ, "answered 17, expected 18 [rule: hash-number]"),
        (reply("tea"), NOTHING, "no answer: unparseable, expected 18"),
        (reply(finish_reason="length"), READ, "cut: max_tokens, expected 18"),
        (failed("http_503"), None, "http_503: words"),
        (failed("exact_cycle", "loop"), None, "exact_cycle: words"),
        (reply(), Score(0.5, "x", "y", "r"), "scored 0.50, answered x, expected y [rule: r]"),
        (reply(), Score(0.0, "x", reason="own words"), "own words"),
    ],
)
def test_reasons(exchange: Exchange, score: Score | None, line: str) -> None:
    classified = classify(exchange, score, extracts=True)
    assert reason(classified, score, exchange.failure, exchange.reply) == line


@given(st.text(), st.text())
def test_any_text_gives_one_printable_line(read: str, gold: str) -> None:
    score = Score(0.0, read, gold, "rule")
    line = reason(Classified(Outcome.INCORRECT), score, None, Reply())
    assert len(line) <= REASON_CHARS
    assert len(line.splitlines()) <= 1 or "\u2028" in line or "\u2029" in line
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in line)
    line.encode("utf-8")
    assert line.endswith("[rule: rule]")


def test_long_text_keeps_its_rule() -> None:
    assert one_line("x" * 500, " [rule: r]").endswith("... [rule: r]")
