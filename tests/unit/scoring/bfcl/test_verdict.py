from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.reply import Reply, ToolCall
from pytest_benchkit.score import Score
from pytest_benchkit.scoring.bfcl import asking, golds
from pytest_benchkit.scoring.bfcl.verdict import score
from tests.unit.scoring.bfcl.rows import CLOCK, WEATHER, broken, call, calling, gold

CUT_CALL = Reply(tool_calls=[broken()], finish_reason="length")
ROME = [gold(city=["Rome"], days=[3, ""])]


def guarded(found: Score) -> float:
    (reading,) = found.also
    assert reading.rule == "guarded"
    return reading.score


@pytest.mark.parametrize(
    ("reply", "value", "rule", "flags", "kept"),
    [
        (Reply.of("None of them fits."), 1.0, "no-call", (), 1.0),
        (calling(call(city="Rome")), 0.0, "call", (), 0.0),
        (Reply(tool_calls=[broken()]), 1.0, "no-call", ("unparseable_credited",), 0.0),
        (CUT_CALL, 1.0, "no-call", ("unparseable_credited",), 0.0),
        (Reply.of("I was", finish_reason="length"), 1.0, "no-call", ("cut_credited",), 0.0),
        (Reply.of(""), 1.0, "no-call", ("empty_credited",), 0.0),
        (Reply.of(" \n"), 1.0, "no-call", ("empty_credited",), 0.0),
    ],
)  # fmt: skip
def test_rows_where_no_call_is_right(
    reply: Reply, value: float, rule: str, flags: tuple[str, ...], kept: float
) -> None:
    for subset in ("irrelevance", "live_irrelevance"):
        found = score(reply, [WEATHER], [], subset)
        assert (found.value, found.rule, found.flags, guarded(found)) == (value, rule, flags, kept)
        assert found.expected == "no call"


def test_live_relevance_wants_some_call() -> None:
    assert score(calling(call("anything")), [WEATHER], [], "live_relevance").value == 1.0
    missed = score(Reply.of("no"), [WEATHER], [], "live_relevance")
    assert (missed.value, missed.rule, missed.extracted) == (0.0, "no-call", None)


def test_right_call_and_what_is_told_of_a_wrong_one() -> None:
    right = score(calling(call(city="Rome")), [WEATHER], ROME, "simple_python")
    assert (right.value, right.rule, guarded(right)) == (1.0, "ast-match", 1.0)
    assert right.extracted == 'weather_today({"city": "Rome"})'
    assert right.expected == "weather.today(city='Rome', [days=3])"
    wrong = score(calling(call(city="Oslo")), [WEATHER], ROME, "simple_python")
    assert (wrong.value, wrong.rule) == (0.0, "wrong-value")
    assert wrong.reason == 'wrong-value: city; answered weather_today({"city": "Oslo"})'


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply.of("It rains."), "no-call: the reply calls nothing; expected weather.today(city='Rome'"),
        (Reply(answer="so", tool_calls=[broken()]), "no-call: a call cannot be parsed; expected weather"),
        (Reply.of(""), None),
        (Reply.of("so", finish_reason="length"), None),
    ],
)  # fmt: skip
def test_no_call_where_one_is_wanted(reply: Reply, words: str | None) -> None:
    found = score(reply, [WEATHER], ROME, "simple_python")
    assert (found.value, found.rule, found.extracted, guarded(found)) == (0.0, "no-call", None, 0.0)
    assert found.reason is None if words is None else (found.reason or "").startswith(words)


def test_greedy_miss_is_flagged() -> None:
    wanted = [gold(city=["Rome", "Oslo"]), gold(city=["Rome"])]
    found = score(calling(call(city="Rome"), call(city="Oslo")), [WEATHER], wanted, "parallel")
    assert (found.value, found.flags) == (0.0, ("greedy_miss",))


def test_prompted_replies_are_read_from_their_text() -> None:
    text = Reply.of("[weather.today(city='Rome')]")
    assert score(text, [WEATHER], ROME, "simple_python", prompted=True).rule == "ast-match"
    assert score(text, [WEATHER], ROME, "simple_python").rule == "no-call"
    assert score(text, [WEATHER], [], "irrelevance", prompted=True).rule == "call"
    half = score(Reply.of("[weather.today(city="), [WEATHER], [], "irrelevance", prompted=True)
    assert (half.value, half.flags, guarded(half)) == (1.0, ("unparseable_credited",), 0.0)
    told = Reply.of("Sure! I will call: [weather.today(city='Rome')]")
    found = score(told, [WEATHER], [], "irrelevance", prompted=True)
    assert (found.value, found.flags, guarded(found)) == (1.0, ("unparseable_credited",), 0.0)
    missed = score(told, [WEATHER], ROME, "simple_python", prompted=True)
    assert (missed.reason or "").startswith("no-call: a call cannot be parsed")
    # tool calls do not count where none were offered
    assert score(calling(call(city="Rome")), [WEATHER], ROME, "simple_python", prompted=True).value == 0.0


def test_calls_made_from_golds_are_right_both_ways() -> None:
    wanted = [
        gold(
            city=["", "Rome"],
            days=["", 3],
            limit=[2.5],
            hours=[[1, 2]],
            named=[["a", "b"]],
            wind=[True],
            at=[{"lat": [1.0, ""], "lon": ["", 2]}],
            spots=[[{"lat": [1]}, {"lat": [2]}]],
        ),
        gold("clock", zone=["UTC"]),
    ]
    calls = golds.right_calls([WEATHER, CLOCK], wanted, "parallel_multiple")
    assert [name for name, _ in calls] == ["weather.today", "clock"]
    for reply, prompted in (
        (golds.as_reply(calls), False),
        (Reply.of(golds.as_text(calls, "parallel_multiple")), True),
    ):
        found = score(reply, [WEATHER, CLOCK], wanted, "parallel_multiple", prompted=prompted)
        assert found.rule == "ast-match", found.reason


JAVA = {
    "name": "Job.run",
    "description": "Runs.",
    "parameters": {
        "type": "dict",
        "properties": {
            "id": {"type": "long", "description": "Which."},
            "ratio": {"type": "float", "description": "How."},
            "tags": {"type": "ArrayList", "items": {"type": "String"}, "description": "Tags."},
            "codes": {"type": "Array", "items": {"type": "integer"}, "description": "Codes."},
            "env": {"type": "HashMap", "description": "Names."},
            "on": {"type": "boolean", "description": "On."},
            "name": {"type": "String", "description": "A name."},
        },
        "required": ["id"],
    },
}
JAVA_GOLD = [
    gold(
        "Job.run",
        id=[7],
        ratio=[0.5],
        tags=[["a", "b"]],
        codes=[[1, 2]],
        env=[{"K": ["v"], "n": [1]}],
        on=[True],
        name=["x, y"],
    )
]


def test_java_calls_from_golds() -> None:
    calls = golds.right_calls([JAVA], JAVA_GOLD, "simple_java")
    assert calls[0][1]["id"] == "7L"
    assert score(golds.as_reply(calls), [JAVA], JAVA_GOLD, "simple_java").rule == "ast-match"
    text = golds.as_text(calls, "simple_java")
    assert score(Reply.of(text), [JAVA], JAVA_GOLD, "simple_java", prompted=True).rule == "ast-match", text


def test_tools_have_json_schema_types_and_plain_names() -> None:
    (tool,) = asking.tools([WEATHER], "simple_python")
    function = tool["function"]
    assert (tool["type"], function["name"]) == ("function", "weather_today")
    assert function["description"] == "Weather of a place. The function is written in Python 3."
    schema = function["parameters"]
    assert (schema["type"], schema["required"]) == ("object", ["city"])
    kinds = {name: node["type"] for name, node in schema["properties"].items()}
    assert kinds == {
        "city": "string",
        "days": "integer",
        "limit": "number",
        "hours": "array",
        "named": "array",
        "wind": "boolean",
        "at": "object",
        "spots": "array",
    }
    assert schema["properties"]["limit"]["format"] == "float"
    assert schema["properties"]["limit"]["description"] == "Degrees. A number with a fraction (float)."
    assert schema["properties"]["at"]["properties"]["lat"]["type"] == "number"
    assert schema["properties"]["spots"]["items"] == {"type": "object"}
    assert WEATHER["parameters"]["type"] == "dict"  # upstream's stays as it is


def test_java_parameters_are_texts_with_their_type_told() -> None:
    (tool,) = asking.tools([JAVA], "simple_java")
    nodes = tool["function"]["parameters"]["properties"]
    assert {node["type"] for node in nodes.values()} == {"string"}
    assert nodes["tags"] == {
        "type": "string",
        "description": "Tags. Give it as the text of a Java 8 expression of the type ArrayList. "
        "Its elements are of the type String.",
    }


def test_system_message_goes_before_the_row_s_own() -> None:
    text = asking.system_message([WEATHER], "simple_python")
    assert "weather.today" in text
    assert "[first_function(parameter=value" in text
    user = {"role": "user", "content": "q"}
    assert asking.with_system([user], text) == [{"role": "system", "content": text}, user]
    own = {"role": "system", "content": "Be kind."}
    assert asking.with_system([own, user], "T") == [{"role": "system", "content": "T\n\nBe kind."}, user]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
PARAMETERS = st.sampled_from([*WEATHER["parameters"]["properties"], "id", "tags", "codes", "env", "x"])
TOOL_CALLS = st.builds(
    ToolCall,
    st.sampled_from(["weather_today", "clock", "Job_run", "", "\ud800"]) | st.text(max_size=8),
    st.none() | st.dictionaries(PARAMETERS | st.text(max_size=4), JSON, max_size=6),
    st.text(max_size=20),
)
CELLS: list[tuple[list[dict[str, Any]], list[dict[str, Any]], str]] = [
    ([WEATHER], [gold(city=["R"], hours=[[1], ""], at=[{"lat": [1]}], spots=["", [{"a": [1]}]])], "multiple"),
    ([WEATHER, CLOCK], [gold(city=["Rome"]), gold("clock", zone=["UTC"])], "parallel_multiple"),
    ([JAVA], JAVA_GOLD, "simple_java"),
    ([WEATHER], [], "irrelevance"),
    ([WEATHER], [], "live_relevance"),
]  # fmt: skip


@given(st.lists(TOOL_CALLS, max_size=3), st.text(max_size=40), st.sampled_from(["stop", "length", None]))
def test_total_for_any_calls_and_text(calls: list[ToolCall], text: str, finish: str | None) -> None:
    reply = Reply(text=text, answer=text, tool_calls=calls, finish_reason=finish)
    for functions, wanted, subset in CELLS:
        for prompted in (False, True):
            found = score(reply, functions, wanted, subset, prompted=prompted)
            assert found.value in (0.0, 1.0)
            assert guarded(found) <= found.value
            assert found.rule is not None


@given(st.text(alphabet="[](){}'\",=.:\\ \nfgr1-*+<>", max_size=60))
def test_total_for_any_written_calls(text: str) -> None:
    for functions, wanted, subset in CELLS:
        assert score(Reply.of(f"[f({text}"), functions, wanted, subset, prompted=True).value in (0.0, 1.0)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [deep(900), "x" * 1_000_000, ["x"] * 20_000, {"a": "b" * 100_000}, 10**4000]
)
@pytest.mark.parametrize("name", ["city", "hours", "at", "spots", "limit"])
def test_huge_and_deep_arguments_cost_little(name: str, value: Any) -> None:
    wanted = [
        gold(city=["Rome"], **{name: [[1], "x", {"lat": [1.0]}]}) if name != "city" else gold(city=["Rome"])
    ]
    arguments = {"city": "Rome", name: value}
    reply = Reply(tool_calls=[ToolCall("weather_today", arguments, "{}")])
    started = time.process_time()
    assert score(reply, [WEATHER], wanted, "simple_python").value == 0.0
    assert time.process_time() - started < 0.15


@pytest.mark.parametrize(
    "piece", ["(", "[", "f(", "f(a=", "'", '"\\', "-", "new A<", "f(a=1),", "{1:", "x ", "\\"]
)
def test_long_written_replies_cost_little(piece: str) -> None:
    reply = Reply.of("[f(a=" + piece * (100_000 // len(piece)))
    short = Reply.of("[f(a=" + piece * (8_000 // len(piece)))
    for functions, wanted, subset in CELLS[:3]:
        for one in (reply, short):
            started = time.process_time()
            score(one, functions, wanted, subset, prompted=True)
            assert time.process_time() - started < 0.3
