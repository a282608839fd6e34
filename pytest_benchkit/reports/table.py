"""Plain tables for terminals whose numbers are never cut or wrapped (TTY-11)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

GAP = "  "
INDENT = "    "
NARROW = 40
"""Columns below which each row becomes a list of ``name: value`` lines."""
SHORTEST_NAME = 5
PARTS = re.compile(r"(?<=,) (?![^\[]*\])")


@dataclass(slots=True)
class Column:
    """One column: heading and a cell a row, blank where it does not apply.

    ``kind``: ``name`` (left, may be shortened in the middle), ``core`` (right, always in the row), ``tail``
    (left, belongs to the column before it) or ``more`` (right, may move to a line of its own).
    """

    heading: str
    kind: str
    cells: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))

    def line(self, text: str) -> str:
        return text.ljust(self.width) if self.kind in ("name", "tail") else text.rjust(self.width)


def layout(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table, heading first; ``width`` is the terminal's, ``None`` when there is none."""
    columns = [column for column in columns if any(column.cells)]
    if not columns:
        return []
    if width is None or _width(columns) <= width:
        return _lines(columns)
    core = [column for column in columns if column.kind != "more"]
    if width >= NARROW:
        fitted = _shortened(core, width)
        if fitted is not None:
            return _with_more(fitted, [c for c in columns if c.kind == "more"], width)
    return _listed(columns, width)


def _width(columns: Sequence[Column]) -> int:
    gaps = sum(1 if column.kind == "tail" else len(GAP) for column in columns[1:])
    return gaps + sum(column.width for column in columns)


def _lines(columns: Sequence[Column]) -> list[str]:
    rows = range(len(columns[0].cells))
    texts = [_line(columns, [column.heading for column in columns])]
    return texts + [_line(columns, [column.cells[row] for column in columns]) for row in rows]


def _line(columns: Sequence[Column], texts: Sequence[str]) -> str:
    line = ""
    for column, text in zip(columns, texts, strict=True):
        gap = "" if not line else " " if column.kind == "tail" else GAP
        line += gap + column.line(text)
    return line.rstrip()


def _with_more(core: Sequence[Column], more: Sequence[Column], width: int) -> list[str]:
    """The core columns, and under each row the others as ``heading value``."""
    head, *rows = _lines(core)
    lines = [head]
    for number, row in enumerate(rows):
        lines.append(row)
        pairs = [f"{c.heading} {c.cells[number]}" for c in more if c.cells[number]]
        for pair in pairs:
            fits = lines[-1] is not row and len(lines[-1]) + len(GAP) + len(pair) <= width
            if fits:
                lines[-1] += GAP + pair
            else:
                lines.append(INDENT + pair)
    return lines


def _shortened(columns: Sequence[Column], width: int) -> list[Column] | None:
    """The columns with names shortened as far as needed; ``None`` when that would not do."""
    columns = [Column(c.heading, c.kind, list(c.cells)) for c in columns]
    names = [column for column in columns if column.kind == "name"]
    while _width(columns) > width:
        widest = max(names, key=lambda column: max(map(len, column.cells)), default=None)
        if widest is None:
            return None
        shorter = _cut(widest.cells, max(map(len, widest.cells)) - 1)
        if shorter is None:
            names.remove(widest)
        else:
            widest.cells = shorter
    return columns


def _cut(names: Sequence[str], room: int) -> list[str] | None:
    """Names cut in the middle to ``room`` characters, if they stay as distinct as they were."""
    if room < SHORTEST_NAME:
        return None
    cut = [middle_cut(name, room) for name in names]
    return cut if len(set(cut)) == len(set(names)) else None


def middle_cut(text: str, room: int) -> str:
    """``qwen3-coder…instruct``: at most ``room`` characters, head and tail kept."""
    if len(text) <= room:
        return text
    head = room // 2
    text = text.replace("…", "")
    return f"{text[:head]}…{text[len(text) - (room - 1 - head) :]}"


def _listed(columns: Sequence[Column], width: int) -> list[str]:
    lines: list[str] = []
    cells = [
        (c.kind == "name" and _cut(c.cells, width - len(c.heading) - len(": "))) or c.cells for c in columns
    ]
    for row in range(len(columns[0].cells)):
        for column, values in zip(columns, cells, strict=True):
            if value := values[row]:
                lines += _pair(column.heading, value, width)
    return lines


def _pair(heading: str, value: str, width: int) -> list[str]:
    """``heading: value``, broken between the parts of a value (never inside one) where it is too long."""
    line = f"{heading}: {value}"
    return [line] if len(line) <= width else [f"{heading}:", *(f"  {part}" for part in PARTS.split(value))]
