from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.scoring.bfcl import java, javascript

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "kind", "item", "wanted"),
    [
        ("-7", "integer", None, -7),
        ("7L", "integer", None, "7L"),
        ("7L", "long", None, 7),
        ("7", "long", None, "7"),
        ("1.5f", "float", None, 1.5),
        ("1.5", "float", None, "1.5"),
        ("1.5e2", "double", None, 150.0),
        ("true", "boolean", None, True),
        ("TRUE", "boolean", None, "TRUE"),
        ("'a'", "char", None, "'a'"),
        ("9" * 5000, "integer", None, "9" * 5000),
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("new int[]{ }", "Array", "integer", []),
        ('new String[]{"a, b"}', "Array", "String", ['"a', 'b"']),
        ("new int[]{1", "Array", "integer", "new int[]{1"),
        ("new ArrayList<>(Arrays.asList(1, 2L))", "ArrayList", "long", ["1", 2]),
        ('new ArrayList<String>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<>() {{ add('a'); add('b'); }}", "ArrayList", "char", ["a", "b"]),
        ("new ArrayList<>()", "ArrayList", "integer", []),
        ("List.of(1)", "ArrayList", "integer", "List.of(1)"),
        ('new HashMap<A, B>() {{ put("k", 1); put("l", "v"); }}', "HashMap", None, {"k": 1, "l": "v"}),
        ("new HashMap<>()", "HashMap", None, {}),
        ("new HashMap<>", "HashMap", None, "new HashMap<>"),
        ("x", "any", None, "x"),
    ],
)
def test_java(text: str, kind: str, item: str | None, wanted: Any) -> None:
    found = java.value(text, kind, item)
    assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize(
    ("text", "kind", "item", "wanted"),
    [
        ("7", "integer", None, 7),
        ("7", "float", None, 7.0),
        ("7n", "Bigint", None, 7),
        ("7", "Bigint", None, "7"),
        ("'a'", "String", None, "a"),
        ("'a\"", "String", None, "'a\""),
        ("false", "Boolean", None, False),
        ("[1, 2]", "array", "integer", [1, 2]),
        ("new Array('a', b)", "array", "String", ["a", "b"]),
        ("[]", "array", "String", []),
        ("[1, 'a', true]", "array", None, [1, "a", True]),
        ("[[1, 2],\n [3]]", "array", "array", [[1, 2], [3]]),
        ("new Array([1], [2])", "array", "array", [[1], [2]]),
        ("[[1\n], [2]]", "array", "array", "[[1\n], [2]]"),
        ("[1", "array", "integer", "[1"),
        ("{a: 1, 'b': [1, 2], c: x}", "dict", None, {"a": 1, "b": [1, 2], "c": "x"}),
        ("{}", "dict", None, {}),
        ("x", "dict", None, "x"),
        ("7", "any", None, "7"),
    ],
)
def test_javascript(text: str, kind: str, item: str | None, wanted: Any) -> None:
    found = javascript.value(text, kind, item)
    assert (type(found), found) == (type(wanted), wanted)


PIECES = (
    *("new int[]{", "new ArrayList<>(Arrays.asList(", "new ArrayList<>() {{ ", "add(", "new HashMap<>() {{ "),
    *('put("', "new Array(", "[", "[[", "], [", "]", "{", "}", "{{", ")", ",", ":", '"', "'", "\n", " ", "1"),
)
READERS: tuple[tuple[Callable[..., Any], tuple[str, ...]], ...] = (
    (java.value, ("integer", "float", "Array", "ArrayList", "HashMap", "char")),
    (javascript.value, ("integer", "Bigint", "String", "array", "dict", "Boolean")),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join))
def test_total_for_any_text(text: str) -> None:
    for reader, kinds in READERS:
        for kind in kinds:
            found = reader(text, kind, kinds[0])
            assert isinstance(found, (str, int, float, list, dict))


@pytest.mark.parametrize("piece", PIECES)
def test_linear_in_long_texts(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    for reader, kinds in READERS:
        for kind in kinds:
            reader(text, kind, "String")
    assert time.process_time() - started < 0.6
