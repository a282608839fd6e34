"""The verdict on one reply (:class:`Score`) and the ten words a task can end with (:class:`Outcome`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a task ended; exactly one of these. The first seven are in the denominator."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    LOOP_KILLED = "loop_killed"
    TIMED_OUT = "timed_out"
    CONTAMINATED = "contaminated"
    HARNESS_ERROR = "harness_error"
    SKIPPED = "skipped"

    @property
    def counted(self) -> bool:
        """Whether the row is in the denominator of the score."""
        return self in COUNTED

    @property
    def missed(self) -> bool:
        return self in COUNTED and self is not Outcome.CORRECT

    @property
    def finished(self) -> bool:
        """Whether a resumed run leaves the row alone (errors and skips are asked again)."""
        return self in COUNTED or self is Outcome.CONTAMINATED


COUNTED = frozenset(
    {
        Outcome.CORRECT,
        Outcome.PARTIAL,
        Outcome.INCORRECT,
        Outcome.NO_ANSWER,
        Outcome.TRUNCATED,
        Outcome.LOOP_KILLED,
        Outcome.TIMED_OUT,
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to read the same reply: rule, what it read, and the score it would have given."""

    rule: str
    extracted: Any
    score: float


@dataclass(slots=True)
class Score:
    """The verdict of a suite's scorer on one answer.

    ``value`` is 0..1. ``extracted`` is what was read (``None``: nothing), ``rule`` the name of the rule
    that read it (``none`` when nothing was), ``span`` its place in the answer, ``expected`` the gold.
    ``also`` holds other readings, strict and lenient side by side, never mixed into ``value``.
    ``feedback`` is safe to show to the model. ``reason`` replaces the standard one-line explanation.
    """

    value: float
    extracted: Any = None
    expected: Any = None
    rule: str | None = None
    span: tuple[int, int] | None = None
    also: tuple[Reading, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    feedback: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.value, (int, float)):
            raise TypeError(f"a score must be a number from 0 to 1, not {self.value!r}")
        value = float(self.value)
        if not 0.0 <= value <= 1.0:  # also refuses NaN
            raise ValueError(f"a score must be from 0 to 1, not {self.value!r}")
        self.value = value
