"""Wire bytes for the stream tests, and reading them whole, byte by byte and cut at random places."""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.chat import ChatStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_benchkit.models.thinking import Tags
    from pytest_benchkit.reply import Failure, Reply

DONE = b"data: [DONE]\n\n"
ROLE = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}


def event(value: Any, *, ascii: bool = False) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=ascii).encode() + b"\n\n"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def text(*pieces: str) -> bytes:
    return b"".join(event(delta(content=piece)) for piece in pieces)


def stop(word: str = "stop") -> bytes:
    return event(delta(word))


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"object": "chat.completion", "choices": [choice], **more}).encode()


def cuts(wire: bytes) -> Iterator[list[bytes]]:
    """The wire whole, byte by byte, and cut at 50 seeded random places."""
    yield [wire]
    yield [wire[i : i + 1] for i in range(len(wire))]
    dice = random.Random(len(wire))
    places = sorted({0, len(wire), *(dice.randrange(len(wire) + 1) for _ in range(50))})
    yield [wire[a:b] for a, b in itertools.pairwise(places)]


def read(
    wire: bytes,
    *,
    content_type: str = "text/event-stream",
    tags: Tags = "auto",
    dialect: type[ChatStream] = ChatStream,
) -> tuple[Reply, Failure | None]:
    """What the wire means; fails when the way it is cut makes a difference."""
    results = []
    for pieces in cuts(wire):
        stream = dialect(think_tags=tags)
        for piece in pieces:
            stream.feed(piece, 1.0)
        results.append(stream.close(1.5, content_type=content_type, t0=0.5))
    assert results[1] == results[0], "byte by byte differs from whole"
    assert results[2] == results[0], "random cuts differ from whole"
    return results[0]


def good(wire: bytes, **options: Any) -> Reply:
    reply, failure = read(wire, **options)
    assert failure is None
    return reply


def bad(wire: bytes, **options: Any) -> tuple[Failure, Reply]:
    reply, failure = read(wire, **options)
    assert failure is not None
    return failure, reply
