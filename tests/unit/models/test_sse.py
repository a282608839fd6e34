"""Framing of server-sent events, beside what the chat tests already show."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.models.sse import ErrorData, EventReader


def events(*pieces: bytes, max_event: int = 1000) -> list[bytes]:
    reader = EventReader(max_event)
    return [event for piece in pieces for event in reader.feed(piece)] + reader.finish()


def test_one_space_is_dropped_and_lines_are_joined() -> None:
    assert events(b"data:  a\ndata:b\ndata\ndata: c\n\n") == [b" a\nb\n\nc"]


def test_a_torn_crlf_makes_no_blank_line() -> None:
    assert events(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [b"a\nb"]


def test_done_gives_out_what_was_open_and_ends() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\ndata: [DONE]\ndata: b\n\n") == [b"a"]
    assert reader.done
    assert reader.feed(b"data: c\n\n") == []
    assert reader.finish() == []


def test_errors_are_marked() -> None:
    found = events(b"event: error\ndata: a\n\nerror: b\n\ndata: c\n\n")
    assert found == [b"a", b"b", b"c"]
    assert [type(event) is ErrorData for event in found] == [True, True, False]


def test_what_lines_there_were() -> None:
    reader = EventReader()
    reader.feed(b": c\nid: 1\ndata: x\n<html>\nfoo: bar\n\n")
    assert (reader.comments, reader.fields, reader.odd) == (1, 2, 2)


def test_sizes() -> None:
    assert events(b"data: " + b"x" * 1000 + b"\n\n") == [b"x" * 1000]
    for pieces in ([b"data: " + b"x" * 1001 + b"\n\n"], [b"data: ", *[b"x"] * 1001, b"\n\n"], [b"y" * 1017]):
        reader = EventReader(1000)
        assert [event for piece in pieces for event in reader.feed(piece)] == []
        assert reader.oversize
    many = EventReader(1000)
    many.feed(b"data: " + b"x" * 600 + b"\ndata: " + b"x" * 600 + b"\n")
    assert many.oversize


@given(
    wire=st.lists(
        st.sampled_from(
            [b"data: a", b"data:", b":", b"\n", b"\r", b"\r\n", b"error: e", b"\xef\xbb\xbf", b"[DONE]"]
        )
    ).map(b"".join),
    places=st.lists(st.integers(0, 80)),
)
def test_cuts_make_no_difference(wire: bytes, places: list[int]) -> None:
    ends = sorted({min(place, len(wire)) for place in places} | {0, len(wire)})
    assert events(*(wire[a:b] for a, b in itertools.pairwise(ends))) == events(wire)
