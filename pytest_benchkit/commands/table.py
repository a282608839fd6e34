"""Plain tables whose numbers are never cut."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
NARROW = 40
"""Columns below which each row becomes a list of ``name: value`` lines."""


def width_of_stdout() -> int | None:
    """Columns of the terminal; ``None`` when stdout is none, so that nothing is fitted."""
    if not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, keep: int, width: int | None = None
) -> list[str]:
    """Lines of a table. Columns that no row fills are left out. The first ``keep`` always stand in a row;
    where the width is too small the others move to a second, indented line, and below 40 columns every
    value has its own line."""
    filled = [place for place in range(len(head)) if place < keep or any(row[place] != "-" for row in rows)]
    head, rows = [head[p] for p in filled], [[row[p] for p in filled] for row in rows]
    if width is not None and width < NARROW:
        return [f"{name}: {value}" for row in rows for name, value in zip(head, row, strict=True)]
    lines = _aligned([head, *rows])
    if width is None or max(map(len, lines)) <= width:
        return lines
    first = _aligned([head[:keep], *(row[:keep] for row in rows)])
    found = [first[0]]
    for line, row in zip(first[1:], rows, strict=True):
        found.append(line)
        more = [
            f"{name}: {value}" for name, value in zip(head[keep:], row[keep:], strict=True) if value != "-"
        ]
        found += _filled(more, width)
    return found


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [GAP.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _filled(cells: Sequence[str], width: int) -> list[str]:
    """Cells on indented lines, as many on each as fit; a cell is never broken."""
    lines: list[str] = []
    for cell in cells:
        if lines and len(lines[-1]) + len(GAP) + len(cell) <= width:
            lines[-1] += GAP + cell
        else:
            lines.append("    " + cell)
    return lines


def show(lines: Sequence[str]) -> None:
    """Prints lines; characters that stdout's encoding lacks become escapes, so printing never fails."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(line.encode(encoding, "backslashreplace").decode(encoding))


def show_json(document: Any) -> None:
    """Prints one JSON document."""
    print(json.dumps(document, indent=2))


def megabytes(size: int | None, *, declared: bool = False) -> str:
    """A size for people; ``~`` marks one that the catalog declares."""
    if size is None:
        return "-"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{'~' if declared else ''}{size / factor:.1f} {unit}"
    return f"{'~' if declared else ''}{size} B"
