"""How much a program may use: :class:`Limits` (PG-7)."""

from __future__ import annotations

import math
from dataclasses import dataclass

WALL_FACTOR, WALL_EXTRA_S = 5.0, 10.0
"""The wall backstop: on a machine as loaded as this, CPU seconds alone decide."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one program, whatever it starts included.

    ``cpu_s``: CPU seconds in all; ``memory``: bytes of address space of a process, and of memory of all its
    processes where a cgroup counts them; ``processes`` and ``files``: open at once; ``file_size``: bytes of
    one file; ``scratch``: bytes of all files.
    """

    cpu_s: float = 10.0
    memory: int = 4 << 30
    processes: int = 64
    files: int = 64
    file_size: int = 16 << 20
    scratch: int = 64 << 20

    @property
    def wall_s(self) -> float:
        return self.wall_of(self.cpu_s)

    @staticmethod
    def wall_of(cpu_s: float) -> float:
        """Seconds of wall time after which something that may use so much CPU is given up."""
        return WALL_FACTOR * cpu_s + WALL_EXTRA_S

    def resources(self) -> dict[str, int]:
        """What the process sets on itself before it runs anything: names of ``RLIMIT_*`` and values.

        Kernel limits on CPU are a backstop a second or two above the one that is measured from outside: they
        count whole seconds and each process apart.
        """
        return {
            "CPU": math.ceil(self.cpu_s) + 2,
            "AS": self.memory,
            "NPROC": self.processes,
            "NOFILE": self.files,
            "FSIZE": self.file_size,
            "CORE": 0,
        }
