"""A small model of a terminal, and runs of pytest inside a real pseudo-terminal that feed it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SEQUENCE = re.compile(r"\x1b(?:\[([0-9;?]*)([A-Za-z])|([78DM]))|([\r\n\b])|([^\x1b\r\n\b]+)")


@dataclass
class Screen:
    """What is on the screen, and what has scrolled off it: enough of a VT100 for pytest and for us."""

    columns: int
    rows: int
    lines: list[list[str]] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    x: int = 0
    y: int = 0
    saved: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.lines = [[] for _ in range(self.rows)]

    def feed(self, text: str) -> None:
        for match in SEQUENCE.finditer(text):
            numbers, letter, escape, control, words = match.groups()
            if words:
                for character in words:
                    self._put(character)
            elif control == "\r":
                self.x = 0
            elif control == "\b":
                self.x = max(0, self.x - 1)
            elif control == "\n" or escape == "D":
                self._down()
            elif escape == "7":
                self.saved = (self.x, self.y)
            elif escape == "8":
                self.x, self.y = self.saved
            elif letter:
                self._csi(numbers, letter)

    def _csi(self, numbers: str, letter: str) -> None:
        first = (
            int(numbers.split(";", maxsplit=1)[0] or 0)
            if numbers.replace(";", "").isdigit() or not numbers
            else 0
        )
        if letter == "A":
            self.y = max(0, self.y - max(1, first))
        elif letter == "B":
            self.y = min(self.rows - 1, self.y + max(1, first))
        elif letter == "K":
            line = self.lines[self.y]
            if first == 2:
                line.clear()
            else:
                del line[self.x :]
        elif letter != "m":
            raise AssertionError(f"this screen knows no CSI {numbers}{letter}")

    def _put(self, character: str) -> None:
        if self.x >= self.columns:
            self.x = 0
            self._down()
        line = self.lines[self.y]
        line.extend(" " * (self.x - len(line) + 1))
        line[self.x] = character
        self.x += 1

    def _down(self) -> None:
        if self.y == self.rows - 1:
            self.history.append("".join(self.lines.pop(0)).rstrip())
            self.lines.append([])
        else:
            self.y += 1

    @property
    def display(self) -> list[str]:
        return ["".join(line).rstrip() for line in self.lines]

    @property
    def text(self) -> list[str]:
        """All lines, those that scrolled away first, without the empty ones at the end."""
        lines = [*self.history, *self.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines


@dataclass
class Terminal:
    """How a run in a pseudo-terminal ended: exit status, raw output, and what was on the screen meanwhile."""

    ret: int
    raw: str
    screen: Screen
    seen: list[list[str]]


def run_in_terminal(
    words: Sequence[str],
    folder: Path,
    *,
    columns: int = 100,
    rows: int = 24,
    environ: Mapping[str, str] | None = None,
    keys: Callable[[Screen], bytes | None] = lambda screen: None,
    seconds: float = 60.0,
) -> Terminal:
    """Runs a program in a terminal of that size; ``keys`` may type something after each output."""
    main, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "CI")}
    variables.update({"TERM": "xterm", "PY_COLORS": "1", **(environ or {})})
    variables.pop("PYTEST_ADDOPTS", None)
    process = subprocess.Popen(words, cwd=folder, stdin=end, stdout=end, stderr=end, env=variables)
    os.close(end)
    screen, raw, seen = Screen(columns, rows), b"", [[""]]
    limit = time.monotonic() + seconds
    try:
        while time.monotonic() < limit:
            if not select.select([main], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(main, 65536)
            except OSError:  # the other end is closed: Linux says EIO
                break
            if not data:
                break
            raw += data
            screen.feed(data.decode("utf-8", "replace"))
            seen.append(screen.display)
            if typed := keys(screen):
                os.write(main, typed)
        return Terminal(process.wait(10), raw.decode("utf-8", "replace"), screen, seen)
    finally:
        process.kill()
        process.wait()
        os.close(main)
