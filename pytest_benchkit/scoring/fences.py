"""Fenced blocks of a Markdown reply, as CommonMark reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPEN = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)")
PYTHON = frozenset({"", "python", "python3", "py", "py3", "pycon"})

NOT_CODE = frozenset({"output", "text", "txt", "plaintext", "console", "json", "diff", "bash", "sh", "shell"})


@dataclass(frozen=True, slots=True)
class Fence:
    """``info`` is the first word of the info string in lower case, ``start`` and ``end`` the place of
    ``body`` in the text; ``closed`` is false for a last fence that runs to the end."""

    info: str
    body: str
    start: int
    end: int
    closed: bool

    @property
    def shown(self) -> bool:
        """Whether its tag says that it is something else than a program."""
        return self.info in NOT_CODE

    @property
    def python(self) -> bool:
        """Whether it is tagged as Python, or not tagged at all."""
        return self.info in PYTHON


def fences(text: str) -> list[Fence]:
    """All fences in order. Backticks or tildes, three or more, indented by at most three; closed by at least
    as many of the same; the info string, whatever it says, is never part of the body."""
    found: list[Fence] = []
    opener: re.Match[str] | None = None
    body: list[str] = []
    start = place = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\n")
        if opener is None:
            match = OPEN.fullmatch(bare)
            if match and not (match[2][0] == "`" and "`" in match[3]):
                opener, body, start = match, [], place + len(line)
        elif _closes(bare, opener[2]):
            found.append(_fence(opener, body, start, place, closed=True))
            opener = None
        else:
            body.append(_outdented(line, len(opener[1])))
        place += len(line)
    if opener is not None:
        found.append(_fence(opener, body, start, place, closed=False))
    return found


def _closes(line: str, marks: str) -> bool:
    stripped = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(stripped) >= len(marks) and set(stripped) == {marks[0]}


def _fence(opener: re.Match[str], body: list[str], start: int, end: int, *, closed: bool) -> Fence:
    words = opener[3].split()
    info = words[0].lower().strip("{}.") if words else ""
    return Fence(info, "".join(body), start, end, closed)


def _outdented(line: str, most: int) -> str:
    """The line without the opener's own indentation."""
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, most) :]
