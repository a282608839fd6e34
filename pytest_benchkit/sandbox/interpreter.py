"""The Python that runs inside: the one that runs us, without what is installed for us."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import site
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

INSIDE = Path(__file__).parent / "inside"
"""The files that are shown inside, at :data:`BOX`."""
BOX, PACKAGES = "/box", "/packages"
FLAGS = ("-s", "-P", "-S", "-B")
"""No user site, no script folder, no site, no bytecode. ``-I`` would ignore PYTHONHASHSEED, too; the other
variables that it ignores are not there to be ignored."""
VARIABLES = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
}
"""The whole environment inside."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """``executable`` and ``prefix`` of the base installation; ``hidden``: its folders of installed packages,
    shown empty; ``numpy``: numpy's folders on this machine and its version, when it is installed."""

    executable: str
    prefix: str
    hidden: tuple[str, ...]
    numpy: tuple[str, ...] = ()
    numpy_version: str | None = None


@cache
def interpreter() -> Interpreter:
    """What is known about this process's own Python."""
    executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    hidden = {*site.getsitepackages([sys.base_prefix, sys.base_exec_prefix, "/usr", "/usr/local"])}
    hidden |= {sysconfig.get_path(name, vars=base) for name in ("purelib", "platlib")}
    hidden |= {path.replace("site-packages", "dist-packages") for path in hidden}
    hidden |= {"/usr/lib/python3/dist-packages"}
    folders, version = _numpy()
    return Interpreter(executable, os.path.realpath(sys.base_prefix), tuple(sorted(hidden)), folders, version)


def _numpy() -> tuple[tuple[str, ...], str | None]:
    """numpy's folders and version, found without importing it."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        return (), None
    package = Path(spec.origin).parent
    try:
        version = metadata.version("numpy")
    except metadata.PackageNotFoundError:
        return (), None
    folders = [package, package.parent / "numpy.libs"]
    return tuple(str(folder) for folder in folders if folder.is_dir()), version


def start_of(script: str, *words: str, function: str = "main") -> list[str]:
    """Arguments of Python that run a function of a script of :data:`INSIDE`, which is then not importable."""
    code = (
        f"import sys; sys.path[:0] = [{BOX!r}]; sys.path.append({PACKAGES!r}); "
        f"from {script} import {function}; del sys.path[0]; {function}()"
    )
    return [*FLAGS, "-c", code, *words]


def compile_inside() -> None:
    """Writes the bytecode of the files shown inside, where Python may: it spares each start a few ms."""
    for path in INSIDE.glob("[a-z]*.py"):
        importlib.machinery.SourceFileLoader(path.stem, str(path)).get_code(path.stem)
