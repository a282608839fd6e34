"""A model that says what a test tells it to say: a public tool for testing suites, scorers and plugins.

    model = ScriptedModel(["The answer is 18.", "The answer is 3."])     # one reply after the other
    model = ScriptedModel(lambda request: "42")                          # a function of the request
    model = ScriptedModel([Exchange(Reply(), Failure("http_503", "overloaded", "busy"))])

Every request it got is kept in ``model.requests``.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING

from pytest_benchkit.models.thinking import split
from pytest_benchkit.reply import Exchange, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_benchkit.models.base import ChatRequest, Gate

Line = str | Reply | Exchange


class ScriptedModel:
    """Answers from a list, in the order of the requests, or from a function of the request.

    A string becomes a complete reply whose thinking tags are split off as a server's would be; a
    :class:`Reply` and an :class:`Exchange` are handed on as copies. Times are marked ``simulated``.
    Asking more often than the list is long raises LookupError, because the test is wrong then. An exception
    of the function goes to the caller.
    """

    simulated = True

    def __init__(self, replies: Sequence[Line] | Callable[[ChatRequest], Line]) -> None:
        if isinstance(replies, str):
            raise TypeError("give a list of replies, or a function; a single string is ambiguous")
        self._script = replies
        self.requests: list[ChatRequest] = []
        self.closed = False

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        await gate.enter()
        try:
            self.requests.append(request)
            exchange = _exchange(self._line(request), request)
            exchange.reply.timing.simulated = True
            if exchange.reply.timing.sent_at is None:
                exchange.reply.timing.sent_at = time.time()
            return exchange
        finally:
            gate.leave()

    async def aclose(self) -> None:
        self.closed = True

    def _line(self, request: ChatRequest) -> Line:
        if callable(self._script):
            return self._script(request)
        turn = len(self.requests)
        if turn > len(self._script):
            raise LookupError(f"the script has {len(self._script)} replies, and this is request {turn}")
        return self._script[turn - 1]


def _exchange(line: Line, request: ChatRequest) -> Exchange:
    if isinstance(line, Exchange):
        return copy.deepcopy(line)
    if isinstance(line, Reply):
        reply = copy.deepcopy(line)
    else:
        parts = split(line, reasoning_field_seen=False)
        reply = Reply(text=line, answer=parts.answer, thinking=parts.thinking, finish_reason="stop")
        reply.finish_raw = "stop"
        reply.flags = list(parts.flags)
        if parts.tagged:
            reply.trace_status = "observed" if parts.thinking.strip() else "available_empty"
    return Exchange(reply, max_tokens=request.max_tokens, seed=request.seed)
