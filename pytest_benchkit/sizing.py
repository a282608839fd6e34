"""How a suite learns what size of prompt a model takes: the contract of a :class:`Sizer`, and a plain one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

TEMPLATE_TOKENS = 64
"""What a chat template may add around one user message, where nobody could measure it."""


class Sizer(Protocol):
    """What is known of a model's window and tokenizer. Its methods block; they are called off the loop."""

    @property
    def window(self) -> int | None:
        """Tokens of one request, prompt and reply together; ``None`` when the server did not say."""

    @property
    def allowance(self) -> int:
        """Tokens that the chat template adds around one user message."""

    def count(self, text: str) -> int | None:
        """Exact number of tokens by the model's own tokenizer; ``None`` when there is none to ask."""

    def ratio(self, kind: str) -> float | None:
        """Characters per token of a kind of content, measured for this run; ``None`` when it was not."""

    def recall(self, cell: str) -> int | None:
        """The number of units that filled the last prompt of this kind and length."""

    def keep(self, cell: str, units: int) -> None:
        """Notes it for the next prompt."""


@dataclass(slots=True)
class PlainSizer:
    """A :class:`Sizer` of given figures, without a tokenizer: for models without a server, and for tests."""

    window: int | None = None
    allowance: int = TEMPLATE_TOKENS
    ratios: dict[str, float] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int | None:
        """Nobody to ask."""
        return None

    def ratio(self, kind: str) -> float | None:
        return self.ratios.get(kind)

    def recall(self, cell: str) -> int | None:
        return self.units.get(cell)

    def keep(self, cell: str, units: int) -> None:
        self.units[cell] = units
