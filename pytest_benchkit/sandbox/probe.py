"""Which isolation this machine has: asked once a process, by preflight and by ``benchkit doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pytest_benchkit.errors import SkipTask

if TYPE_CHECKING:
    from pytest_benchkit.sandbox.backend import Backend

NO_SANDBOX = "no_sandbox"


@dataclass(frozen=True, slots=True)
class Isolation:
    """The backend to use, or why there is none, as sentences with the remedy."""

    backend: Backend | None
    problem: str | None = None


@cache
def isolation() -> Isolation:
    """The first backend that works here: bubblewrap, docker, podman. Starts each once (about 30 ms)."""
    from pytest_benchkit.sandbox.bubblewrap import Bubblewrap
    from pytest_benchkit.sandbox.container import Container

    problems = []
    backends: tuple[Backend, ...] = (Bubblewrap(), Container("docker"), Container("podman"))
    for backend in backends:
        problem = backend.probe()
        if problem is None:
            return Isolation(backend)
        problems.append(problem)
    return Isolation(None, f"programs are only judged in isolation: {'; '.join(problems)}")


def require() -> Backend:
    """The backend. Raises :class:`SkipTask` (``no_sandbox``) when there is none."""
    found = isolation()
    if found.backend is None:
        raise SkipTask(NO_SANDBOX, found.problem or "")
    return found.backend
