"""The command lines of the backends, and what they say where they cannot work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_benchkit.errors import SandboxError, SkipTask
from pytest_benchkit.sandbox import interpreter, probe
from pytest_benchkit.sandbox.bubblewrap import Bubblewrap
from pytest_benchkit.sandbox.container import Container
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.sandbox.pool import Pool
from pytest_benchkit.scoring.programs import Program, Trial, attempt

ENGINE = """#!{python}
import os, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
if words[:1] == ["version"]:
    print("27.1")
elif words[:2] == ["image", "inspect"]:
    print("sha256:abc") if {image} else sys.exit(1)
elif words[:1] == ["run"]:
    start = words[words.index("python:test") + 1 :]
    start = [word.replace("/box", {inside!r}) for word in start]
    os.execv(sys.executable, [sys.executable, *start])
"""
"""Stands for an engine: runs what it is told to run, without any isolation."""


def engine(folder: Path, *, image: bool = True) -> tuple[Container, Path]:
    program, log = folder / "docker", folder / "log"
    text = ENGINE.format(python=sys.executable, log=str(log), image=image, inside=str(interpreter.INSIDE))
    program.write_text(text)
    program.chmod(0o755)
    return Container("docker", str(program), "python:test"), log


def test_container_command_isolates() -> None:
    command = Container("podman", "/usr/bin/podman", "python:test").command("worker", Limits(), "x")
    line = " ".join(command.argv)
    assert command.argv[:2] == ["/usr/bin/podman", "run"]
    for words in (
        "--rm --interactive --pull never",
        "--network none --read-only",
        "--user 65534:65534 --cap-drop ALL --security-opt no-new-privileges",
        "--pids-limit 64 --memory 4294967296 --memory-swap 4294967296 --workdir /tmp",
        "--tmpfs /tmp:rw,mode=1777,size=67108864",
        "target=/box,readonly",
        "--env PYTHONHASHSEED=0",
        "--entrypoint python3 python:test -s -P -S -B -c",
    ):
        assert words in line
    name = command.argv[command.argv.index("--name") + 1]
    assert command.after == ("/usr/bin/podman", "kill", name)
    assert "--privileged" not in line
    assert line.count("--mount") == 1


def test_container_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Container("podman").probe() == "podman is not installed"
    dead = tmp_path / "dead"
    dead.write_text("#!/bin/sh\nexit 1\n")
    dead.chmod(0o755)
    assert Container("docker", str(dead)).probe() == "docker has no engine that answers"
    found, _ = engine(tmp_path, image=False)
    assert found.probe() == "docker has no image python:test (docker pull python:test)"


@pytest.fixture
def harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside, for engines that isolate nothing: does not give up this user's rights."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for path in interpreter.INSIDE.glob("*.py"):
        text = path.read_text().replace("os.getuid() == 0", "False").replace("os.nice(NICE)", "pass")
        (inside / path.name).write_text(text)
    monkeypatch.setattr(interpreter, "INSIDE", inside)


def test_container_probe_runs_python(tmp_path: Path, harmless: None) -> None:
    found, log = engine(tmp_path)
    assert found.probe() is None
    assert "from worker import check" in log.read_text()
    assert found.facts() == {
        "name": "docker",
        "version": "27.1",
        "image": "python:test sha256:abc",
        "numpy": None,
    }


def test_a_container_judges_and_is_killed(tmp_path: Path, harmless: None) -> None:
    """The protocol over a stand-in engine: one container for the worker, one for the judge."""
    found, log = engine(tmp_path)
    pool = Pool(found, 1)
    try:
        program = Program("def f(n):\n    return n + 1\n", "f")
        assert attempt(pool, program, Trial("assert candidate(1) == 2"), Limits()).category == "passed"
        assert attempt(pool, program, Trial("assert candidate(1) == 3"), Limits()).category == "wrong_value"
    finally:
        pool.close()
    lines = log.read_text().splitlines()
    started = [line for line in lines if line.startswith("run")]
    assert sum("from judge import main" in line for line in started) == 2
    assert len([line for line in lines if line.startswith("kill benchkit-")]) == len(started)


def test_bubblewrap_is_told_to_isolate() -> None:
    options = " ".join(Bubblewrap("/usr/bin/bwrap").options((9,), 1000))
    for words in (
        "--unshare-user --uid 65534 --gid 65534 --cap-drop ALL",
        "--unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try",
        "--die-with-parent --new-session --clearenv",
        "--ro-bind /usr /usr",
        "--perms 1777 --size 1000 --tmpfs /tmp --chdir /tmp",
        "--remount-ro /dev --remount-ro /proc --remount-ro / --seccomp 9",
    ):
        assert words in options
    assert "--bind " not in options.replace("--ro-bind ", "")
    assert "/etc" not in options


def test_bubblewrap_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    problem = Bubblewrap(str(broken)).probe()
    assert problem is not None
    assert problem.endswith("cannot isolate here: bwrap: No permissions to create new namespace")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert Bubblewrap().probe() == "bubblewrap is not installed (apt-get install bubblewrap)"


def test_without_isolation_rows_are_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe.isolation.cache_clear()
    try:
        with pytest.raises(SkipTask, match=r"only judged in isolation: .*apt-get install bubblewrap") as skip:
            probe.require()
        assert skip.value.detail == "no_sandbox"
    finally:
        probe.isolation.cache_clear()


def test_a_sandbox_that_does_not_start_is_our_error(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces today >&2\nexit 1\n")
    broken.chmod(0o755)
    pool = Pool(Bubblewrap(str(broken)), 1)
    try:
        with (
            pytest.raises(SandboxError, match="no namespaces today"),
            pool.worker(Limits()),
        ):
            raise AssertionError("there is no worker")
        with pytest.raises(SandboxError, match="no namespaces today"), pool.judge():
            raise AssertionError("there is no judge")
    finally:
        pool.close()


def test_packages_of_the_base_installation_are_covered() -> None:
    python = interpreter.interpreter()
    assert any(folder.endswith("-packages") for folder in python.hidden)
    shown = Bubblewrap("/usr/bin/bwrap").options((), 1)
    for folder in python.hidden:
        if Path(folder).is_dir() and folder.startswith((f"{python.prefix}/", "/usr/")):
            assert shown[shown.index(folder) - 1] == "--tmpfs"
