"""The one contract that every model keeps: a server over HTTP, ``demo``, a scripted one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_benchkit.decisions import Decision
    from pytest_benchkit.reply import Exchange, Failure, Reply
    from pytest_benchkit.task import Message


class Watch(Protocol):
    """Looks at a reply while it arrives and may end it early."""

    failure: Failure | None
    """Why the reply was ended, of category ``loop``."""

    def begin(self) -> None:
        """A request leaves: what an earlier try said is forgotten."""

    def see(self, pieces: Sequence[tuple[str, str]]) -> Failure | None:
        """Takes pieces of text with their channels (``thinking``, ``answer``, others); gives ``failure``."""

    def end(self) -> None:
        """Nothing more will come of this try."""


@dataclass(slots=True)
class ChatRequest:
    """One chat request, independent of any dialect.

    ``sampling`` holds only the fields to send (``temperature``, ``top_p`` ...). ``identity`` is a stable
    name of the ask (``suite|task|repeat``) and ``samples`` a right and a wrong reply to it: embedded
    models without weights answer from these two, servers never see them. ``needs_tools``: without tool
    calling there is nothing to ask, so a server that refuses ``tools`` is not asked without them.
    ``prompt_tokens`` bounds the prompt, template included, where that is known already. ``watch`` sees the
    reply as it is streamed; models that do not stream leave it alone.
    """

    messages: Sequence[Message]
    max_tokens: int | None = None
    seed: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] | None = None
    identity: str = ""
    samples: tuple[str | Reply, str | Reply] | None = None
    needs_tools: bool = False
    prompt_tokens: int | None = None
    watch: Watch | None = None
    seconds: float | None = None
    """What is left of the whole task's time, on the server's clock; ``None`` for no such limit."""
    decision: Decision | None = None
    """The same row as a question with known answers, which is what a decision model is asked."""


class Gate(Protocol):
    """The request slot of a model, shared by everything that asks it."""

    async def enter(self) -> None:
        """Waits until one more request may be in flight (also for a Retry-After that holds all back)."""

    def leave(self) -> None:
        """Gives the slot back, if it is held: at the end of the body, before anything is done with the
        reply."""

    def hold(self, seconds: float) -> None:
        """Lets no request of any process of this run start for that long."""


class Model(Protocol):
    """Something that answers chat requests. Methods are called on one event loop."""

    @property
    def simulated(self) -> bool:
        """Whether timings are made up (``demo``, scripted)."""

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        """Asks once, retries included. Never raises for anything the server does; only cancellation
        leaves it. Holds the gate exactly while a request is open; after a request that came to nothing it
        may return with the gate held, and the caller, who has looked at the failure, leaves it."""

    async def aclose(self) -> None:
        """Closes connections."""
