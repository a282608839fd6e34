"""Control groups of both versions, on folders that look like theirs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_benchkit.sandbox import cgroups
from pytest_benchkit.sandbox.limits import Limits

LIMITS = Limits(memory=1000, processes=7)


def kernel(folder: Path, **files: str) -> None:
    """Writes what the kernel shows in a new group."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def kernel_makes_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """New folders get the file by which a process is moved, and lose it when they are removed."""
    mkdir, rmdir = Path.mkdir, Path.rmdir

    def make(self: Path, *args: object, **kwargs: object) -> None:
        mkdir(self, parents=True, exist_ok=True)
        (self / "cgroup.procs").touch()

    def remove(self: Path) -> None:
        for path in self.iterdir():
            path.unlink()
        rmdir(self)

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(Path, "rmdir", remove)


def test_version_1_has_a_tree_a_controller(tmp_path: Path, kernel_makes_files: None) -> None:
    for name in ("memory", "pids", "cpuacct"):
        (tmp_path / name / "us").mkdir(parents=True)
    mine = "9:name=systemd:/\n4:memory:/us\n3:cpu,cpuacct:/us\n8:pids:/us\n0::/\n"
    tree = cgroups.find(tmp_path, mine)
    assert tree is not None
    assert (tree.version, [str(f.relative_to(tmp_path)) for f in tree.folders]) == (
        1,
        ["memory/us", "pids/us", "cpuacct/us"],
    )
    group = tree.group("benchkit-1-0")
    memory, pids, cpu = group.folders
    kernel(
        memory, memory__limit_in_bytes="", memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
    )
    kernel(pids, pids__max="")
    kernel(cpu, cpuacct__usage="1500000000\n")
    group.enter(42, LIMITS)
    assert (memory / "memory.limit_in_bytes").read_text() == "1000"
    assert (pids / "pids.max").read_text() == "7"
    assert {(folder / "cgroup.procs").read_text() for folder in group.folders} == {"42"}
    assert (group.cpu_s(), group.killed_for_memory(), group.empty) == (1.5, 2, False)
    (memory / "cgroup.procs").write_text("")
    assert group.empty
    group.remove()
    assert not memory.exists()


def test_version_2_has_one_tree(tmp_path: Path, kernel_makes_files: None) -> None:
    (tmp_path / "slice" / "us").mkdir(parents=True)
    (tmp_path / "slice" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    tree = cgroups.find(tmp_path, "0::/slice/us\n")
    assert tree is not None
    assert (tree.version, tree.folders) == (2, (tmp_path / "slice",))
    group = tree.group("benchkit-1-0")
    (folder,) = group.folders
    kernel(
        folder, memory__max="", pids__max="", cpu__stat="usage_usec 2500000\n", memory__events="oom_kill 1\n"
    )
    group.enter(42, LIMITS)
    assert ((folder / "memory.max").read_text(), (folder / "pids.max").read_text()) == ("1000", "7")
    assert (group.cpu_s(), group.killed_for_memory()) == (2.5, 1)


@pytest.mark.parametrize(
    "mine", ["", "0::/slice/us\n", "4:memory:/us\n8:pids:/us\n", "4:memory:/\n8:pids:/\n3:cpuacct:/\n"]
)
def test_none_where_none_can_be_made(tmp_path: Path, mine: str) -> None:
    (tmp_path / "slice" / "us").mkdir(parents=True)
    (tmp_path / "slice" / "cgroup.subtree_control").write_text("cpu\n")
    assert cgroups.find(tmp_path, mine) is None


def test_groups_of_the_dead_are_swept(tmp_path: Path) -> None:
    dead, own = tmp_path / "benchkit-999999999-0", tmp_path / f"benchkit-{os.getpid()}-0"
    other = tmp_path / "benchkit-x"
    for folder in (dead, own, other):
        folder.mkdir()
    cgroups.sweep(cgroups.Tree(2, (tmp_path,)))
    assert (dead.exists(), own.exists(), other.exists()) == (False, True, True)
