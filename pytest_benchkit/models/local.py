"""The embedded model ``local``: a real llama.cpp server in a subprocess of ours (M-16).

The runtime is the package xllamacpp, the extra ``local``. One server per run: it belongs to the process that
started it, listens on 127.0.0.1 at a free port, and ends with that process, however that one ends.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pytest_benchkit.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(__file__).with_name("local_server.py")
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
LOG_TAIL = 8192
DEFAULT_SLOTS = 2
"""Requests at a time: two share the weights and give 1.25 times the tokens of one on two cores."""
DEFAULT_CONTEXT = 4096
"""Window of each slot, in tokens."""


def default_threads() -> int:
    """Threads for a user's machine: two, or one where there is only one core for us."""
    return min(2, len(os.sched_getaffinity(0)))


class LocalServer:
    """A running server. ``base_url`` has no ``/v1``; ``pid`` is its process."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, log: Path) -> None:
        self._process = process
        self.base_url = base_url
        self.log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the server and waits for it. May be called again."""
        _end(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()


def available() -> bool:
    """Whether the runtime is installed; looks without importing it."""
    return importlib.util.find_spec("xllamacpp") is not None


def start(
    path: Path,
    *,
    slots: int = DEFAULT_SLOTS,
    context: int = DEFAULT_CONTEXT,
    threads: int | None = None,
    log: Path,
    say: Callable[[str], None],
    alias: str = "local",
) -> LocalServer:
    """Starts llama.cpp on a GGUF file and waits until it serves, at most 60 s.

    ``context`` is the window in tokens of each of ``slots`` parallel requests; ``log`` takes the server's
    standard error. Raises :class:`ModelError` when the runtime is missing, the file is no model, or the
    server does not come up; the text quotes llama.cpp's own reason.
    """
    if not available():
        raise ModelError(
            "the local model needs the package xllamacpp (Linux x86-64): pip install 'pytest-benchkit[local]'"
        )
    if not path.is_file():
        raise ModelError(
            f"there is no model file {path}: give a GGUF file, as in --bench-model=local:model.gguf"
        )
    config = {
        "path": str(path),
        "alias": alias,
        "slots": slots,
        "context": context,
        "threads": threads or default_threads(),
    }
    say(f"starting the local model {path.name} ({slots} x {context} tokens, {config['threads']} threads)")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        begin = errors.tell()
        process = subprocess.Popen(
            # -P: the program's own folder must not come before the standard library.
            [sys.executable, "-P", str(PROGRAM), json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Spinning OpenMP threads fall to 1 tok/s when something else wants a core; sleeping ones share.
            env={"OMP_WAIT_POLICY": "passive", **os.environ},
            # A Ctrl-C in the terminal is for us; we end the server when its requests are dealt with.
            start_new_session=True,
        )
    try:
        return LocalServer(process, _address(process, path, log, begin), log)
    except BaseException:
        _end(process)
        raise


def _address(process: subprocess.Popen[bytes], path: Path, log: Path, begin: int) -> str:
    """Waits for the line that tells the address."""
    if process.stdout is None:
        raise ModelError("the local model's process has no output to tell its address on")
    line = b""
    deadline = time.monotonic() + START_TIMEOUT_S
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise ModelError(
                f"the local model {path} was not ready within {START_TIMEOUT_S:g} s; its log is {log}"
            )
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            code = process.wait()
            raise ModelError(
                f"llama.cpp could not start on {path} (exit {code}): {_cause(log, begin)}; the log is {log}"
            )
        line += piece
    address = json.loads(line)["address"]
    return str(address)


def _cause(log: Path, begin: int) -> str:
    """The last lines of the log that tell of an error, else the last line."""
    with log.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(begin, end - LOG_TAIL))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "fail" in line.lower()]
    found = telling[-3:] or lines[-1:] or ["it wrote no reason"]
    return " / ".join("".join(c if c.isprintable() else " " for c in line)[:300] for line in found)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Closing its input asks the server to end; what does not listen is killed."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
