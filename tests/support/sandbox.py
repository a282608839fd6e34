"""Tests that start real sandboxes: skipped, with the reason, where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_benchkit.sandbox.probe import isolation


def need_isolation() -> None:
    """Skips the calling test on machines without isolation."""
    found = isolation()
    if found.backend is None:
        pytest.skip(found.problem or "")


def descendants(root: int) -> dict[int, str]:
    """Every living process below this one, by id, with its command line."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text(errors="replace").rpartition(") ")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and words[0] != "Z":
            parents[int(entry.name)] = int(words[1])
    found, fresh = {}, {root}
    while fresh := {pid for pid, parent in parents.items() if parent in fresh}:
        for pid in fresh:
            found[pid] = _command_line(pid)
    return found


def marked(word: str) -> list[int]:
    """Every living process on this machine with the word in its command line, our own apart."""
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    pids = [int(entry.name) for entry in entries if word in _command_line(int(entry.name))]
    return [pid for pid in pids if pid != os.getpid()]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
