"""Rules S-21 to S-36: finish words, text, thinking, tool calls, refusals. Every wire is cut in three ways."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_benchkit.models.chat import ChatStream
from tests.unit.models.wires import DONE, ROLE, bad, delta, event, good, stop, text, whole

END = stop() + DONE


def call(**fields: Any) -> bytes:
    function = {k: fields.pop(k) for k in ("name", "arguments") if k in fields}
    return event(delta(tool_calls=[{**fields, "function": function}]))


def test_s21_finish_word_repeated() -> None:
    reply = good(call(index=0, id="a", name="f", arguments="{}") + stop("length") + stop("stop") + DONE)
    assert (reply.finish_reason, len(reply.tool_calls)) == ("length", 1)


@pytest.mark.parametrize(
    ("raw", "mapped"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("eos_token", "stop"),
    ],
)
def test_s22_finish_words(raw: str, mapped: str) -> None:
    reply = good(text("a") + stop(raw) + DONE)
    assert (reply.finish_raw, reply.finish_reason) == (raw, mapped)


def test_s23_framing_is_no_first_token() -> None:
    stream = ChatStream()
    stream.feed(event(ROLE) + event(delta(content="")), 1.0)
    assert not stream.generated
    stream.feed(text("a") + END, 2.0)
    reply, _ = stream.close(2.0, content_type="", t0=0.0)
    assert (reply.timing.ttft_ms, reply.timing.chunks) == (2000.0, 1)


def test_s24_no_text_is_not_the_word_null() -> None:
    reply = good(event(delta(content=None)) + event(delta()) + END)
    assert (reply.text, reply.answer, reply.timing.chunks) == ("", "", None)


@pytest.mark.parametrize(
    "choice",
    [
        {"delta": {"content": "abc"}},
        {"delta": {"content": {"text": "abc"}}},
        {"delta": {"content": {"type": "text", "content": "abc"}}},
        {"delta": {"content": [{"type": "text", "text": "a"}, "b", {"text": "c"}]}},
        {"message": {"role": "assistant", "content": "abc"}},
        {"text": "abc"},
    ],
)
def test_s25_text_in_any_shape(choice: dict[str, Any]) -> None:
    assert good(event({"choices": [choice]}) + END).text == "abc"
    assert good(json.dumps({"choices": [choice]}).encode()).text == "abc"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_s26_reasoning_fields(name: str) -> None:
    reply = good(event(delta(**{name: "hm "})) + event(delta(**{name: "so"})) + text("7") + END)
    assert (reply.thinking, reply.answer, reply.reasoning_field) == ("hm so", "7", name)
    assert reply.trace_status == "observed"


def test_s26_the_same_text_under_two_names_counts_once() -> None:
    details = [{"type": "reasoning.text", "text": "hm"}]
    reply = good(event(delta(reasoning="hm", reasoning_details=details)) + text("7") + END)
    assert (reply.thinking, reply.reasoning_field) == ("hm", "reasoning")
    alone = good(event(delta(reasoning_details=details, content="")) + text("7") + END)
    assert (alone.thinking, alone.reasoning_field) == ("hm", "reasoning_details")
    late = good(event(delta(reasoning="", thinking="a")) + event(delta(reasoning="a", thinking="b")) + END)
    assert (late.thinking, late.reasoning_field) == ("ab", "thinking")


def test_s26_thinking_parts_of_a_content_list() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "7"},
    ]
    reply = good(event(delta(content=parts)) + END)
    assert (reply.thinking, reply.answer) == ("hm", "7")


def test_trace_status() -> None:
    assert good(text("7") + END).trace_status == "unavailable"
    assert good(event(delta(reasoning=None, content="7")) + END).trace_status == "unavailable"
    assert good(event(delta(reasoning="", content="7")) + END).trace_status == "available_empty"
    assert good(text("<think></think>7") + END).trace_status == "available_empty"


@pytest.mark.parametrize(
    "tags", [("<think>", "</think>"), ("<Thinking>", "</THINKING>"), ("[THINK]", "[/THINK]")]
)
def test_s27_inline_tags(tags: tuple[str, str]) -> None:
    reply = good(text(f"{tags[0]}a", f"b{tags[1]}\n\n 7", "!") + END)
    assert (reply.thinking, reply.answer, reply.text) == ("ab", " 7!", f"{tags[0]}ab{tags[1]}\n\n 7!")


def test_s27_tags_of_the_profile_and_none() -> None:
    wire = text("◁think▷hm◁/think▷7") + END
    assert good(wire, tags=[("◁think▷", "◁/think▷")]).answer == "7"
    assert good(wire).answer == "◁think▷hm◁/think▷7"
    assert good(text("<think>a</think>b") + END, tags="none").answer == "<think>a</think>b"


def test_s28_only_the_closing_tag() -> None:
    reply = good(text("…so 12? no.</thi", "nk>The answer is 9") + END)
    assert (reply.thinking, reply.answer) == ("…so 12? no.", "The answer is 9")
    assert good(text("a</think>b</think>c") + END).answer == "c"
    seen = good(event(delta(reasoning="r")) + text("a</think>b") + END)
    assert (seen.thinking, seen.answer) == ("r", "a\nb")


def test_s29_unclosed() -> None:
    reply = good(text("<think>", "on and on") + stop("length") + DONE)
    assert (reply.answer, reply.thinking) == ("", "on and on")
    assert "thinking_unclosed" in reply.flags


def test_s30_thinking_is_never_promoted() -> None:
    reply = good(event(delta(reasoning_content="The answer is 4")) + END)
    assert (reply.answer, reply.text, reply.finish_reason) == ("", "", "stop")


def test_s31_fragments_merge_by_index() -> None:
    wire = (
        call(index=0, id="a", name="f", arguments="")
        + call(index=1, id="b", name="g", arguments='{"y"')
        + call(index=0, name="f", arguments='{"x": ')
        + call(index=1, arguments=": 2}")
        + call(index=0, arguments="1}")
    )
    calls = good(wire + stop("tool_calls") + DONE).tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_s31_a_missing_index_goes_by_position() -> None:
    both = [
        {"id": "a", "function": {"name": "f", "arguments": "{"}},
        {"function": {"name": "g", "arguments": "{"}},
    ]
    rest = [{"function": {"arguments": "}"}}, {"function": {"arguments": "}"}}]
    calls = good(event(delta(tool_calls=both)) + event(delta(tool_calls=rest)) + END).tool_calls
    assert [(c.name, c.arguments) for c in calls] == [("f", {}), ("g", {})]


def test_s32_parallel_calls_that_all_say_index_0() -> None:
    wire = call(index=0, id="a", name="f", arguments='{"x": 1}') + call(
        index=0, id="b", name="f", arguments='{"x": 2}'
    )
    calls = good(wire + call(index=0, id="c", name="g", arguments="{}") + END).tool_calls
    assert [(c.id, c.arguments) for c in calls] == [("a", {"x": 1}), ("b", {"x": 2}), ("c", {})]


def test_s32_a_fresh_id_on_each_fragment_is_still_one_call() -> None:
    wire = (
        call(index=0, id="a", name="f", arguments='{"x"')
        + call(index=0, id="b", arguments=": 1")
        + call(index=0, id="c", arguments="}")
    )
    calls = good(wire + END).tool_calls
    assert [(c.id, c.arguments) for c in calls] == [("a", {"x": 1})]


def test_s33_arguments_as_object_and_legacy_call() -> None:
    reply = good(call(index=0, id="a", name="f", arguments={"x": [1]}) + END)
    assert (reply.tool_calls[0].arguments, reply.finish_reason) == ({"x": [1]}, "stop")
    legacy = event(delta(function_call={"name": "f", "arguments": '{"a"'})) + event(
        delta(function_call={"arguments": ": 1}"})
    )
    assert [(c.name, c.arguments) for c in good(legacy + END).tool_calls] == [("f", {"a": 1})]
    old = whole({"content": None, "function_call": {"name": "f", "arguments": "{}"}})
    assert good(old).tool_calls[0].name == "f"


@pytest.mark.parametrize(("raw", "why"), [("{oops", "not JSON"), ("[1]", "but list"), ("NaN", "but float")])
def test_s34_arguments_that_are_not_an_object(raw: str, why: str) -> None:
    (found,) = good(call(index=0, id="a", name="f", arguments=raw) + END).tool_calls
    assert (found.arguments, found.raw) == (None, raw)
    assert why in (found.arguments_error or "")


def test_a_call_without_arguments() -> None:
    (found,) = good(call(index=0, id="a", name="f", arguments="") + END).tool_calls
    assert (found.arguments, found.arguments_error) == ({}, None)


def test_s35_refusal() -> None:
    reply = good(event(delta(refusal="I can")) + event(delta(refusal="not")) + END)
    assert (reply.refusal, reply.answer, reply.timing.ttfa_ms) == ("I cannot", "I cannot", 500.0)
    both = good(event(delta(refusal="no", content="but 7")) + END)
    assert (both.refusal, both.answer) == ("no", "but 7")


def test_s36_what_servers_measure_themselves() -> None:
    timings = {
        "prompt_n": 4,
        "cache_n": 6,
        "predicted_n": 3,
        "predicted_ms": 30.5,
        "prompt_ms": "x",
        "odd": 1,
    }
    extra = {
        "choices": [],
        "timings": timings,
        "metrics": {"queue_time_ms": 2},
        "system_fingerprint": "b1-\x1b[2J",
    }
    reply = good(text("abc") + stop() + event(extra) + DONE)
    assert reply.timing.server == {"predicted_ms": 30.5, "queue_time_ms": 2.0}
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.source) == (
        10,
        3,
        6,
        "timings",
    )
    assert reply.system_fingerprint == "b1-\\x1b[2J"


def test_a_leaked_template_token_is_cut() -> None:
    reply = good(text("7", "<|im_", "end|>") + END)
    assert (reply.answer, reply.text) == ("7", "7<|im_end|>")
    assert "stray_token" in reply.flags


def test_surrogates_in_calls_do_no_harm() -> None:
    part = {"function": {"name": "f", "arguments": '{"a": "\ud800"}'}}
    wire = event(delta(tool_calls=[part]), ascii=True)
    (found,) = good(wire + END).tool_calls
    assert found.arguments == {"a": "\ufffd"}


def test_a_whole_reply_without_text_is_not_an_error() -> None:
    assert good(event(ROLE) + END).answer == ""
    failure, _ = bad(event(ROLE))
    assert failure.kind == "stream_dropped"


def test_a_refusal_after_thinking_has_its_own_time() -> None:
    stream = ChatStream()
    stream.feed(event(delta(reasoning="hm")), 1.0)
    stream.feed(event(delta(refusal="no")), 3.0)
    stream.feed(END, 4.0)
    timing = stream.close(4.0, content_type="", t0=0.0)[0].timing
    assert (timing.ttft_ms, timing.ttfa_ms) == (1000.0, 3000.0)
