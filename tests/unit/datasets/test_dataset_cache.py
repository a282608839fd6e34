from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_benchkit.datasets.cache import (
    cache_dir,
    locked,
    read_json,
    replacing,
    sha256_file,
    stamp_holds,
    stamp_of,
    write_atomic,
)
from pytest_benchkit.errors import DataError


def test_cache_dir_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "own"
    monkeypatch.setenv("BENCHKIT_CACHE", "")
    assert cache_dir() == tmp_path / "xdg" / "pytest-benchkit"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "pytest-benchkit"


def test_failed_write_keeps_the_old_file_and_leaves_no_part(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")
    with pytest.raises(KeyError), replacing(path) as partial:
        partial.write_bytes(b"half")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="set BENCHKIT_CACHE to another folder"):
        write_atomic(tmp_path / "file" / "below", b"x")
    with (
        pytest.raises(DataError, match="set BENCHKIT_CACHE to another folder"),
        locked(tmp_path / "file" / "x"),
    ):
        pass


def test_lock_holds_between_processes_and_dies_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    holder = (
        "import sys; from pathlib import Path; from pytest_benchkit.datasets.cache import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with path.with_name("file.lock").open("rb") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        process.kill()
    with locked(path):
        pass


def test_stamp_notices_every_change(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    stamp = stamp_of(path, sha256_file(path))
    assert stamp_holds(path, stamp)
    os.utime(path, ns=(0, 0))
    assert not stamp_holds(path, stamp)
    path.unlink()
    assert not stamp_holds(path, stamp)


@pytest.mark.parametrize("text", ["", "[]", "{", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")])
def test_json_of_another_kind_is_no_document(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text, encoding="latin-1")
    assert read_json(tmp_path / "f") is None
    assert read_json(tmp_path / "absent") is None
