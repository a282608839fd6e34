"""What a means of isolation has to offer: :class:`Backend`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_benchkit.sandbox.limits import Limits


@dataclass(slots=True)
class Command:
    """A command line and the descriptors it inherits; those in ``once`` are closed after the start.
    ``after`` is to be run when the process was killed, where that alone does not end it all."""

    argv: list[str]
    keep: tuple[int, ...] = ()
    once: tuple[int, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def inherited(self) -> tuple[int, ...]:
        return self.keep + self.once


class Backend(Protocol):
    """Starts Python inside: no network, read-only system, a scratch folder as its home and working directory,
    :data:`~pytest_benchkit.sandbox.interpreter.VARIABLES` as its environment, no capability. Descriptors 0
    and 1 are the wire to it. It ends, with all that it started, when the process of the command is killed.
    """

    name: str
    shares_sockets: bool
    """Whether sockets can be handed to processes inside: one judge can then fork for all trials, and a
    worker's process id is known outside."""

    @property
    def version(self) -> str:
        """As the program tells it."""

    def probe(self) -> str | None:
        """Why it cannot be used here, as a sentence with the remedy; ``None`` when it works."""

    def command(self, script: str, limits: Limits, *words: str) -> Command:
        """How to start a script of ``sandbox/inside``. May open descriptors for it."""

    def facts(self) -> dict[str, str | None]:
        """Versions for ``run.json``."""
