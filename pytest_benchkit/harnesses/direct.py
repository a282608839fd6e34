"""The smallest harness: the suite's messages, one chat call, the reply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_benchkit.models.base import ChatRequest, Gate, Model
from pytest_benchkit.settings import SAMPLING, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import Message, Task

NAME = "direct"
MOST_TOKENS = 16_384
EMPTY = "(empty reply)"
"""An answer without text: many servers refuse an assistant's turn that is empty."""
AGAIN = "Reply with a complete new answer that replaces the last one, in the form that was asked for."


def messages_of(prompt: str | list[Message], system: str | None) -> list[Message]:
    """The chat messages of a suite's prompt, after the user's system message if there is one."""
    messages: list[Message] = (
        [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    )
    return [{"role": "system", "content": system}, *messages] if system else messages


def sampling_of(settings: Settings, origins: Mapping[str, str], suite: Suite) -> dict[str, Any]:
    """The sampling fields to send: the user's, else what the suite declares, else the default (C-1)."""
    sampling: dict[str, Any] = {}
    for name in SAMPLING:
        value = getattr(settings, name)
        if origins.get(name) == "default" and name in suite.sampling:
            value = suite.sampling[name]
        if value is not None:
            sampling[name] = value
    return sampling


def build(
    suite: Suite, task: Task, settings: Settings, origins: Mapping[str, str], identity: str, repeat: int = 0
) -> ChatRequest:
    """The request of one task. Runs the suite's ``prompt``; whatever that raises is the suite's bug.

    Raises :class:`~pytest_benchkit.errors.SkipTask` for a row whose answer could not be scored here.
    """
    if "sandbox" in suite.needs:
        from pytest_benchkit.sandbox import probe

        probe.require()
    tools = suite.tools(task)
    return ChatRequest(
        messages=messages_of(suite.prompt(task), settings.system),
        max_tokens=settings.max_tokens or suite.max_tokens_for(task) or MOST_TOKENS,
        seed=None if settings.seed is None else settings.seed + repeat,
        sampling=sampling_of(settings, origins, suite),
        tools=tools,
        identity=identity,
        needs_tools=tools is not None and "tools" in suite.needs,
        prompt_tokens=suite.prompt_tokens(task),
        seconds=settings.task_timeout,
    )


def follow_up(first: ChatRequest, answer: str, feedback: str, number: int, left: int) -> ChatRequest:
    """The request of repair round ``number`` (from 1): the suite's messages, the last answer without its
    thinking, what was wrong with it, and the demand for a whole new answer (R-3).

    Rounds before the last are not sent, so that the prompt stays bounded. ``left`` counts this round.
    """
    rounds = "This is your last try." if left == 1 else f"{left} tries are left."
    said: Message = {"role": "assistant", "content": answer if answer.strip() else EMPTY}
    told: Message = {"role": "user", "content": f"{feedback}\n\n{rounds} {AGAIN}"}
    return replace(first, messages=[*first.messages, said, told], identity=f"{first.identity}#{number}")


async def ask(model: Model, request: ChatRequest, gate: Gate) -> Exchange:
    return await model.ask(request, gate)
