"""One terminal shared by pytest, by tests that print, and by a line of ours at its bottom.

All that passes through :class:`Watched` streams first erases our line; it is drawn below the cursor
(IND, save, draw, restore), so that what others write goes on where it stopped.
"""

from __future__ import annotations

import os
import re
import threading
from typing import Any, TextIO

from pytest_benchkit.reports.format import encodable

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78DM]")
MAKE_ROOM = "\x1bD\x1b[A"
"""IND scrolls when the cursor is on the last line; there is a line below it afterwards."""
SAVE_BELOW, RESTORE = "\x1b7\x1b[B\r", "\x1b8"
ERASE_TO_END, ERASE_LINE = "\x1b[K", "\x1b[2K"


class Screen:
    """The terminal behind ``file``. ``live``: whether a line may be drawn with cursor controls."""

    def __init__(self, file: TextIO, *, live: bool) -> None:
        self.file = file
        self.live = live
        self._lock = threading.RLock()
        self._drawn = False
        self._column = 0
        self._offered: list[str] = []
        # our own descriptor: the file's may point at pytest's capture while a test runs
        self._fd = _duplicate(file)

    @property
    def encoding(self) -> str:
        return getattr(self.file, "encoding", None) or "utf-8"

    # ------------------------------------------------------------------ others' writing

    def write(self, file: TextIO, text: str) -> int:
        """What a watched stream does: our line goes, the text is written at the cursor."""
        with self._lock:
            self.erase()
            count = file.write(text)
            if self.live:
                file.flush()  # else it would come after what we draw through our own descriptor
            self._track(text)
            if self._offered and not self._column:
                self.show_offered()
        return count

    def _track(self, text: str) -> None:
        if "\x1b" in text:
            text = ANSI.sub("", text)
        last = max(text.rfind("\n"), text.rfind("\r"))
        self._column = len(text) - last - 1 if last >= 0 else self._column + len(text)

    # ------------------------------------------------------------------ our writing

    def show(self, line: str) -> None:
        """Writes a line of its own, from any thread, also while a test is captured."""
        with self._lock:
            self.erase()
            text = ("\n" if self._column else "") + encodable(line, self.encoding) + "\n"
            self._column = 0
            if self._fd is None:
                self.file.write(text)
                self.file.flush()
                return
            if _same(self._fd, self.file):
                self.file.flush()
            self._send(text)

    def offer(self, line: str) -> None:
        """Shows a line that can wait until nobody's line is torn by it."""
        with self._lock:
            self._offered.append(line)
            if not self._column:
                self.show_offered()

    def show_offered(self) -> None:
        """Shows what waits, now."""
        with self._lock:
            lines, self._offered = self._offered, []
            for line in lines:
                self.show(line)

    def draw(self, line: str) -> None:
        """Shows ``line`` below the cursor, cut to the width; replaces what was drawn before."""
        if not self.live or self._fd is None:
            return
        width = self.width
        text = encodable(line, self.encoding)[: max(0, width - 1)]
        with self._lock:
            if self._column and self._column % width == 0:
                return  # the cursor hangs behind the last column, which no terminal saves alike
            self._send(f"{MAKE_ROOM}{SAVE_BELOW}{text}{ERASE_TO_END}{RESTORE}")
            self._drawn = True

    def erase(self) -> None:
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._send(f"{SAVE_BELOW}{ERASE_LINE}{RESTORE}")

    @property
    def width(self) -> int:
        try:
            return os.get_terminal_size(self._fd if self._fd is not None else 1).columns or 80
        except OSError:
            return 80

    def _send(self, text: str) -> None:
        data = text.encode(self.encoding, "backslashreplace")
        try:
            while data and self._fd is not None:
                data = data[os.write(self._fd, data) :]
        except OSError:
            # nobody reads any more (`| head`, a closed window): rows are still asked and stored
            self.live = False

    def close(self) -> None:
        with self._lock:
            self.erase()
            self.show_offered()
            self.live = False
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None


class Watched:
    """A text stream that tells the screen before it writes."""

    def __init__(self, file: TextIO, screen: Screen) -> None:
        self._file = file
        self._screen = screen

    def write(self, text: str) -> int:
        return self._screen.write(self._file, text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "fileno"):  # whoever asks for these writes past us
            self._screen.erase()
        return getattr(self._file, name)


def _duplicate(file: TextIO) -> int | None:
    try:
        return os.dup(file.fileno())
    except (OSError, ValueError, AttributeError):
        return None


def _same(fd: int, file: TextIO) -> bool:
    """Whether the file still is what it was, and not pytest's capture."""
    try:
        return os.path.samestat(os.fstat(fd), os.fstat(file.fileno()))
    except (OSError, ValueError):
        return False
