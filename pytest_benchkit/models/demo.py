"""``demo[:SKILL]``: a model without weights that answers from the sample replies of each task.

It makes a whole run, with its reports and gates, possible on any machine and without a network (M-14, M-15).
Whether a task is answered rightly depends on the ask's identity and seed alone, through SHA-256: equal in
any order, in any process, for any hash seed, and no random state is touched.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.models.body import fingerprint
from pytest_benchkit.models.jsonlib import dumps
from pytest_benchkit.models.thinking import split
from pytest_benchkit.reply import Exchange, Reply, Timing, Usage

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest, Gate

DEFAULT_SKILL = 0.75
NO_SAMPLES = "I am the demo model. This task brings no sample replies, so I have nothing to say about it."
CHARACTERS_PER_TOKEN = 4
MS_PER_TOKEN = 12.0


class DemoModel:
    """Answers with the right sample with probability ``skill`` (0..1), else with the wrong one.

    Times and token counts are made up, equal in every run and marked ``simulated``; nothing sleeps.
    """

    simulated = True

    def __init__(self, skill: float = DEFAULT_SKILL) -> None:
        if not 0.0 <= skill <= 1.0:
            raise UsageProblem(
                f"--bench-model=demo:{skill:g}: the skill is a share from 0 to 1, like demo:0.9"
            )
        self.skill = skill

    @classmethod
    def parse(cls, argument: str | None) -> DemoModel:
        """The model for what stands behind ``demo:``. Raises :class:`UsageProblem` when it is no skill."""
        try:
            return cls(DEFAULT_SKILL if argument is None else float(argument))
        except ValueError:
            words = f"--bench-model=demo:{argument}: the skill is a share from 0 to 1, like demo:0.9"
            raise UsageProblem(words) from None

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        await gate.enter()
        try:
            return self._answer(request)
        finally:
            gate.leave()

    async def aclose(self) -> None:
        """Nothing is open."""

    def _answer(self, request: ChatRequest) -> Exchange:
        chance, pace = self._draw(request)
        sample: str | Reply = NO_SAMPLES
        if request.samples is not None:
            sample = request.samples[0] if chance < self.skill else request.samples[1]
        prompt = dumps(list(request.messages))
        reply = _spoken(sample) if isinstance(sample, str) else replace(sample)
        length = len(reply.text) + sum(len(call.name) + len(call.raw) for call in reply.tool_calls)
        reply.finish_raw = reply.finish_reason
        reply.usage = Usage(_tokens(len(prompt)), _tokens(length), source="simulated")
        reply.timing = _timing(_tokens(length), pace)
        return Exchange(
            reply,
            max_tokens=request.max_tokens,
            seed=request.seed,
            fingerprint=fingerprint(
                {
                    "model": "demo",
                    "messages": list(request.messages),
                    "seed": request.seed,
                    **request.sampling,
                }
            ),
        )

    @staticmethod
    def _draw(request: ChatRequest) -> tuple[float, float]:
        """Two numbers from 0 to 1 that belong to this ask."""
        name = request.identity.encode("utf-8", "replace") or dumps(list(request.messages))
        digest = hashlib.sha256(name + b"\0" + str(request.seed).encode()).digest()
        first, second = int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])
        return first / 2**64, second / 2**64


def _spoken(text: str) -> Reply:
    """A reply of this text, thinking tags split off as a server's would be."""
    parts = split(text, reasoning_field_seen=False)
    reply = Reply(text=text, answer=parts.answer, thinking=parts.thinking, finish_reason="stop")
    reply.trace_status = "observed" if parts.thinking else "unavailable"
    return reply


def _tokens(characters: int) -> int:
    return characters // CHARACTERS_PER_TOKEN + 1


def _timing(tokens: int, pace: float) -> Timing:
    first = 40.0 + 80.0 * pace
    per_token = MS_PER_TOKEN * (0.75 + 0.5 * pace)
    whole = round(first + (tokens - 1) * per_token, 3)
    return Timing(
        sent_at=time.time(),
        ttft_ms=round(first, 3),
        ttfa_ms=round(first, 3),
        e2e_ms=whole,
        end_ms=whole,
        decode_tok_s=round(1000.0 / per_token, 3) if tokens > 1 else None,
        chunks=tokens,
        simulated=True,
    )
