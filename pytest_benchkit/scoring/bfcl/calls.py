"""Calls out of a reply: the tool calls of the server, or calls written as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_benchkit.scoring.bfcl import expressions, pythonic
from pytest_benchkit.scoring.text import clip

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_benchkit.reply import Reply

LONGEST_TEXT = 8 << 10
"""Characters of a reply that are read as calls: several times the longest right one, and done at once."""
SHOWN = 400
FENCE = re.compile(r"```[a-zA-Z]{0,12}\n(.*?)\n?```", re.DOTALL)
NAME = r"(?<![\w.])[A-Za-z_][\w.]{0,99}"
FIRST = r"\(\s{0,9}\w{1,99}\s{0,9}[=:](?!=)"
ATTEMPTS = re.compile(
    rf"^\[?\s{{0,9}}{NAME}\("  # the reply begins with a call
    rf"|\[\s{{0,9}}{NAME}(?:{FIRST}|\(\s{{0,9}}\))"  # a list of calls stands somewhere in it
    rf"|(?P<offered>{NAME})(?:{FIRST}|\(\s{{0,9}}[\"'\d{{\[-])"  # an offered function is given an argument
    r"|\"name\"\s{0,9}:\s{0,9}\"[^\"\n]{1,99}\"\s{0,9},\s{0,9}\"(?:arguments|parameters)\"\s{0,9}:"
    r"|<(?:\|?tool_call|function=)"
)
"""What shows that a reply tried to call something, in whatever form and wherever in its text."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the function's name as called, and its arguments."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Decoded:
    """``calls`` is ``None`` when the reply cannot be decoded as calls as a whole; ``attempted`` says that
    it tried to call something all the same. ``shown`` is the beginning of the calls as text."""

    calls: tuple[Call, ...] | None
    attempted: bool
    shown: str = ""
    clipped: bool = False


def native(reply: Reply) -> Decoded:
    """The tool calls of a reply; one whose arguments are no JSON object spoils all, as upstream has it.

    Arguments that are empty count as none given.
    """
    calls = [Call(call.name, call.arguments) for call in reply.tool_calls if call.arguments is not None]
    whole = bool(calls) and len(calls) == len(reply.tool_calls)
    shown = "; ".join(f"{call.name[:SHOWN]}({call.raw[:SHOWN]})" for call in reply.tool_calls[:SHOWN])
    return Decoded(tuple(calls) if whole else None, bool(reply.tool_calls), shown[:SHOWN])


def written(text: str, language: str, offered: Collection[str] = ()) -> Decoded:
    """Calls written as ``[f(a=1), g(b=2)]``, alone in the reply or in one fenced block. Total.

    Python is read by the grammar of Python, Java and JavaScript by :mod:`.expressions`. Full stops of
    names are folded, so that both forms of a name are one; ``offered`` are those that may be called.
    """
    stripped = text.strip()
    if len(stripped) > LONGEST_TEXT:
        return Decoded(None, _attempts(clip(stripped)[0], offered), clipped=True)
    fence = FENCE.fullmatch(stripped)
    stripped = (fence[1] if fence else stripped).strip("`\n ")
    read = pythonic.read if language == "python" else expressions.read
    found = read(stripped)
    if not found:
        return Decoded(None, _attempts(stripped, offered))
    calls = tuple(Call(name.replace(".", "_"), arguments) for name, arguments in found)
    return Decoded(calls, True, stripped[:SHOWN])


def _attempts(text: str, offered: Collection[str]) -> bool:
    """Whether a text that is no list of calls tries to call. Calls in other text (a program, say) must name a
    function of ``offered``."""
    names = {name.replace(".", "_") for name in offered}
    return any(
        hit["offered"] is None or hit["offered"].replace(".", "_") in names for hit in ATTEMPTS.finditer(text)
    )
