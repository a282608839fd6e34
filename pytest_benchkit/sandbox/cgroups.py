"""Control groups: memory and processes of a program and all that it starts, counted together.

Only where this user may make groups (root, as a rule); elsewhere the kernel's limits per process and per user
stand alone. Version 1 has a tree a controller, version 2 one tree for all.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_benchkit.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpuacct")
PREFIX = "benchkit-"
LIMITS = {
    1: {"memory.limit_in_bytes": "memory", "pids.max": "processes"},
    2: {"memory.max": "memory", "pids.max": "processes"},
}
"""Files of each version and the attribute of :class:`Limits` that goes into them."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where groups may be made: the version, and a folder for each controller (version 2: one)."""

    version: int
    folders: tuple[Path, ...]

    def group(self, name: str) -> Group:
        """Makes a group. Raises ``OSError``."""
        group = Group(self.version, tuple(folder / name for folder in self.folders))
        for folder in group.folders:
            folder.mkdir(exist_ok=True)
        return group


@dataclass(slots=True)
class Group:
    """One program's group, used for one program after the other."""

    version: int
    folders: tuple[Path, ...]
    _limits: Limits | None = None

    def enter(self, pid: int, limits: Limits) -> None:
        """Sets the limits and moves a process in. Raises ``OSError``."""
        if limits != self._limits:
            for folder in self.folders:
                for name, attribute in LIMITS[self.version].items():
                    if (folder / name).exists():
                        (folder / name).write_text(str(getattr(limits, attribute)))
            self._limits = limits
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def cpu_s(self) -> float:
        """CPU seconds of all processes that ever were in the group."""
        if self.version == 1:
            return int(self._read("cpuacct.usage")) / 1e9
        return int(self._fields("cpu.stat").get("usage_usec", "0")) / 1e6

    def killed_for_memory(self) -> int:
        """How often the kernel ended a process of the group for its memory."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        return int(self._fields(name).get("oom_kill", "0"))

    @property
    def empty(self) -> bool:
        return not self._read("cgroup.procs").strip()

    def remove(self) -> None:
        """Removes the group; one that still holds a process is left to a later :func:`sweep`."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _read(self, name: str) -> str:
        """A file of the group; of version 1, of the controller that the name begins with."""
        controller = name.partition(".")[0]
        place = CONTROLLERS.index(controller) if self.version == 1 and controller in CONTROLLERS else 0
        return (self.folders[place] / name).read_text()

    def _fields(self, name: str) -> dict[str, str]:
        lines = (line.split() for line in self._read(name).splitlines())
        return {words[0]: words[1] for words in lines if len(words) == 2}


def find(root: Path = ROOT, mine: str | None = None) -> Tree | None:
    """Where this process may make groups that count memory, processes and CPU; ``None`` where it may not.

    ``mine`` stands for ``/proc/self/cgroup``. Groups of version 1 are made below our own, so that what limits
    us limits them; of version 2 beside it, since one that holds processes cannot share controllers out.
    """
    if mine is None:
        with contextlib.suppress(OSError):
            mine = Path("/proc/self/cgroup").read_text()
    own = {
        name: path.lstrip("/")
        for line in (mine or "").splitlines()
        for _, names, path in [line.split(":", 2)]
        for name in names.split(",")
    }
    trees = [
        Tree(1, tuple(root / name / own[name] for name in CONTROLLERS if name in own)),
        Tree(2, ((root / own[""]).parent if own.get("") else root,) if "" in own else ()),
    ]
    return next((tree for tree in trees if _usable(tree)), None)


def _usable(tree: Tree) -> bool:
    if tree.version == 1 and len(tree.folders) != len(CONTROLLERS):
        return False
    if tree.version == 2:
        if not tree.folders:
            return False
        try:
            shared = (tree.folders[0] / "cgroup.subtree_control").read_text().split()
        except OSError:
            return False
        if not {"memory", "pids"} <= set(shared):
            return False
    try:
        group = tree.group(f"{PREFIX}{os.getpid()}-probe")
    except OSError:
        return False
    usable = all(os.access(folder / "cgroup.procs", os.W_OK) for folder in group.folders)
    group.remove()
    return usable


def sweep(tree: Tree) -> None:
    """Removes groups of processes of ours that were killed."""
    for folder in _left_behind(tree.folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _left_behind(folders: Sequence[Path]) -> Iterator[Path]:
    for parent in folders:
        for folder in parent.glob(f"{PREFIX}*"):
            owner = folder.name.removeprefix(PREFIX).split("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                yield folder
