"""The house rules: floors, no circles, small files, a complete ``__all__``, light entry point."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_benchkit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pytest_benchkit"

FLOORS = {
    "errors": 0,
    "task": 0,
    "decisions": 0,
    "reply": 0,
    "score": 0,
    "suite": 0,
    "sizing": 0,
    "settings": 0,
    "models": 1,
    "datasets": 1,
    "sandbox": 1,
    "harnesses": 2,
    "perturbations": 2,
    "scoring": 2,
    "registry": 2,
    "runs": 3,
    "engine": 4,
    "gates": 5,
    "reports": 5,
    "plugin": 6,
    "commands": 7,
    "cli": 7,
}
PYTEST_FREE = (
    "models",
    "datasets",
    "scoring",
    "harnesses",
    "runs",
    "engine",
    "reports",
    "gates",
    "commands",
    "sandbox",
)
ROOMY = 460
"""Lines no file may pass; 100-300 is the aim, the catalog of data is the exception that is all table."""


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The top-level module or package of a file below ``pytest_benchkit``."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module of ours that a file imports anywhere, type-checking blocks included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "pytest_benchkit":
                for name in node.names:
                    yield f"pytest_benchkit.{name.name}", node.lineno
            yield node.module, node.lineno
        elif isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno


def test_every_room_has_a_floor() -> None:
    rooms = {room(path) for path in modules()} - {"__init__"}
    assert rooms <= set(FLOORS), f"give {sorted(rooms - set(FLOORS))} a floor"


def test_no_import_goes_up() -> None:
    wrong = []
    for path in modules():
        if room(path) == "__init__":
            continue
        floor = FLOORS[room(path)]
        for name, line in imports(path):
            parts = name.split(".")
            if parts[0] == "pytest_benchkit" and len(parts) > 1 and FLOORS.get(parts[1], -1) > floor:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_circle_among_modules_at_import_time() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules()
    }
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        targets = graph[name] = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:  # top level: what an import runs
            if isinstance(node, ast.ImportFrom) and node.module in names:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= inner & set(names) or {node.module}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail, name])
        if name in done:
            return
        for target in graph.get(name, ()):
            visit(target, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("name", PYTEST_FREE)
def test_lower_floors_know_no_pytest(name: str) -> None:
    wrong = [
        f"{path.name}:{line}"
        for path in (PACKAGE / name).rglob("*.py")
        for module, line in imports(path)
        if module.split(".")[0] in ("pytest", "_pytest", "xdist")
    ]
    assert not wrong


def test_files_stay_rooms() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in modules()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > ROOMY
    }
    assert not long


def test_all_is_sorted_complete_and_importable() -> None:
    names = pytest_benchkit.__all__
    assert list(names) == sorted(names)
    assert set(names) == {*pytest_benchkit._HOMES, "__version__"}
    for name in names:
        assert getattr(pytest_benchkit, name) is not None
    with pytest.raises(AttributeError):
        _ = pytest_benchkit.nothing


HEAVY = ("httpx", "aiohttp", "pydantic", "pyarrow", "numpy", "asyncio", "benchsuites", "orjson")


def test_entry_point_imports_nothing_heavy() -> None:
    """An unrelated project pays for importing the plugin and reading its option table, nothing else."""
    code = (
        "import sys, pytest, _pytest.config\n"
        "before = set(sys.modules)\n"
        "import pytest_benchkit.plugin as p\n"
        "config = _pytest.config.get_config()\n"
        "from pytest_benchkit.plugin.options import add_options\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = ast.literal_eval(done.stdout)
    heavy = [name for name in loaded if name.split(".")[0] in HEAVY]
    assert not heavy
    ours = [name for name in loaded if name.startswith("pytest_benchkit")]
    assert len(ours) <= 8, ours
