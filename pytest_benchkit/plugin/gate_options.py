"""Options about gates and the kernels tree, and where the tree of a session is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.errors import UsageProblem

if TYPE_CHECKING:
    from pytest_benchkit.gates.problems import Problem
    from pytest_benchkit.gates.tree import Tree

MODES = ("auto", "required", "off")
EARLY = ("off", "certain", "sprt")
DEFAULT_ROOT = "kernels"
TREE = pytest.StashKey["Tree"]()


def add_gate_options(parser: pytest.Parser) -> None:
    add = parser.getgroup("benchkit", "LLM benchmarks (pytest-benchkit)").addoption
    add(
        "--bench-gate",
        choices=MODES,
        dest="bench_gate",
        metavar="MODE",
        help="hold results against kernels/: auto (default: fail below bound), required (also when not "
        "judged), or off",
    )
    add(
        "--bench-require-gate",
        action="append",
        dest="bench_require_gate",
        metavar="ID",
        help="this gate must be judged and pass; repeatable",
    )
    add(
        "--bench-early-stop",
        choices=EARLY,
        dest="bench_early_stop",
        default="off",
        metavar="MODE",
        help="ask no more rows once the gates of their suite are decided: off (default), certain (no "
        "completion can change the verdict), or sprt (sequential test with the entry's levels)",
    )
    add(
        "--bench-kernels",
        dest="bench_kernels",
        metavar="PATH",
        help="folder of thresholds (default: kernels)",
    )
    add(
        "--bench-kernels-compat",
        action="store_true",
        dest="bench_kernels_compat",
        default=None,
        help="read thresholds by the rules of the format's origin",
    )
    add(
        "--bench-hardware",
        dest="bench_hardware",
        metavar="ID",
        help="hardware class, instead of detecting it",
    )
    add(
        "--bench-checkpoint",
        action="append",
        dest="bench_checkpoint",
        metavar="[MODEL=]ID",
        help="checkpoint that a model is held to; repeatable",
    )
    add("--bench-gate-json", dest="bench_gate_json", metavar="PATH", help="copy of the run's gate.json")
    add(
        "--bench-github-summary",
        choices=("auto", "off"),
        dest="bench_github_summary",
        metavar="MODE",
        help="append verdicts to GITHUB_STEP_SUMMARY: auto (default) or off",
    )
    parser.addini("bench_gate", "default of --bench-gate", default=None)
    parser.addini("bench_kernels", "default of --bench-kernels", default=None)
    parser.addini("bench_kernels_compat", "default of --bench-kernels-compat", type="bool", default=False)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What was asked about gates, checked."""

    mode: str
    required: tuple[str, ...]
    hardware: str | None
    checkpoints: dict[str | None, str]
    json_path: Path | None
    github_summary: bool
    early: str = "off"


def read_gate_options(config: pytest.Config, models: Sequence[str]) -> GateOptions:
    """Raises :class:`UsageProblem` for what cannot work."""
    get = config.getoption
    mode = get("bench_gate") or config.getini("bench_gate") or "auto"
    if mode not in MODES:
        raise UsageProblem(f"ini file: bench_gate is {mode!r}; it takes {', '.join(MODES)}")
    required = tuple(dict.fromkeys(get("bench_require_gate") or ()))
    if required and mode == "off":
        raise UsageProblem("--bench-require-gate and --bench-gate=off exclude each other")
    early = get("bench_early_stop")
    if early != "off" and mode == "off":
        raise UsageProblem(f"--bench-early-stop={early} stops at a gate's verdict, and --bench-gate is off")
    checkpoints: dict[str | None, str] = {}
    for text in get("bench_checkpoint") or ():
        model, equals, name = text.partition("=")
        key = model if equals and model in models else None
        name = name if key is not None else text
        if not name or key in checkpoints:
            raise UsageProblem(f"--bench-checkpoint={text}: write one ID, or MODEL=ID once for each model")
        checkpoints[key] = name
    if None in checkpoints and len(models) > 1:
        raise UsageProblem(
            "--bench-checkpoint=ID needs one model; with several write --bench-checkpoint=MODEL=ID"
        )
    path = get("bench_gate_json")
    return GateOptions(
        mode,
        required,
        get("bench_hardware"),
        checkpoints,
        config.invocation_params.dir / path if path else None,
        get("bench_github_summary") != "off",
        early,
    )


def concerns(config: pytest.Config, options: GateOptions) -> bool:
    """Whether anything is to be done about gates: not when they are off, nor in a project without
    thresholds that asks for nothing."""
    if options.mode == "off":
        return False
    root, named = kernels_root(config)
    asked = options.mode == "required" or options.required or options.hardware or options.json_path
    return bool(asked) or options.early != "off" or named or root.is_dir()


def kernels_root(config: pytest.Config) -> tuple[Path, bool]:
    """The folder of thresholds, and whether the user named it."""
    if (option := config.getoption("bench_kernels")) is not None:
        return Path(os.path.normpath(config.invocation_params.dir / option)), True
    if ini := config.getini("bench_kernels"):
        base = config.inipath.parent if config.inipath is not None else config.rootpath
        return Path(os.path.normpath(base / ini)), True
    return config.rootpath / DEFAULT_ROOT, False


def is_compat(config: pytest.Config) -> bool:
    return bool(config.getoption("bench_kernels_compat") or config.getini("bench_kernels_compat"))


def shown_root(root: Path, rootpath: Path) -> str:
    """The root as it stands in test ids and messages: relative to the project, POSIX."""
    try:
        return root.relative_to(rootpath).as_posix()
    except ValueError:
        return root.as_posix()


def tree_of(config: pytest.Config) -> Tree:
    """The tree of this session, loaded once."""
    if TREE not in config.stash:
        config.stash[TREE] = _load(config, compat=is_compat(config))
    return config.stash[TREE]


def strict_problems(config: pytest.Config) -> list[Problem]:
    """What strict reading of the tree finds."""
    return _load(config, compat=False).problems


def _load(config: pytest.Config, *, compat: bool) -> Tree:
    from pytest_benchkit.gates.suites import rules
    from pytest_benchkit.gates.tree import load

    root, named = kernels_root(config)
    return load(
        root,
        shown_root(root, config.rootpath),
        named=named,
        compat=compat,
        rules=rules(lambda: _project_files(config)),
        recipes=config.rootpath / "recipes",
    )


def _project_files(config: pytest.Config) -> Iterator[Path]:
    """Benchmark files of the project, for the keys of its own suites."""
    from pytest_benchkit.plugin.collection import is_bench_file

    patterns: list[str] = config.getini("bench_files")
    skipped: list[str] = config.getini("norecursedirs")
    for place, folders, files in os.walk(config.rootpath):
        folders[:] = sorted(
            name
            for name in folders
            if not any(Path(name).match(pattern) for pattern in skipped)
            and not (Path(place) / name / "pyvenv.cfg").exists()
        )
        yield from (Path(place) / name for name in sorted(files) if is_bench_file(Path(name), patterns))
