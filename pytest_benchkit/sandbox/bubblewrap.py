"""bubblewrap: namespaces of the kernel, set up by one small program (``apt-get install bubblewrap``).

Run by root, everything inside belongs to a user who owns nothing outside (:data:`NOBODY_OUTSIDE`): as root
mapped to another name, a program could still write what only the kernel guards by user id (``/proc/sys``),
and no limit on processes would count for it. Run by anyone else, that user stands behind it.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

from pytest_benchkit.sandbox import seccomp
from pytest_benchkit.sandbox.backend import Command
from pytest_benchkit.sandbox.interpreter import BOX, INSIDE, PACKAGES, VARIABLES, interpreter, start_of
from pytest_benchkit.sandbox.limits import Limits

SCRATCH = VARIABLES["HOME"]
NOBODY = 65534
FIRST_USER, USERS = 100_000, 50_000
"""Users inside, for each sandbox that root starts another one: the kernel counts processes by user."""
NOBODY_OUTSIDE = 0x70000000
"""The first of them outside: behind all that systemd hands out (its containers end at 0x6FFFFFFF)."""
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/nix/store")
REMEDY = "apt-get install bubblewrap"
KEPT = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL")
NAMESPACES = ("pid", "net", "ipc", "uts", "cgroup-try")


class Bubblewrap:
    """The backend over ``bwrap``; ``program`` is where it is."""

    name = "bubblewrap"
    shares_sockets = True

    def __init__(self, program: str | None = None) -> None:
        self._program = program or shutil.which("bwrap")
        self._users: int | None = None
        # other sessions on this machine take users too, and the kernel counts processes by user
        self._started = itertools.count(secrets.randbelow(USERS))

    @cached_property
    def version(self) -> str:
        if self._program is None:
            return ""
        told = subprocess.run(
            [self._program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
        return told.stdout.strip().removeprefix("bubblewrap ")

    def probe(self) -> str | None:
        """Why ``bwrap`` cannot isolate here. Starts it once, with everything that a program gets."""
        if self._program is None:
            return f"bubblewrap is not installed ({REMEDY})"
        try:
            if os.getuid() == 0:
                self._own_users()
            done = self._try_out()
        except (OSError, subprocess.SubprocessError) as error:
            return f"bubblewrap {self.version} does not start here: {error}"
        if done.returncode != 0 or done.stdout != b"ok\n":
            words = done.stderr.decode(errors="replace").strip().splitlines()
            why = words[-1] if words else f"status {done.returncode}"
            return f"bubblewrap {self.version} cannot isolate here: {why}"
        return None

    def _try_out(self) -> subprocess.CompletedProcess[bytes]:
        command = self._command(Limits(), start_of("worker", function="check"))
        try:
            return subprocess.run(
                command.argv,
                capture_output=True,
                pass_fds=command.inherited,
                env={},
                timeout=20,
                check=False,
            )
        finally:
            for descriptor in command.once:
                os.close(descriptor)

    def command(self, script: str, limits: Limits, *words: str) -> Command:
        return self._command(limits, start_of(script, *words))

    def _command(self, limits: Limits, python: list[str]) -> Command:
        user = str(FIRST_USER + next(self._started) % USERS)
        lines = seccomp.program()
        filters = () if lines is None else (_readable(lines),)
        options = self.options(filters, limits.scratch)
        # on the command line they could be read inside, with the paths of this machine
        arguments = _readable(b"".join(os.fsencode(option) + b"\0" for option in options))
        argv = [self._program or "bwrap", "--args", str(arguments), interpreter().executable, *python, user]
        return Command(argv, self._kept(), (*filters, arguments))

    def facts(self) -> dict[str, str | None]:
        return {"name": self.name, "version": self.version, "numpy": interpreter().numpy_version}

    # ------------------------------------------------------------------ the command line

    def options(self, filters: tuple[int, ...], scratch: int) -> list[str]:
        """What ``bwrap`` is told; the system-call filter is read from descriptors."""
        options = self._identity()
        options += [f"--unshare-{name}" for name in NAMESPACES]
        options += ["--die-with-parent", "--new-session", "--clearenv"]
        for name, value in VARIABLES.items():
            options += ["--setenv", name, value]
        options += [*self._shown, "--ro-bind", str(INSIDE), BOX]
        options += ["--proc", "/proc", "--dev", "/dev"]
        options += ["--perms", "1777", "--size", str(scratch), "--tmpfs", SCRATCH, "--chdir", SCRATCH]
        for mounted in ("/dev", "/proc", "/"):
            options += ["--remount-ro", mounted]
        for descriptor in filters:
            options += ["--seccomp", str(descriptor)]
        return options

    def _identity(self) -> list[str]:
        """Who the program is: nobody, without a capability. Started by root, only what starts programs is
        not yet nobody, and can become so, and end them."""
        dropped = ["--cap-drop", "ALL"]
        if self._users is None:
            return ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY), *dropped]
        kept = [word for name in KEPT for word in ("--cap-add", name)]
        return ["--userns", str(self._users), *dropped, *kept]

    def _kept(self) -> tuple[int, ...]:
        return () if self._users is None else (self._users,)

    def _own_users(self) -> None:
        """Opens a user namespace in which root is root and all others are nobody outside."""
        if self._users is not None:
            return
        holder = subprocess.Popen(
            ["unshare", "--user", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE, env=VARIABLES
        )
        try:
            if holder.stdout is None or not holder.stdout.readline():
                raise OSError("no user namespace can be made")
            entry = Path(f"/proc/{holder.pid}")
            for kind in ("uid_map", "gid_map"):
                (entry / kind).write_text(f"0 0 1\n{FIRST_USER} {NOBODY_OUTSIDE} {USERS}\n")
            self._users = os.open(entry / "ns" / "user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            holder.kill()
            holder.communicate()

    @cached_property
    def _shown(self) -> list[str]:
        return [*self._system(), *self._python()]

    def _system(self) -> list[str]:
        options: list[str] = []
        for path in SYSTEM:
            if Path(path).is_symlink():
                options += ["--symlink", str(Path(path).readlink()), path]
            elif Path(path).is_dir():
                options += ["--ro-bind", path, path]
        return options

    def _python(self) -> list[str]:
        """The base installation with its folders of packages covered, and numpy alone beside it."""
        python = interpreter()
        options = []
        if not f"{python.prefix}/".startswith("/usr/"):
            for parent in reversed(Path(python.prefix).parents[:-1]):  # a home may be closed to nobody
                options += ["--perms", "0755", "--dir", str(parent)]
            options += ["--ro-bind", python.prefix, python.prefix]
        for folder in python.hidden:
            if Path(folder).is_dir() and folder.startswith(("/usr/", python.prefix + "/")):
                options += ["--perms", "0755", "--tmpfs", folder, "--remount-ro", folder]
        options += ["--perms", "0755", "--dir", PACKAGES]
        for folder in python.numpy:
            options += ["--ro-bind", folder, f"{PACKAGES}/{Path(folder).name}"]
        return options


def _readable(data: bytes) -> int:
    """A descriptor to read these bytes from; they fit into a pipe."""
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return read
