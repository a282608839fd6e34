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
        raise UsageProblem(
            "--write needs the package tomlkit: pip install 'pytest-benchkit[calibrate]'"
        ) from None
    mark = BOM if text.startswith(BOM) else ""
    windows = text.count("\r\n") == text.count("\n") > 0
    text = text.removeprefix(BOM)
    document = tomlkit.parse(text.replace("\r\n", "\n") if windows else text)
    table: Any = document["benchmarks"]
    mine: Any = table[entry.position]
    mine["status"] = "measured"
    if make_default:
        mine["default"] = True
    words = f"{entry.note.strip()}\n{note}".strip()
    mine["note"] = tomlkit.string(words, multiline="\n" in words)
    new = "metrics" not in mine
    if new:
        mine["metrics"] = tomlkit.table()
    metrics = mine["metrics"]
    for name, bound in bounds.items():
        inline = tomlkit.inline_table()
        for key, value in bound.plain().items():
            inline.append(key, _number(value))
        metrics[name] = inline
    if new and entry.position + 1 < len(table):
        metrics.add(tomlkit.nl())  # before the next entry
    written = tomlkit.dumps(document)
    return mark + (written.replace("\n", "\r\n") if windows else written)


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
