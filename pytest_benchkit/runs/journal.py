"""An append-only file of JSON lines that survives being killed at any byte (J-1, J-3, J-9)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from pytest_benchkit.errors import StoreError

SYNC_EACH_S = 1.0


class Journal:
    """Appends whole lines, one ``write`` each, from any thread.

    A written line survives a killed process at once; a background thread syncs each second, which
    bounds what a power cut can take. Raises :class:`StoreError` naming the file when it cannot be
    written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._dirty = threading.Event()
        self._closed = threading.Event()
        try:
            torn = path.exists() and not _ends_in_newline(path)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from None
        if torn:  # the next line must not be glued to half a line of a killed writer
            self._write(b"\n")
        self._syncer = threading.Thread(target=self._sync, name="benchkit-fsync", daemon=True)
        self._syncer.start()

    def append(self, line: bytes) -> None:
        with self._lock:
            self._write(line)
        self._dirty.set()

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            raise StoreError(
                f"cannot write {self.path}: {error.strerror}; what is stored so far is kept"
            ) from None

    def _sync(self) -> None:
        while not self._closed.wait(SYNC_EACH_S):
            if self._dirty.is_set():
                self._dirty.clear()
                try:
                    os.fsync(self._fd)
                except OSError:
                    return  # the next write says why

    def close(self) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        self._syncer.join()
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise StoreError(f"cannot sync {self.path}: {error.strerror}") from None
        finally:
            os.close(self._fd)


class Tail:
    """Reads the whole lines that a journal has gained since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def lines(self) -> Iterator[bytes]:
        """Complete new lines, without their LF; half a line stays for the next call."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self._offset += len(line)
                    yield line[:-1]
        except FileNotFoundError:
            return


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
