"""Runs a published evaluator's script inside bubblewrap: it executes programs in its own process."""

from __future__ import annotations

import os
import subprocess
import sys


def outcomes(script: str, told: str, *visible: str) -> list[bool]:
    """What a script prints, ``1`` or ``0`` a line, for the lines that it is told. It sees this machine's
    files but for /tmp, changes none of them, has no network, and gets ``visible`` (folders) as its
    arguments."""
    jail = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--tmpfs", "/tmp"]
    for folder in visible:
        jail += ["--ro-bind", folder, folder]
    jail += ["--dev", "/dev", "--proc", "/proc", "--clearenv"]
    command = [*jail, os.path.realpath(sys.executable), "-I", "-c", script, *visible]
    done = subprocess.run(command, input=told, capture_output=True, text=True, check=True)
    return [line == "1" for line in done.stdout.split()]
