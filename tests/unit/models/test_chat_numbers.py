"""Tokens (T-1, T-4) and times (T-5, T-7, T-8) of a reply."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.models import stopwatch
from pytest_benchkit.models.chat import ChatStream
from tests.unit.models.wires import DONE, ROLE, delta, event, stop, text

if TYPE_CHECKING:
    from pytest_benchkit.reply import Reply


def play(*steps: tuple[float, bytes], t0: float = 0.0, end: float | None = None) -> Reply:
    stream = ChatStream()
    for at, wire in steps:
        stream.feed(wire, at)
    reply, failure = stream.close(steps[-1][0] if end is None else end, content_type="", t0=t0)
    assert failure is None
    return reply


def counts(**usage: Any) -> bytes:
    return event({"choices": [], "usage": usage})


def test_t5_framing_does_not_start_the_clock() -> None:
    reply = play(
        (1.0, event(ROLE)), (2.0, text("a")), (2.5, stop() + counts(completion_tokens=1) + DONE), t0=1.0
    )
    assert (reply.timing.ttft_ms, reply.timing.e2e_ms, reply.timing.end_ms) == (1000.0, 1000.0, 1500.0)
    assert reply.timing.decode_tok_s is None
    assert "single_chunk" in reply.flags


def test_t7_decode_speed_is_measured_between_chunks() -> None:
    steps = [(5.0 + i * 0.02, text("a")) for i in range(11)]
    reply = play(*steps, (6.0, stop() + counts(prompt_tokens=1, completion_tokens=11) + DONE))
    assert reply.timing.decode_tok_s == pytest.approx(50.0)
    assert reply.timing.itl_p50_ms == pytest.approx(20.0)
    assert (reply.timing.chunk_gap_p50_ms, reply.timing.itl_p99_ms) == (None, None)


def test_gaps_of_chunks_with_several_tokens_have_another_name() -> None:
    steps = [(1.0 + i * 0.02, text("a b c")) for i in range(101)]
    reply = play(*steps, (4.0, stop() + counts(prompt_tokens=1, completion_tokens=303) + DONE))
    assert reply.timing.itl_p50_ms is None
    assert reply.timing.chunk_gap_p50_ms == pytest.approx(20.0)
    assert reply.timing.chunk_gap_p99_ms == pytest.approx(20.0)


def test_counts_that_come_later() -> None:
    reply = play((1.0, text("a")), (1.1, text("b")), (1.2, stop() + DONE))
    assert (reply.timing.decode_tok_s, reply.flags) == (None, [])
    reply.usage.output_tokens = 6
    stopwatch.with_tokens(reply)
    assert reply.timing.decode_tok_s == pytest.approx(50.0)


def test_first_answer_comes_after_thinking() -> None:
    inline = play((1.0, text("<think>hm")), (2.0, text("</think>\n")), (3.0, text("7")), (4.0, stop() + DONE))
    assert (inline.timing.ttft_ms, inline.timing.ttfa_ms) == (1000.0, 3000.0)
    field = play((1.0, event(delta(reasoning="hm"))), (2.0, text("7")), (3.0, stop() + DONE))
    assert (field.timing.ttft_ms, field.timing.ttfa_ms) == (1000.0, 2000.0)
    only = play((1.0, event(delta(reasoning="hm"))), (3.0, stop() + DONE))
    assert (only.timing.ttft_ms, only.timing.ttfa_ms) == (1000.0, None)


def test_tool_calls_count_as_generated_text() -> None:
    part = event(delta(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": "{}"}}]))
    assert play((1.0, event(ROLE)), (2.0, part), (3.0, stop() + DONE)).timing.ttft_ms == 2000.0


def test_times_are_never_negative() -> None:
    timing = play((1.0, text("a")), (1.1, stop() + DONE), t0=9.0).timing
    assert (timing.ttft_ms, timing.e2e_ms, timing.end_ms) == (0.0, 0.0, 0.0)


def test_t1_zero_beside_text_is_no_count() -> None:
    reply = play((1.0, text("a b")), (1.1, stop() + counts(prompt_tokens=0, completion_tokens=0) + DONE))
    assert (reply.usage.output_tokens, reply.usage.input_tokens, reply.usage.source) == (None, None, None)
    assert "usage_zero" in reply.flags
    empty = play((1.0, event(ROLE)), (1.1, stop() + counts(prompt_tokens=3, completion_tokens=0) + DONE))
    assert (empty.usage.output_tokens, "usage_zero" in empty.flags) == (0, False)


def test_t1_timings_stand_in_for_usage() -> None:
    both = event(
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}, "timings": {"predicted_n": 5}}
    )
    reply = play((1.0, text("a b")), (1.1, stop() + both + DONE))
    assert (reply.usage.output_tokens, reply.usage.source) == (5, "timings")


@pytest.mark.parametrize("names", list(product([None, 0, 7], repeat=4)))
def test_t4_every_subset_of_counts(names: tuple[int | None, ...]) -> None:
    output, input, predicted, prompt = names
    told = {"completion_tokens": output, "prompt_tokens": input}
    chunk = {"choices": [], "usage": told, "timings": {"predicted_n": predicted, "prompt_n": prompt}}
    reply = play(
        (1.0, event(delta(reasoning="a"))), (1.1, event(delta(reasoning="b"))), (1.2, stop() + event(chunk))
    )
    assert reply.usage.output_tokens == (output or predicted or None)
    assert reply.usage.input_tokens == (input or prompt or None)
    assert (reply.timing.decode_tok_s is None) == (reply.usage.output_tokens is None)


def test_hosted_details() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
        "cost": 0.25,
    }
    found = play((1.0, text("a")), (1.1, stop() + counts(**usage))).usage
    assert (found.cached_tokens, found.reasoning_tokens, found.cost_usd) == (4, 2, 0.25)
    assert play((1.0, text("a") + stop() + counts(prompt_cache_hit_tokens=3))).usage.cached_tokens == 3
    odd = {"prompt_tokens": True, "completion_tokens": "12", "cost": float("nan")}
    found = play((1.0, text("a") + stop() + counts(**odd))).usage
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (None, 12, None)
