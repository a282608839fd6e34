"""Starting and ending the local server, as far as that needs no runtime and no model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.errors import ModelError
from pytest_benchkit.models import local

if TYPE_CHECKING:
    from pathlib import Path


def start(path: Path, folder: Path) -> local.LocalServer:
    return local.start(path, log=folder / "log", say=lambda line: None)


def test_without_the_runtime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "available", lambda: False)
    with pytest.raises(ModelError, match=r"pip install 'pytest-benchkit\[local\]'"):
        start(tmp_path / "x.gguf", tmp_path)


def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "available", lambda: True)
    with pytest.raises(ModelError, match=r"no model file .*x\.gguf"):
        start(tmp_path / "x.gguf", tmp_path)


def fake(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> Path:
    """Puts a program of ours in the place of the server's."""
    monkeypatch.setattr(local, "available", lambda: True)
    script = folder / "server.py"
    script.write_text(program)
    monkeypatch.setattr(local, "PROGRAM", script)
    model = folder / "m.gguf"
    model.write_bytes(b"x")
    return model


def test_the_cause_of_a_failed_start_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = (
        "import sys\nsys.stderr.write('I hello\\nE error: bad \\x1b[31mmagic\\nI bye\\n')\nsys.exit(1)\n"
    )
    model = fake(monkeypatch, tmp_path, program)
    (tmp_path / "log").write_text("error: of an earlier run\n")
    with pytest.raises(ModelError, match=r"exit 1\): E error: bad  \[31mmagic; the log is") as caught:
        start(model, tmp_path)
    assert "earlier" not in str(caught.value)


def test_a_server_that_never_comes_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = fake(monkeypatch, tmp_path, "import sys\nsys.stdin.read()\n")
    monkeypatch.setattr(local, "START_TIMEOUT_S", 0.2)
    with pytest.raises(ModelError, match=r"not ready within 0\.2 s"):
        start(model, tmp_path)


def test_a_server_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = 'import time\nprint(\'{"address": "http://127.0.0.1:1"}\', flush=True)\ntime.sleep(600)\n'
    model = fake(monkeypatch, tmp_path, program)
    monkeypatch.setattr(local, "STOP_TIMEOUT_S", 0.2)
    server = start(model, tmp_path)
    assert server.alive
    server.stop()
    server.stop()
    assert not server.alive


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, threads in ((1, 1), (2, 2), (64, 2)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, n=cores: set(range(n)))
        assert local.default_threads() == threads
