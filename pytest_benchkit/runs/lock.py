"""One writer a run folder (J-4): a ``lock`` file that tells the process and host that writes."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

from pytest_benchkit.errors import StoreError, StoreLocked


def acquire(folder: Path, say: Callable[[str], None] = lambda line: None) -> Path:
    """Takes the folder's lock; replaces one whose owner on this host is dead, with a note.

    Raises :class:`StoreLocked` naming the pid when another live process holds it.
    """
    path = folder / "lock"
    mine = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "start": _start_time(os.getpid())})
    for _ in range(3):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            _replace_dead(path, folder, say)
            continue
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from None
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(mine)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from None
        return path
    raise StoreLocked(f"{folder} is being opened by several processes at once; try again")


def _replace_dead(path: Path, folder: Path, say: Callable[[str], None]) -> None:
    try:
        owner = json.loads(path.read_text())
        pid, host, start = int(owner["pid"]), str(owner["host"]), owner.get("start")
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError, OSError):
        pid, host, start = 0, socket.gethostname(), None  # torn while being written: its writer is gone
    if host != socket.gethostname():
        raise StoreLocked(
            f"{folder} is being written by process {pid} on {host}; if that is over, remove {path.name}"
        )
    # a recycled pid has another start time
    if pid and _start_time(pid) is not None and (start is None or _start_time(pid) == start):
        raise StoreLocked(f"{folder} is being written by process {pid}; wait for it or give --bench-run-dir")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; remove it")
    say(f"{folder.name}: its writer (process {pid}) is gone; going on in its place")
    path.unlink(missing_ok=True)


def _start_time(pid: int) -> str | None:
    """When the process started, in the kernel's ticks; ``None`` if there is no such process."""
    try:
        with Path(f"/proc/{pid}/stat").open() as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]
