from __future__ import annotations

import time
import warnings
from typing import Any

import pytest

from pytest_benchkit.reply import Reply, ToolCall
from pytest_benchkit.scoring.bfcl.calls import native, written
from tests.unit.scoring.bfcl.rows import broken, call, calling


def read(text: str, language: str = "python") -> list[tuple[str, dict[str, Any]]] | None:
    calls = written(text, language).calls
    return None if calls is None else [(one.name, one.arguments) for one in calls]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[f(a=1), g.h(b='x', c=[1, 2.5, None])]",
         [("f", {"a": 1}), ("g_h", {"b": "x", "c": [1, 2.5, None]})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("f(a=1), f(a=2)", [("f", {"a": 1}), ("f", {"a": 2})]),
        ("```python\n[f(a=1)]\n```", [("f", {"a": 1})]),
        ("`f(a=1)`", [("f", {"a": 1})]),
        ("[f(a=-1, b=2*3, c=(1, 'x'), d={'k': True})]",
         [("f", {"a": -1, "b": 6, "c": (1, "x"), "d": {"k": True}})]),
        ("[f(a=name, b=g(1), c=h(x=1), d=t[0], e=...)]",
         [("f", {"a": "name", "b": "g(1)", "c": {"h": {"x": 1}}, "d": "t[0]", "e": "..."})]),
        ("[f(1, a=2)]", [("f", {"a": 2})]),
        ("[f()]", [("f", {})]),
        (r"[f(a='\d+')]", [("f", {"a": "\\d+"})]),
        ("[f(**x)]", None),
        ("[f(a=1) for x in y]", None),
        ("[f(a=lambda: 1)]", None),
        ("[f(a={1: 2, **x})]", None),
        ("[f(a={[]: 2})]", None),
        ("[f(a=9**9**9)]", None),
        ("[f(a=1/0)]", None),
        ("I cannot help with that.", None),
        ("None", None),
        ("[]", None),
        ("", None),
        ("[f(a=1)] is what I would call", None),
        ("[f(a=" + "(" * 5000, None),
        ("[f(a=" + "-" * 9000 + "1)]", None),
        ("[f(a=" + "1+" * 9000 + "1)]", None),
        ("[f(a='\x00')]", None),
    ],
)  # fmt: skip
def test_python_calls(text: str, wanted: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(text) == wanted


def test_raw_strings_keep_their_backslashes() -> None:
    assert read(r"[f(a=r'\w')]") == [("f", {"a": "\\w"})]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('[A.f(a="x, y", b=5L)]', [("A_f", {"a": "x, y", "b": "5L"})]),
        ("f(a=new HashMap<String, List<Integer>>() {{ put(\"k\", 1); }}, b=true);",
         [("f", {"a": 'new HashMap<String, List<Integer>>() {{ put("k", 1); }}', "b": "true"})]),
        ("[f(a=[1, {b: ')'}]), g(c='x')]", [("f", {"a": "[1, {b: ')'}]"}), ("g", {"c": "x"})]),
        ("f(a = x => x + 1, y)", [("f", {"a": "x => x + 1"})]),
        ("f()", [("f", {})]),
        ("f(a='it\\'s')", [("f", {"a": "it\\'s"})]),
        ("f(a=1", None),
        ("f(a=1) and more", None),
        ("no call", None),
        ("f(a='x)", None),
    ],
)  # fmt: skip
def test_java_and_javascript_calls(text: str, wanted: Any) -> None:
    assert read(text, "java") == wanted
    assert read(text, "javascript") == wanted


def test_long_replies_are_not_read_as_calls() -> None:
    found = written("[f(a='" + "x" * 40_000 + "')]", "python")
    assert (found.calls, found.attempted, found.clipped) == (None, True, True)


def test_native_calls_are_decoded_together_or_not_at_all() -> None:
    good = call(city="Rome")
    assert native(calling(good)).calls == (good,)
    assert native(calling(good)).shown == 'weather_today({"city": "Rome"})'
    mixed = calling(good)
    mixed.tool_calls.append(broken())
    found = native(mixed)
    assert (found.calls, found.attempted) == (None, True)
    assert (native(Reply.of("f(a=1)")).calls, native(Reply.of("f(a=1)")).attempted) == (None, False)


def test_empty_arguments_are_no_arguments() -> None:
    decoded = native(Reply(tool_calls=[ToolCall("f", {}, "")])).calls
    assert decoded is not None
    assert decoded[0].arguments == {}


@pytest.mark.parametrize(
    ("text", "attempted"),
    [
        ("Sure! I will call: [get_weather(city='X')]", True),
        ("Here it is:\n```python\n[get.weather(city='X')]\n```", True),
        ("I call get_weather(city='X').", True),
        ("I call get.weather('X').", True),
        ("Now [unknown_one(a=1), other()]", True),
        ('{"name": "get_weather", "arguments": {"city": "X"}}', True),
        ('<tool_call>\n{"name": ', True),
        ("[get_weather(city=", True),
        ("A call of get_weather(city) would be needed, get_weather() knows no time.", False),
        ("The program is: print(sep='') or [int(x) for x in y]", False),
        ("f(x) = 2x (see [1])", True),  # begins like a call
        ("The function f(x) = 2x (see [1])", False),
        ("Her name: none of them fits.", False),
        ("x" * 9000 + " [get_weather(city='X')]", True),
        ("x " * 9000, False),
    ],
)
def test_attempts_are_seen_wherever_they_stand(text: str, attempted: bool) -> None:
    found = written(text, "python", ["get.weather"])
    assert (found.calls, found.attempted) == (None, attempted)


@pytest.mark.parametrize(
    "piece", ["a(", "[", "a.", '"name":"', "get_weather(", " ", "<", "a" * 99 + "(", "[f( "]
)
def test_attempts_are_looked_for_in_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    written(text, "python", ["get_weather"])
    assert time.process_time() - started < 0.2
