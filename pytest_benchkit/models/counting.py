"""Tokens that only a tokenizer can tell, and whether a prompt fits its window (T-2, T-3, M-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.body import prompt_text
from pytest_benchkit.models.figures import count
from pytest_benchkit.models.jsonlib import dumps, loads
from pytest_benchkit.models.stopwatch import with_tokens
from pytest_benchkit.models.transport import Transport, TransportError
from pytest_benchkit.reply import Exchange, Failure

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.models.facts import ServerFacts

ANSWER_RESERVE = 16
"""Tokens that a window must leave for an answer to make sense."""
TEMPLATE_RESERVE = 64
"""Tokens that a chat template may add around the messages."""
ENDS_AT_WINDOW = frozenset({"llamacpp", "llama-swap", "lmstudio"})
"""Servers that finish with ``length`` at their window instead of refusing a ``max_tokens`` beyond it. Ollama
does neither: it drops the beginning of the prompt and goes on."""


class TokenCounter:
    """Counts by the server's own tokenizer, off every request's clock and slot."""

    def __init__(
        self, transport: Transport, root: str, headers: Mapping[str, str], facts: ServerFacts
    ) -> None:
        self._transport = transport
        self._root = root
        self._headers = headers
        self._facts = facts

    async def fit(self, request: ChatRequest, body: dict[str, Any]) -> Failure | None:
        """Refuses a prompt that cannot fit the known window; cuts ``max_tokens`` to what it leaves.

        Counting costs a request, so it is done only where the text could be too long: a token is rarely
        under two characters. Servers that end a reply at their window themselves need no cutting.
        """
        window, wanted = self._facts.window, body.get("max_tokens")
        if window is None:
            return None
        text, bound = prompt_text(request.messages), request.prompt_tokens
        need = len(text.split()) if bound is None else bound
        if bound is None and need + ANSWER_RESERVE <= window and len(text) / 2 + ANSWER_RESERVE > window:
            need = await self.count(text) or need
        if need + ANSWER_RESERVE > window:
            words = (
                f"the prompt needs {need} tokens and {ANSWER_RESERVE} for the answer; the window is {window}"
            )
            return Failure(
                "context_too_small", words, "context", need_tokens=need + ANSWER_RESERVE, window_tokens=window
            )
        if isinstance(wanted, int) and self._facts.flavour not in ENDS_AT_WINDOW:
            left = window - (len(text) // 2 + TEMPLATE_RESERVE if bound is None else bound)
            if bound is not None:
                body["max_tokens"] = min(wanted, left)
            elif wanted > left:
                exact = await self.count(text) if self._facts.tokenize else None
                used = exact if exact is not None else len(text) // 2
                body["max_tokens"] = max(ANSWER_RESERVE, min(wanted, window - used - TEMPLATE_RESERVE))
        return None

    async def complete(self, exchange: Exchange, body: dict[str, Any]) -> None:
        """Adds counts that the server did not send (T-2) and finds prompts that it cut (T-3)."""
        reply = exchange.reply
        usage = reply.usage
        sent = prompt_text(body["messages"])
        if usage.output_tokens is None and self._facts.tokenize and (reply.text or reply.thinking):
            usage.output_tokens = await self.count(reply.thinking + reply.text)
            usage.source = "tokenizer" if usage.output_tokens is not None else usage.source
            with_tokens(reply)
        told, window = usage.input_tokens, self._facts.window
        if reply.cut and told and window and told + (usage.output_tokens or 0) >= window:
            reply.flag("context_full")
        if told is not None and (told < len(sent.split()) / 2 or (window is not None and told == window)):
            exchange.failure = Failure(
                "context_cut",
                f"the server read {told} tokens of a prompt of {len(sent.split())} words",
                "context",
                need_tokens=None,
                window_tokens=window,
            )

    async def count(self, text: str) -> int | None:
        """Length of a text by the server's own tokenizer; ``None`` when it cannot tell."""
        if not self._facts.tokenize:
            return None
        field = "content" if self._facts.flavour in ("llamacpp", "llama-swap") else "prompt"
        body = dumps({"model": self._facts.served_id, field: text})
        try:
            async with asyncio.timeout(10.0):
                answer = await self._transport.send(
                    "POST", self._root + self._facts.tokenize, self._headers, body
                )
                data = loads(b"".join([piece async for piece in answer.chunks()]))
                answer.release()
        except (TimeoutError, TransportError, ValueError):
            return None
        tokens = data.get("tokens") if isinstance(data, dict) else None
        if answer.status != 200:
            return None
        if isinstance(tokens, list):
            return len(tokens)
        return count(data.get("count")) if isinstance(data, dict) else None
