"""What CRUXEval replies say: the assertion, its side, and replies that try otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.scoring import assertions
from pytest_benchkit.scoring.assertions import Side, call_only_computes, literal, mentions_f, read
from pytest_benchkit.scoring.syntax import parsed

OUTPUTS = [
    ("[ANSWER]\nassert f(1) == 2\n[/ANSWER]", "2", "answer-block-assertion"),
    (
        "[ANSWER]assert f(1) == 3[/ANSWER] wrong\n[ANSWER]assert f(1) == 2[/ANSWER]",
        "2",
        "answer-block-assertion",
    ),
    ("assert f('a') == 2;", "2", "assertion"),
    ("assert f('a') == 2, 'because'", "2", "assertion"),
    ("assert f('a') == \\\n  2", "2", "assertion"),
    ("assert 2 == f('a')", "2", "assertion"),
    ("assert f('a == b') == 'c == d'", "'c == d'", "assertion"),
    ("assert f(1) == [\n 1,\n 2,\n]", "[1, 2]", "assertion"),
    ("so\n```python\nassert f(1) == 2\n```\nDone", "2", "assertion"),
    ("thinking [/THOUGHT]\n2\n[/ANSWER]", "2", "answer-block-value"),
    ("[THOUGHT]x[/THOUGHT] {'a': 1}", "{'a': 1}", "answer-block-value"),
    ("2", "2", "bare-value"),
    ("'x' * 3", "'x' * 3", "bare-value"),
    ("I think it is two", None, "none"),
    ("", None, "none"),
    ("assert f(1) != 2", None, "none"),
    ("assert f(1) == 2 == 3", None, "none"),
]


@pytest.mark.parametrize(("text", "expression", "rule"), OUTPUTS)
def test_outputs(text: str, expression: str | None, rule: str) -> None:
    found = read(text, "output")
    assert (found.expression, found.rule) == (expression, rule)


@pytest.mark.parametrize(
    ("text", "expression", "calls"),
    [
        ("[ANSWER]assert f([1, 2], x=3) == 7[/ANSWER]", "f([1, 2], x=3)", True),
        ("assert 7 == f(1)", "f(1)", True),
        ("f(1)", "f(1)", True),
        ("assert g(1) == 7", "g(1)", False),
        ("[1, 2]", "[1, 2]", False),
    ],
)
def test_inputs(text: str, expression: str, calls: bool) -> None:
    found = read(text, "input")
    assert (found.expression, found.calls_f) == (expression, calls)


def test_literals_and_calls() -> None:
    assert literal("{'a': (1, None)}") == (True, {"a": (1, None)})
    assert literal("1 + 1")[0] is False
    assert literal("(" * 300)[0] is False
    assert mentions_f("[f(1)]")
    assert mentions_f("(lambda g: g(1))(f)")
    assert not mentions_f("'f(1)'")
    assert call_only_computes("f(*'ab', k=lambda x: x)")
    assert not call_only_computes("f(1, k=exec)")
    assert not call_only_computes("f(1, *[f])")
    assert not call_only_computes("g(1)")
    assert not call_only_computes("(")


@given(st.text(st.characters(codec=None)), st.sampled_from(["input", "output"]))
def test_total_over_any_text(text: str, side: Side) -> None:
    read(text, side)
    read(f"[ANSWER]assert f({text}) == {text}[/ANSWER]", side)


@pytest.mark.parametrize(
    "text", ["assert " * 10_000, "assert f(\n" * 9000, "[ANSWER]" * 10_000, "f(" * 40_000]
)
def test_hostile(text: str) -> None:
    assert read(text, "output").expression is None


@pytest.mark.parametrize(
    "value", ["0x" + "f" * 4000, "-" * 900 + "1", "+".join(["1"] * 800), "a" + ".b" * 800], ids=len
)
@pytest.mark.parametrize("form", ["[ANSWER]assert f(1) == {}[/ANSWER]", "[ANSWER]{}[/ANSWER]", "{}"])
def test_what_cannot_be_written_down_again_is_a_miss(value: str, form: str) -> None:
    found = read(form.format(value), "output")
    assert found.expression is None
    assert found.rule in ("no-source", "none")  # how deep Python parses depends on its version
    if value.startswith("0x"):
        assert found.rule == "no-source"


LONG = {
    "open brackets": "".join(f"assert f(1) == ({'1+(2)*3,' * 150}\n" for _ in range(80)),
    "open dicts": "".join(f"assert f(1) == {{{'1:{2:(3)},' * 240}\n" for _ in range(40)),
    "open strings": "".join(f"assert '''{'x' * 2400}\n" for _ in range(40)),
    "many short": "assert f(\n" * 9000,
    "one value": "[" + "1," * 49_000 + "]",
    "one assertion": "assert f(1) == [" + "1," * 49_000 + "]",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_reply_is_not_parsed_over_and_over(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    lengths: list[int] = []

    def counted(code: str) -> object:
        lengths.append(len(code))
        return parsed(code)

    monkeypatch.setattr(assertions, "parsed", counted)
    assert read(f"[ANSWER]\n{text}", "output").expression is None
    assert sum(lengths) <= assertions.MOST_PARSED


def test_an_assertion_over_many_lines_is_read_among_others() -> None:
    wanted = "assert f(1) == [\n" + "".join(f"    'the value {n}',\n" for n in range(30)) + "]"
    text = (
        f"First assert f(1) == 3.\nassert f(1) ==\n{wanted}\nassert that this is right\n" + "Words.\n" * 500
    )
    found = read(text, "output")
    assert literal(found.expression or "") == (True, [f"the value {n}" for n in range(30)])
