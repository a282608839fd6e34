"""Writing proposed bounds into a ``BENCH.toml``, keeping every other byte. Needs the package tomlkit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.gates.schema import Bound, Entry

BOM = "\ufeff"


def with_bounds(
    text: str, entry: Entry, bounds: Mapping[str, Bound], note: str, *, make_default: bool
) -> str:
    """The file's text with these bounds in the entry, other bounds kept.

    An unmeasured entry becomes a measured one, the default if the class has none. ``note`` is added to
    the entry's. Raises :class:`UsageProblem` without tomlkit.
    """
    try:
        import tomlkit
    except ImportError:
        raise UsageProblem("--write needs the package tomlkit: pip install tomlkit") from None
    mark = BOM if text.startswith(BOM) else ""
    document = tomlkit.parse(text.removeprefix(BOM))
    table: Any = document["benchmarks"]
    mine: Any = table[entry.position]
    mine["status"] = "measured"
    if make_default:
        mine["default"] = True
    kept = entry.note.strip()
    mine["note"] = tomlkit.string(f"{kept}\n{note}" if kept else note, multiline=bool(kept))
    if "metrics" not in mine:
        mine["metrics"] = tomlkit.table()
    metrics = mine["metrics"]
    for name, bound in bounds.items():
        inline = tomlkit.inline_table()
        for key, value in bound.plain().items():
            inline.append(key, _number(value))
        metrics[name] = inline
    return mark + tomlkit.dumps(document)


def _number(text: str) -> Any:
    """The number as written."""
    import tomlkit

    return tomlkit.float_(text) if "." in text or "e" in text.lower() else tomlkit.integer(text)


def diff(before: str, after: str, path: str) -> list[str]:
    """A unified diff for people."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path, n=2
    )
    return [line.rstrip("\n") for line in lines]
