"""The cache folder of this machine: where it is, how files get into it whole, and who may write."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 20
"""Bytes read at a time, so that hashing a file of any size needs one mebibyte of memory."""


def cache_dir() -> Path:
    """The folder for data sets and models: ``$BENCHKIT_CACHE``, else ``pytest-benchkit`` in the XDG cache.

    A relative ``XDG_CACHE_HOME`` is ignored, as the XDG base directory specification asks. The folder is
    not created.
    """
    if chosen := os.environ.get("BENCHKIT_CACHE"):
        return Path(chosen).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(xdg) if xdg and Path(xdg).is_absolute() else Path.home() / ".cache"
    return base / "pytest-benchkit"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the inter-process lock of ``path`` (a ``.lock`` file beside it) for the body.

    Blocks until the holder leaves or dies; the kernel frees the lock of a killed process. The lock file
    is left in place: removing it would let two processes lock two different files.
    Raises :class:`DataError` when the folder cannot be written.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise unwritable(lock, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def unwritable(path: Path, error: OSError) -> DataError:
    """The sentence for a cache that cannot be written."""
    why = error.strerror or type(error).__name__
    return DataError(f"cannot write {path} ({why}): make it writable or set BENCHKIT_CACHE to another folder")


def write_atomic(path: Path, data: bytes) -> None:
    """Writes a file so that readers see the old content or the new one, never a part of it.

    Raises :class:`DataError` when the folder cannot be written.
    """
    with replacing(path) as partial:
        partial.write_bytes(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a partial file beside ``path``; renamed over it when the body succeeds, removed when not.

    Raises :class:`DataError` when the folder cannot be written.
    """
    partial: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        partial = Path(name)
        os.fchmod(handle, 0o644)
        os.close(handle)
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def sha256_file(path: Path) -> str:
    """Hex sha256 of a file's bytes, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def stamp_of(path: Path, sha256: str) -> dict[str, Any]:
    """What spares rehashing: name, size, time of change and the hash that was true of them."""
    stat = path.stat()
    return {"name": path.name, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": sha256}


def stamp_holds(path: Path, stamp: dict[str, Any]) -> bool:
    """Whether the file still has the size and time of change of its stamp."""
    try:
        stat = path.stat()
    except OSError:
        return False
    return stat.st_size == stamp.get("bytes") and stat.st_mtime_ns == stamp.get("mtime_ns")


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object of ours from the cache, or ``None`` when absent or not one (it is then made again)."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
