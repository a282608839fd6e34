"""What may cross the border between a program and its judge."""

from __future__ import annotations

import collections
import enum
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.sandbox.inside import plain
from pytest_benchkit.sandbox.inside.plain import Damaged, NotPlain, decode, encode

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**400), 2**400),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters(codec=None)),
    st.binary(),
)
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)), max_leaves=6
)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)


def types(value: Any) -> Any:
    """The types of a value and of all in it."""
    if isinstance(value, dict):
        return dict, [(types(k), types(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [types(item) for item in value]
    return type(value)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    back = decode(encode(value))
    assert back == value
    assert types(back) == types(value)


@given(st.one_of(st.binary(max_size=60), VALUES.map(encode).flatmap(lambda data: cut(data))))
@settings(max_examples=300)
def test_any_bytes_give_a_value_or_damage(data: bytes) -> None:
    try:
        value = decode(data)
    except Damaged:
        return
    assert isinstance(encode(value), bytes)


def cut(data: bytes) -> st.SearchStrategy[bytes]:
    """The bytes shortened, or with one of them changed."""
    places = st.integers(0, len(data) - 1)
    changed = st.tuples(places, st.integers(0, 255)).map(
        lambda at: data[: at[0]] + bytes([at[1]]) + data[at[0] + 1 :]
    )
    return st.one_of(places.map(lambda end: data[:end]), changed)


class Word(str):
    __slots__ = ()

    def encode(self, *args: object, **kwargs: object) -> bytes:
        return b"forged"


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def to_bytes(self, *args: object, **kwargs: object) -> bytes:
        return b"\x07"


class Colour(enum.IntEnum):
    RED = 3


class Half(float):
    pass


class Wave(complex):
    pass


class Bytes(bytes):
    pass


POINT = collections.namedtuple("POINT", "x y")


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (Word("a"), "a"),
        (Liar(5), 5),
        (Colour.RED, 3),
        (Half(0.5), 0.5),
        (Wave(1, 2), 1 + 2j),
        (Bytes(b"x"), b"x"),
        (collections.OrderedDict(a=1), {"a": 1}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (POINT(1, 2), (1, 2)),
        (True, True),
    ],
)
def test_subclasses_are_sent_as_their_base_value(value: object, base: object) -> None:
    back = decode(encode(value))
    assert type(back) is type(base)
    assert base == back


@pytest.mark.parametrize("value", [object(), print, range(3), {}.keys(), iter([]), bytearray(b"x"), Ellipsis])
def test_other_things_are_not_plain(value: object) -> None:
    with pytest.raises(NotPlain, match="not plain data"):
        encode([value])


def test_not_a_number_and_signs_survive() -> None:
    assert math.isnan(decode(encode(float("nan"))))
    assert math.copysign(1, decode(encode(-0.0))) == -1


def test_depth_and_size_have_limits() -> None:
    deep: list[Any] = []
    for _ in range(plain.MOST_DEPTH):
        deep = [deep]
    assert decode(encode(deep)) == deep
    with pytest.raises(NotPlain, match="too deep"):
        encode([deep])
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(NotPlain, match="too deep"):
        encode(circle)
    with pytest.raises(NotPlain, match="too large"):
        encode("x" * (plain.MOST_BYTES + 1))
    with pytest.raises(Damaged):
        decode(b"l\x01\x00\x00\x00" * 5000 + b"N")


@pytest.mark.parametrize(
    "data",
    [
        b"l\xff\xff\xff\xff",
        b"d\xff\xff\xff\x7fN",
        b"s\x02\x00\x00\x00\xff\xff",
        b"S\x01\x00\x00\x00l\x00\x00\x00\x00",
    ],
    ids=["list of 4 G", "dict of 2 G", "no text", "set of lists"],
)
def test_promises_that_are_not_kept_are_damage(data: bytes) -> None:
    started = time.process_time()
    with pytest.raises(Damaged):
        decode(data)
    assert time.process_time() - started < 0.1
