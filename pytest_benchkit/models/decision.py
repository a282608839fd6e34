"""A decision model: ``POST /v1/systemone`` with one typed question, probabilities as the answer.

The most likely key becomes the reply's text, so that the suite's own scorer judges it; the whole
distribution is in ``Reply.decision``. Temperature, seed and token limits mean nothing here and are not sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.client import Attempt, HttpModel
from pytest_benchkit.models.figures import count
from pytest_benchkit.models.jsonlib import loads
from pytest_benchkit.reply import Exchange, Failure, Reply

if TYPE_CHECKING:
    from pytest_benchkit.decisions import Decision
    from pytest_benchkit.models.base import ChatRequest, Gate
    from pytest_benchkit.models.chat import Piece

PATH = "/v1/systemone"
NAME = "answer"
SLACK = 0.02
"""How far from 1 the sum of probabilities may be."""
MOST_BYTES = 4 * 1024 * 1024


class DecisionModel(HttpModel):
    """A served decision model; retries, holds and deadlines are those of every served model."""

    path = PATH
    decides = True

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        if request.decision is None:
            words = "a decision model answers suites that ask for a decision, no chat"
            return Exchange(Reply(), Failure("no_decision", words, "suite"), tries=0)
        exchange = await self._exchange(request, self._question(request.decision), gate)
        if exchange.failure is None:
            exchange.failure = decide(request.decision, exchange.reply)
        return exchange

    def _question(self, decision: Decision) -> dict[str, Any]:
        question: dict[str, Any] = {"type": "noul", "instructions": decision.instructions}
        if not decision.binary:
            question = {**question, "type": "choice", "criteria": dict(decision.criteria)}
        body: dict[str, Any] = {
            "model": self._facts.served_id,
            "state": decision.state,
            "questions": {NAME: question},
        }
        return {**body, "images": list(decision.images)} if decision.images else body

    def _new_body(self) -> WholeBody:
        return WholeBody()

    async def _smaller_body(self, body: dict[str, Any], attempt: Attempt, gate: Gate) -> bool:
        return False  # every field of a question is needed


class WholeBody:
    """Collects an answer that is one JSON document; stands where a chat stream would."""

    def __init__(self) -> None:
        self._data = b""
        self.oversize = False
        self.failed = False
        self.finished = False
        self.done = False

    @property
    def generated(self) -> bool:
        return bool(self._data)

    def feed(self, data: bytes, at: float) -> list[Piece]:
        """Takes bytes; no text of a model is in them."""
        self._data += data
        self.oversize = len(self._data) > MOST_BYTES
        return []

    def close(self, at: float, *, content_type: str, t0: float) -> tuple[Reply, Failure | None]:
        """The body as the reply's text; its end is the answer's time."""
        reply = Reply(text=self._data.decode("utf-8", "replace"), finish_reason="stop")
        reply.timing.end_ms = reply.timing.e2e_ms = round((at - t0) * 1000, 3)
        if self.oversize:
            words = f"the answer is larger than {MOST_BYTES // 2**20} MiB"
            return reply, Failure("bad_response", words, "after_output")
        return reply, None


def decide(decision: Decision, reply: Reply) -> Failure | None:
    """Turns the raw answer into the reply that scorers see. Gives the failure where it is no distribution
    over exactly the keys asked for: nothing is guessed, a missing key is not a probability of 0."""
    try:
        answer = loads(reply.text.encode("utf-8", "replace"))
    except ValueError:
        return _invalid("the answer is no JSON document")
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    if isinstance(usage, Mapping) and (tokens := count(usage.get("input_tokens"))) is not None:
        reply.usage.input_tokens, reply.usage.source = tokens, "usage"
    try:
        shares = _distribution(decision, answer)
    except ValueError as error:
        return _invalid(str(error))
    best = max(shares.values())
    winners = [key for key in decision.criteria if shares[key] == best]
    if len(winners) > 1:
        reply.flag("tie")
    reply.text = reply.answer = decision.reply(winners[0])
    reply.decision = {
        "probabilities": shares,
        "choice": winners[0],
        "confidence": best,
        "p_gold": shares[decision.gold],
        "correct": winners[0] == decision.gold,
        "gold": decision.gold,
        "brier": math.fsum((p - (key == decision.gold)) ** 2 for key, p in shares.items()),
    }
    return None


def _distribution(decision: Decision, answer: Any) -> dict[str, float]:
    """Key to probability, in the order asked. ``ValueError`` says what is wrong."""
    part = answer.get("answers") if isinstance(answer, Mapping) else None
    part = part.get(NAME) if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping):
        raise ValueError(f"the answer has no answers.{NAME}")
    if decision.binary and "probabilities" not in part:
        yes = _probability(part.get("noul"), "noul")
        return {"yes": yes, "no": 1 - yes}
    told = part.get("probabilities")
    if not isinstance(told, Mapping):
        raise ValueError(f"answers.{NAME} has no probabilities")
    if missing := [key for key in decision.criteria if key not in told]:
        raise ValueError(f"no probability of {missing[0]!r}")
    if extra := [key for key in told if key not in decision.criteria]:
        raise ValueError(f"a probability of {str(extra[0])[:40]!r}, which was not asked")
    shares = {key: _probability(told[key], key) for key in decision.criteria}
    whole = math.fsum(shares.values())
    if abs(whole - 1) > SLACK:
        raise ValueError(f"the probabilities add up to {whole:.4g}")
    return {key: share / whole for key, share in shares.items()}


def _probability(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"the probability of {name!r} is {str(value)[:40]}")
    return float(value)


def _invalid(words: str) -> Failure:
    return Failure("invalid_distribution", words, "after_output", where=PATH)
