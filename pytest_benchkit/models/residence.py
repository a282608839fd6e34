"""Evicting a model from its server's memory (M-12)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.faults import quote
from pytest_benchkit.models.jsonlib import dumps
from pytest_benchkit.models.transport import Transport, TransportError

if TYPE_CHECKING:
    from pytest_benchkit.models.facts import ServerFacts

ANSWER_S = 30.0
SHOWN_BYTES = 500


async def unload(
    transport: Transport, root: str, headers: Mapping[str, str], facts: ServerFacts
) -> str | None:
    """Asks the server to evict exactly this model and waits for its answer. Gives what went wrong; ``None``
    when the server took it."""
    if not facts.unload:
        return "the server has no route for that"
    body: dict[str, Any] = {"model": facts.served_id}
    if facts.flavour == "ollama":
        body["keep_alive"] = 0
    try:
        async with asyncio.timeout(ANSWER_S):
            answer = await transport.send("POST", root + facts.unload, headers, dumps(body))
            try:
                said = b"".join([piece async for piece in answer.chunks()])
            finally:
                answer.release()
    except TimeoutError:
        return f"no answer within {ANSWER_S:g} s"
    except TransportError as error:
        return str(error)
    if answer.status != 200:
        return (
            f"HTTP {answer.status} at {facts.unload}: {quote(said[:SHOWN_BYTES].decode('utf-8', 'replace'))}"
        )
    return None
