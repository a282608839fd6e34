"""What a run may spend (H-21, H-22): tokens, money, wall time, over all its models and processes."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.models.limits import mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.reply import Exchange, Usage
    from pytest_benchkit.settings import Settings

PLACES = 256
"""Processes of one run at most."""
PLACE = struct.Struct("3d")
IN_FLIGHT_S = 30.0
"""How long replies in flight are awaited after the wall time is over."""


class Spending:
    """What the processes of a run have spent so far, in this session.

    Each process writes a place of its own of a small mapped file (tokens, USD, the monotonic clock at its
    first request) and reads all of them. Without a file it is private to the process.
    """

    def __init__(self, path: Path | None = None, place: int = 0) -> None:
        self._place = PLACE.size * (place % PLACES)
        self._mine = [0.0, 0.0, 0.0]
        self._map = mapped(path, PLACE.size * PLACES)

    def begin(self) -> None:
        """A request is about to leave."""
        if not self._mine[2]:
            self._mine[2] = time.monotonic()
            self._write()

    def add(self, tokens: float, usd: float) -> None:
        self._mine[0] += tokens
        self._mine[1] += usd
        self._write()

    def _write(self) -> None:
        PLACE.pack_into(self._map, self._place, *self._mine)

    @property
    def total(self) -> tuple[float, float, float]:
        """Tokens, USD, and the seconds since the first request of any process."""
        places = list(PLACE.iter_unpack(bytes(self._map)))
        begun = min((first for _, _, first in places if first), default=0.0)
        seconds = time.monotonic() - begun if begun else 0.0
        return sum(place[0] for place in places), sum(place[1] for place in places), seconds


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run, ``None`` for none, and what has been spent of them."""

    tokens: int | None
    usd: float | None
    seconds: float | None
    spending: Spending

    @classmethod
    def of(cls, settings: Settings, spending: Spending) -> Budget | None:
        """The budget that the settings speak of; ``None`` when they set no limit."""
        limits = (settings.budget_tokens, settings.budget_usd, settings.budget_seconds)
        return cls(*limits, spending) if any(limit is not None for limit in limits) else None

    def add(self, exchange: Exchange) -> str | None:
        """Counts an exchange. Gives a sentence when it does not say what it cost: nothing more may then be
        sent to that model."""
        usage = exchange.reply.usage
        known = [n for n in (usage.input_tokens, usage.output_tokens) if n is not None]
        self.spending.add(sum(known), usage.cost_usd or 0.0)
        if exchange.failure is not None:
            return None
        if self.tokens is not None and len(known) < 2:
            return "a reply without token counts, and the server counts none: remove --bench-budget-tokens"
        if self.usd is not None and usage.cost_usd is None:
            return "a reply without its cost: set price in the profile, or remove --bench-budget-usd"
        return None

    def spent(self) -> str | None:
        """Which limit is reached, in words; ``None`` while there is something left."""
        tokens, usd, seconds = self.spending.total
        if self.tokens is not None and tokens >= self.tokens:
            return f"{tokens:.0f} of {self.tokens} tokens are spent (--bench-budget-tokens)"
        if self.usd is not None and usd >= self.usd:
            return f"{usd:.4g} of {self.usd:g} USD are spent (--bench-budget-usd)"
        if self.seconds is not None and seconds >= self.seconds:
            return f"the {self.seconds:g} s of the run are over (--bench-budget-seconds)"
        return None

    @property
    def overdue(self) -> bool:
        """Whether replies in flight have been awaited for long enough after the end of the wall time."""
        return self.seconds is not None and self.spending.total[2] >= self.seconds + IN_FLIGHT_S


def add_price(usage: Usage, price: Mapping[str, float]) -> None:
    """Puts the cost by the profile's price where the server told none and both counts are known."""
    if not price or usage.cost_usd is not None or usage.input_tokens is None or usage.output_tokens is None:
        return
    cached = usage.cached_tokens or 0
    fresh = max(0, usage.input_tokens - cached)
    rate = price.get("cached_input", price["input"])
    cost = fresh * price["input"] + cached * rate + usage.output_tokens * price["output"]
    usage.cost_usd = cost / 1e6


def problems(specs: Iterable[ModelSpec], prepared: Iterable[Prepared]) -> list[str]:
    """A sentence for each model whose spending cannot be known (H-22), as far as its warm-up tells."""
    found = []
    for spec, ready in zip(specs, prepared, strict=True):
        settings = spec.settings
        counts = ready.usage
        if counts is None or ready.stopped is not None:  # no warm-up: the first reply will tell
            tells_tokens, tells_cost = True, ready.kind == "http"
        else:
            tells_tokens = {"input_tokens", "output_tokens"} <= set(counts)
            tells_cost = "cost_usd" in counts
        if settings.budget_tokens is not None and not tells_tokens:
            words = "the server tells no token counts and has no tokenizer to ask"
            found.append(f"--bench-budget-tokens: {spec.name}: {words}; remove the budget")
        if settings.budget_usd is not None and not settings.price and not tells_cost:
            words = "its replies tell no cost and its profile sets no price"
            found.append(f"--bench-budget-usd: {spec.name}: {words}; set price, or remove the budget")
    return found
