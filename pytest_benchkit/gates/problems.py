"""One type for everything that is wrong, one way to show it, one place to gather it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_benchkit.gates.codes import CODES, ORDER, Severity

Where = tuple[str | int, ...]
"""A place in a parsed TOML document: keys, and positions in arrays."""


@dataclass(frozen=True, slots=True)
class Problem:
    """``path`` is POSIX, relative to the project; ``line`` counts from 1."""

    code: str
    severity: Severity
    path: str
    line: int | None
    message: str
    remedy: str
    gate: str | None = None
    checkpoint: str | None = None
    metric: str | None = None
    key: str | None = None

    @property
    def order(self) -> tuple[Any, ...]:
        """Path, line (none first), order of rules."""
        return (self.path, self.line or 0, ORDER[self.code], self.metric or "", self.key or "", self.message)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def escape(text: str) -> str:
    """The text with control characters as escapes, so that it stays on one line of a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text
    )


def shown(value: object) -> str:
    """A value as written in TOML, cut at 120 characters."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= 120 else text[:119] + "…"


def render(problem: Problem) -> str:
    """One line: ``path:line: severity[code] [gate / checkpoint] [metric|key]: message. Remedy: …``."""
    place = problem.path + (f":{problem.line}" if problem.line is not None else "")
    subject = " / ".join(part for part in (problem.gate, problem.checkpoint) if part)
    detail = problem.metric or problem.key
    parts = [
        f"{place}: {problem.severity}[{problem.code}]",
        f" [{subject}]" if subject else "",
        f" [{detail}]" if detail else "",
        f": {problem.message}. Remedy: {problem.remedy}.",
    ]
    return escape("".join(parts))


def ordered(problems: Iterable[Problem]) -> list[Problem]:
    """Sorted for a report, exact repeats dropped."""
    return sorted(set(problems), key=lambda problem: problem.order)


def errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def no_line(where: Where) -> int | None:
    return None


@dataclass
class Sink:
    """Gathers the problems of one file. ``line`` finds the line of a place in it."""

    path: str
    compat: bool = False
    line: Callable[[Where], int | None] = no_line
    found: list[Problem] = field(default_factory=list)
    gate: str | None = None
    checkpoint: str | None = None

    def add(
        self,
        code: str,
        message: str,
        remedy: str,
        *,
        where: Where = (),
        metric: str | None = None,
        key: str | None = None,
        severity: Severity | None = None,
        at: int | None = None,
    ) -> None:
        """Adds a problem with the severity that its rule has in this mode; a rule not applied adds none."""
        rule = CODES[code]
        severity = severity or (rule.compat if self.compat else rule.strict)
        if severity is None:
            return
        line = at if at is not None else self._line(where)
        self.found.append(
            Problem(code, severity, self.path, line, message, remedy, self.gate, self.checkpoint, metric, key)
        )

    def _line(self, where: Where) -> int | None:
        """The line of the place, else of the nearest place around it that has one."""
        while where:
            if (line := self.line(where)) is not None:
                return line
            where = where[:-1]
        return None
