"""The window that Ollama is asked for: one value per model and run (M-17).

Ollama takes the window with each request, cuts prompts that are longer without a word, and loads a model
again for another value. So it is settled before the first request: as large as the largest planned need.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.harnesses.direct import MOST_TOKENS, messages_of
from pytest_benchkit.models.body import prompt_text
from pytest_benchkit.sizing import TEMPLATE_TOKENS, PlainSizer
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.settings import Settings
    from pytest_benchkit.task import Task

Planned = Sequence[tuple[Suite, Sequence[int]]]
"""Suites with the positions of the rows that a run asks."""

STEP = 4096
BYTES_PER_TOKEN = 2
"""A bound, no mean: a token of prose has four, of a script without spaces three."""
IMAGE_TOKENS = 2048
"""A bound too: what the usual vision models make of a picture of a megapixel."""
SIZED_ROWS = 64
"""Rows of a suite that sizes its prompts that are made to learn their need: each costs up to 20 ms. A sample
holds each of RULER's six lengths but once in 10^5 times, and rows of one length have one need."""


def settle(
    spec: ModelSpec, most: int | None, need: int, earlier: int | None, say: Callable[[str], None]
) -> int:
    """``num_ctx`` of a run: the user's ``context``, else what this run used before (``earlier``), else
    ``need`` rounded up; at most the model's own maximum.

    Raises :class:`UsageProblem` where ``extra_body`` names a window of its own."""
    given = spec.settings.extra_body.get("options")
    if isinstance(given, dict) and "num_ctx" in given:
        raise UsageProblem(f"{spec.name}: extra_body holds options.num_ctx; set the window with context")
    asked = spec.settings.context
    window = asked or earlier or -(-need // STEP) * STEP
    if most is not None and window > most:
        if asked:
            say(f"{spec.name}: its window is {most} tokens, not the {asked} asked for")
        window = most
    if window < need and not asked:
        say(f"{spec.name}: the window is {window} tokens, the longest row with its reply may need {need}")
    return window


def largest_need(planned: Planned, settings: Settings) -> int:
    """Tokens of the largest prompt with its reply among the planned rows, estimated from above; where no row
    tells, those of a reply of the usual limit."""
    needs = (_need(suite, row, settings) for suite, rows in planned for row in _telling(suite, rows))
    return max(needs, default=0) or TEMPLATE_TOKENS + (settings.max_tokens or MOST_TOKENS)


def _is_sized(suite: Suite) -> bool:
    return type(suite).fit is not Suite.fit


def _telling(suite: Suite, rows: Sequence[int]) -> Sequence[int]:
    return random.Random(0).sample(rows, min(SIZED_ROWS, len(rows))) if _is_sized(suite) else rows


def _need(suite: Suite, row: int, settings: Settings) -> int:
    """0 for a row that cannot be made: why, its record will say."""
    task = suite.tasks[row]
    try:
        if _is_sized(suite):
            task = suite.fit(task, PlainSizer())
        prompt = suite.prompt_tokens(task) or _estimate(suite, task, settings.system)
        answer = settings.max_tokens or suite.max_tokens_for(task) or MOST_TOKENS
    except (Exception, SystemExit):
        return 0
    return prompt + answer


def _estimate(suite: Suite, task: Task, system: str | None) -> int:
    messages = messages_of(suite.prompt(task), system)
    parts: list[Any] = [p for m in messages if isinstance(m.get("content"), list) for p in m["content"]]
    images = sum(isinstance(part, dict) and "image_url" in part for part in parts)
    text = prompt_text(messages)
    if tools := suite.tools(task):
        text += json.dumps(list(tools), ensure_ascii=False)
    size = len(text.encode("utf-8", "surrogatepass"))
    return TEMPLATE_TOKENS + -(-size // BYTES_PER_TOKEN) + IMAGE_TOKENS * images
