"""Finding and loading suites without pytest: the ones we ship, those of installed packages, any file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from pytest_benchkit.errors import SuiteError
from pytest_benchkit.suite import Suite

GROUP = "pytest_benchkit.suites"
"""Entry-point group by which a package ships suites: name = suite key, value = module."""

SHIPPED = "benchsuites"


@dataclass(frozen=True, slots=True)
class SuiteRef:
    """A suite that is installed: its key, its file, and who ships it (``ours`` or a distribution)."""

    key: str
    path: Path
    origin: str


@cache
def installed_suites() -> dict[str, SuiteRef]:
    """Every installed suite by key, in key order; imports none of them.

    Keys of ours come from file names (``bench_mmlu_pro.py`` is ``mmlu-pro``), those of packages from
    entry points. Raises :class:`SuiteError` when two sources claim one key.
    """
    found: dict[str, SuiteRef] = {}
    for folder in _folders(SHIPPED):
        for path in sorted(folder.glob("bench_*.py")):
            key = path.stem.removeprefix("bench_").replace("_", "-")
            found[key] = SuiteRef(key, path, "ours")
    for entry in entry_points(group=GROUP):
        path = _module_file(entry.value)
        origin = entry.dist.name if entry.dist is not None else entry.value
        if (other := found.get(entry.name)) is not None and other.path != path:
            raise SuiteError(
                f"the suite key {entry.name!r} is claimed by {other.origin} and by {origin}: uninstall one"
            )
        found[entry.name] = SuiteRef(entry.name, path, origin)
    return dict(sorted(found.items()))


def load_suites(path: Path) -> list[type[Suite]]:
    """The concrete suites defined in a file, in the order of its text.

    The file is imported once per process under a stable module name (its package name when it is one of
    an importable package's, else a name made of its path), so classes have one identity. Raises
    :class:`SuiteError` when the file defines no suite or a suite without ``key`` or ``data``; what the
    file itself raises passes through.
    """
    module = _module(path.resolve())
    mine = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Suite) and value.__module__ == module.__name__
    ]
    suites = [suite for suite in dict.fromkeys(mine) if not inspect.isabstract(suite)]
    for suite in suites:
        for name in ("key", "data"):
            if not hasattr(suite, name):
                raise SuiteError(
                    f"{path}: the suite {suite.__qualname__} has no {name!r}: set it in the class"
                )
    if not suites:
        raise SuiteError(f"{path} defines no suite: write a subclass of pytest_benchkit.Suite in it")
    return suites


def find_suite(key: str) -> type[Suite]:
    """The installed suite of that key. Raises :class:`SuiteError` when there is none."""
    ref = installed_suites().get(key)
    if ref is None:
        raise SuiteError(f"no suite {key!r} is installed: `benchkit list` shows all")
    for suite in load_suites(ref.path):
        if suite.key == key:
            return suite
    raise SuiteError(f"{ref.path} defines no suite with the key {key!r}: rename the file or the key")


def _folders(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec is not None else []


def _module_file(module: str) -> Path:
    """The file of a module, without importing it (only its parent packages are)."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise SuiteError(
            f"the entry point module {module} does not exist: reinstall the package that names it"
        )
    return Path(spec.origin)


def _module(path: Path) -> ModuleType:
    if any(path.parent == folder.resolve() for folder in _folders(SHIPPED)):
        return importlib.import_module(f"{SHIPPED}.{path.stem}")
    for module in list(sys.modules.values()):
        # A file that is imported already, by a package or by pytest, keeps its module.
        if isinstance(module, ModuleType) and vars(module).get("__file__") == str(path):
            return module
    name = f"_benchkit_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SuiteError(f"{path} cannot be imported as Python: give it the ending .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
