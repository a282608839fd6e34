"""Container engines: docker and podman, by their command line.

The image has to be there already (``BENCHKIT_SANDBOX_IMAGE``, default the official slim Python of our own
minor version): nothing is pulled while a benchmark runs. A start takes a good part of a second, a judge is
started for each program, and CPU time is limited by the kernel in whole seconds, for it cannot be seen from
outside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_benchkit.sandbox.backend import Command
from pytest_benchkit.sandbox.interpreter import BOX, INSIDE, VARIABLES, start_of
from pytest_benchkit.sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

IMAGE_VARIABLE = "BENCHKIT_SANDBOX_IMAGE"
NOBODY = "65534:65534"
ASKED_S = 20.0


class Container:
    """The backend over an engine, ``docker`` or ``podman``; ``program`` is where its command is."""

    shares_sockets = False

    def __init__(self, engine: str, program: str | None = None, image: str | None = None) -> None:
        self.name = engine
        self._program = program or shutil.which(engine)
        default = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
        self.image = image or os.environ.get(IMAGE_VARIABLE) or default

    @cached_property
    def version(self) -> str:
        """The engine's version; empty when it does not answer."""
        return self._asked("version", "--format", "{{.Server.Version}}")[0]

    @cached_property
    def _digest(self) -> str:
        return self._asked("image", "inspect", "--format", "{{.Id}}", self.image)[0]

    def probe(self) -> str | None:
        if self._program is None:
            return f"{self.name} is not installed"
        if not self.version:
            return f"{self.name} has no engine that answers"
        if not self._digest:
            return f"{self.name} has no image {self.image} ({self.name} pull {self.image})"
        words, complaint = self._asked(*self._run(Limits(), start_of("worker", function="check"))[1:])
        return None if words == "ok" else f"{self.name} cannot run {self.image}: {complaint}"

    def command(self, script: str, limits: Limits, *words: str) -> Command:
        name = f"benchkit-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        argv = self._run(limits, start_of(script, *words), name=name)
        return Command(argv, after=(self._program or self.name, "kill", name))

    def facts(self) -> dict[str, str | None]:
        return {
            "name": self.name,
            "version": self.version,
            "image": f"{self.image} {self._digest}",
            "numpy": None,
        }

    def _run(self, limits: Limits, words: Sequence[str], name: str | None = None) -> list[str]:
        options = ["run", "--rm", "--interactive", "--pull", "never", "--log-driver", "none"]
        options += ["--network", "none", "--read-only", "--ipc", "private", "--user", NOBODY]
        options += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        options += ["--pids-limit", str(limits.processes), "--memory", str(limits.memory)]
        options += ["--memory-swap", str(limits.memory), "--workdir", VARIABLES["HOME"]]
        options += ["--tmpfs", f"{VARIABLES['HOME']}:rw,mode=1777,size={limits.scratch}"]
        options += ["--mount", f"type=bind,source={INSIDE},target={BOX},readonly"]
        for variable, value in VARIABLES.items():
            options += ["--env", f"{variable}={value}"]
        if name is not None:
            options += ["--name", name]
        return [self._program or self.name, *options, "--entrypoint", "python3", self.image, *words]

    def _asked(self, *words: str) -> tuple[str, str]:
        """(what the engine printed, the last line of its complaint); nothing printed when it failed."""
        if self._program is None:
            return "", "not installed"
        try:
            done = subprocess.run(
                [self._program, *words],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=ASKED_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return "", str(error)
        complaint = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return (done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""), complaint
