"""What a server's tokenizer route may tell."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.models.counting import TokenCounter
from pytest_benchkit.models.facts import ServerFacts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"count": 12}, 12),
        ({"tokens": [1, 2, 3]}, 3),
        ({"count": 10**30}, None),
        ({"count": 2**53 + 1}, None),
        ({"count": -1}, None),
        ({"count": True}, None),
        ({"count": 1.5}, None),
        ({}, None),
        ([], None),
    ],
)
def test_only_plain_counts_are_believed(told: Any, tokens: int | None) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield json.dumps(told).encode()

    async def send(*_: object) -> Any:
        return SimpleNamespace(status=200, chunks=chunks, release=lambda: None)

    transport: Any = SimpleNamespace(send=send)
    counter = TokenCounter(transport, "http://x", {}, ServerFacts("http://x", "m", tokenize="/tokenize"))
    assert asyncio.run(counter.count("some text")) == tokens
