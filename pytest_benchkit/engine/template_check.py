"""Looks at a server's chat template where the server renders it (llama.cpp's ``/apply-template``)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pytest_benchkit.engine.checkup import Check

if TYPE_CHECKING:
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.profiles import ModelSpec

MARKS = ("ALPHA7", "BRAVO7", "CHARLIE7", "DELTA7")
TALK = [
    {"role": "system", "content": MARKS[0]},
    {"role": "user", "content": MARKS[1]},
    {"role": "assistant", "content": MARKS[2]},
    {"role": "user", "content": MARKS[3]},
]


def template_checks(spec: ModelSpec, ready: Prepared) -> list[Check]:
    """Renders a talk of four marked turns: each mark once and in order, twice the same, something after the
    last turn, and whether the thinking switch changes anything."""
    route = ready.facts.get("apply_template")
    if not route or ready.base_url is None:
        return [Check("template", spec.name, "n/a", "the server does not show how it renders a talk")]
    rendered = asyncio.run(_render(spec, ready, str(route)))
    first, again, thinking, silent = rendered
    if first is None:
        return [Check("template", "rendering", "fail", "a talk of four turns is not rendered", "see its log")]
    found = [Check("template", "rendering", "pass", f"{len(first)} characters for four turns")]
    places = [first.find(mark) for mark in MARKS]
    once = all(first.count(mark) == 1 for mark in MARKS)
    missing = [role["role"] for role, place in zip(TALK, places, strict=True) if place < 0]
    if missing:
        todo = "such messages never reach the model"
        found.append(Check("template", "turns", "fail", f"the {missing[0]} turn is missing", todo))
    elif not once or places != sorted(places):
        found.append(Check("template", "turns", "fail", "turns are repeated or out of order"))
    else:
        found.append(Check("template", "turns", "pass", "each once, in order"))
    same = first == again
    words = "two renderings are equal" if same else "two renderings differ: it holds a clock or chance"
    found.append(Check("template", "stable", "pass" if same else "warn", words))
    tail = first[places[-1] + len(MARKS[-1]) :] if places[-1] >= 0 else ""
    opens = bool(tail.strip())
    seen = f"{tail.strip()[:60]!r} opens the reply" if opens else "nothing follows the last turn"
    found.append(Check("template", "reply opener", "pass" if opens else "warn", seen))
    if thinking is not None and silent is not None:
        differ = thinking != silent
        words = "changes the rendering" if differ else "changes nothing"
        found.append(Check("template", "thinking switch", "pass" if differ else "n/a", words))
    return found


async def _render(spec: ModelSpec, ready: Prepared, route: str) -> list[str | None]:
    from pytest_benchkit.models.discovery import root_of
    from pytest_benchkit.models.facts import Prober

    headers = dict(spec.settings.headers)
    if spec.api_key:
        headers["Authorization"] = f"Bearer {spec.api_key}"
    prober = Prober(
        root_of(ready.base_url or ""),
        headers,
        connect_timeout=spec.settings.connect_timeout,
        verify=spec.settings.ca_file or True,
    )
    try:
        bodies: list[dict[str, Any]] = [{}, {}]
        bodies += [{"chat_template_kwargs": {"enable_thinking": on}} for on in (True, False)]
        answers = [await prober.post(route, {"messages": TALK, **body}) for body in bodies]
    finally:
        await prober.aclose()
    texts = [answer.object.get("prompt") for answer in answers]
    return [text if isinstance(text, str) else None for text in texts]
