"""Replay: a model that answers with what another run stored, so that today's scorers read it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.reply import LOOPS, Exchange, Failure, Loop, Reply, Retry, Timing, ToolCall, Usage
from pytest_benchkit.runs.plain import parse
from pytest_benchkit.runs.repair import UNFINISHED
from pytest_benchkit.runs.store import RECORDS, Ledger, iter_lines

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest, Gate

OURS = frozenset({"cut", "scorer_raised", UNFINISHED})
"""Flags that scoring sets, not the reply."""


class ReplayModel:
    """Implements :class:`~pytest_benchkit.models.base.Model` over the records of a run folder.

    Keeps the place of each record in the file, not its texts.
    """

    simulated = False

    def __init__(self, run: Path) -> None:
        self._path = run / RECORDS
        self._places: dict[str, int] = {}
        ledger, offset = Ledger(), 0
        for data in iter_lines(self._path):
            record = ledger.add_line(data)
            if record is not None and ledger.rows[record["key"]].get("ask_id") == record.get("ask_id"):
                self._places[record["key"]] = offset
            offset += len(data)

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        await gate.enter()
        try:
            place, number = self._places.get(request.identity), 0
            if place is None:  # KEY#n is a repair round
                key, _, round_number = request.identity.rpartition("#")
                if round_number.isdecimal():
                    place, number = self._places.get(key), int(round_number)
            if place is None:
                words = "the replayed run holds no record of this task"
                return Exchange(Reply(), Failure("not_stored", words, "replay"), tries=0)
            with self._path.open("rb") as file:
                file.seek(place)
                record = parse(file.readline())
            if not number:
                return exchange_of(record)
            if number < len(attempts := record.get("attempts", ())):
                return exchange_of(attempts[number])
            words = f"the replayed run holds no repair round {number} of this task"
            return Exchange(Reply(), Failure("not_stored", words, "replay"), tries=0)
        finally:
            gate.leave()

    async def aclose(self) -> None:
        """Nothing is open."""


def exchange_of(record: Mapping[str, Any]) -> Exchange:
    """The exchange that a record tells of: text, counts, times and errors as stored."""
    stored: Mapping[str, Any] = record.get("reply", {})
    error: Mapping[str, Any] | None = record.get("error")
    failure = None
    if error is not None:
        kind = error["kind"]
        category = "loop" if kind in LOOPS else "replay"
        failure = Failure(kind, error["message"], category, error.get("status"), error.get("where"))
    elif "answer" not in stored and "tool_calls" not in stored:
        failure = Failure("not_stored", "the run was told not to store this reply", "replay")
    ask: Mapping[str, Any] = record.get("ask", {})
    answer = stored.get("answer", "")
    reply = Reply(
        text=answer,
        answer=answer,
        thinking=stored.get("thinking", ""),
        refusal=stored.get("refusal"),
        tool_calls=[ToolCall(**call) for call in stored.get("tool_calls", [])],
        finish_reason=stored.get("finish_reason"),
        finish_raw=stored.get("finish_raw"),
        trace_status=stored.get("trace_status", "unavailable"),
        usage=Usage(**record.get("usage", {})),
        timing=Timing(**record.get("timing", {})),
        flags=[flag for flag in record.get("flags", []) if flag not in OURS],
    )
    if (loop := record.get("loop", {})).get("killed"):  # what it would have gone on to say is not known
        known = {f.name for f in fields(Loop)}
        reply.loop = Loop(**{name: value for name, value in loop.items() if name in known})
    return Exchange(
        reply,
        failure,
        http_status=ask.get("http_status"),
        request_id=ask.get("request_id"),
        tries=ask.get("tries", 1),
        retries=[Retry(**retry) for retry in ask.get("retries", [])],
        max_tokens=ask.get("max_tokens"),
        seed=ask.get("seed"),
        fingerprint=record.get("fingerprint", ""),
    )
