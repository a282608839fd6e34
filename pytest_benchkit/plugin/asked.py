"""What a benchmark session was asked, read from options, ini file, environment and project file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.perturbations import DEFAULT_SEED, axis_values
from pytest_benchkit.score import Outcome
from pytest_benchkit.settings import definitions

MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What was asked for, checked. Raw engine settings are resolved per model later."""

    models: tuple[str, ...]
    benches: tuple[str, ...]
    only: frozenset[Outcome] | None
    strict: bool
    fetch: bool
    run_dir: str | None
    resume: str | None
    resume_changed: bool
    replay: str | None
    verbose: str | None
    junit_properties: bool
    html_rows: str
    deciding: tuple[str, ...] = ()
    """Names of models that are asked for decisions."""
    repeats: int = 1
    shard: tuple[int, int] | None = None
    """Which part of how many, from 1."""
    perturbations: tuple[str, ...] = ()
    """Axis values of the twins asked for."""
    command_line: Mapping[str, object] = field(default_factory=dict)
    ini: Mapping[str, object] = field(default_factory=dict)
    profiles: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)


def read_options(config: pytest.Config) -> BenchOptions:
    """Raises :class:`UsageProblem` for whatever cannot work, before anything is collected."""
    get = config.getoption
    environ = environment(get("bench_env_file"), config.invocation_params.dir)
    models = get("bench_model") or _words(environ.get("BENCHKIT_MODEL")) or config.getini("bench_model")
    fetch = get("bench_fetch") or config.getini("bench_fetch") or "auto"
    if fetch not in ("auto", "never"):
        raise UsageProblem(f"ini file: bench_fetch is {fetch!r}; it takes auto or never")
    verbose = get("bench_verbose")
    if verbose not in (None, "missed", "all"):
        raise UsageProblem(f"--bench-verbose={verbose}: it takes missed or all")
    if get("bench_run_dir") == "":
        raise UsageProblem("--bench-run-dir is empty; name a folder")
    names = [d.name for d in definitions()]
    ini: dict[str, object] = {}
    for d in definitions():
        if (value := config.getini(d.ini)) not in (None, ""):
            ini[d.name] = value
    return BenchOptions(
        models=tuple(dict.fromkeys(models)),
        benches=tuple(get("bench") or ()),
        only=outcomes(get("bench_only")),
        strict=bool(get("bench_strict") or config.getini("bench_strict")),
        fetch=fetch == "auto",
        run_dir=get("bench_run_dir"),
        resume=get("bench_resume"),
        resume_changed=get("bench_resume_changed") == "ask",
        replay=get("bench_replay"),
        verbose=verbose,
        junit_properties=bool(get("bench_junit_properties")),
        html_rows=get("bench_html_rows") or "missed",
        deciding=_deciding(config, models),
        repeats=_repeats(config),
        shard=_shard(config.getoption("bench_shard")),
        perturbations=_perturbations(config),
        command_line=_command_line(config, names),
        ini=ini,
        profiles=profiles(config.rootpath),
        environ=environ,
    )


def _command_line(config: pytest.Config, names: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {name: config.getoption("bench_set_" + name, None) for name in names}
    system = values.get("system")
    if isinstance(system, str) and system.startswith("@"):
        path = config.invocation_params.dir / system[1:]
        try:
            values["system"] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageProblem(f"--bench-system names {system[1:]}, which cannot be read: {error}") from None
    return values


def _deciding(config: pytest.Config, models: Sequence[str]) -> tuple[str, ...]:
    names = tuple(config.getoption("bench_decision_models") or ())
    for name in names:
        known = [model.partition("@")[0] for model in models]
        if name not in known:
            raise UsageProblem(
                f"--bench-decision-models={name}: --bench-model names no such model, but {', '.join(known)}"
            )
        if name.partition(":")[0] in ("demo", "local"):
            raise UsageProblem(f"--bench-decision-models={name}: {name} answers with text")
    return names


def _repeats(config: pytest.Config) -> int:
    value = config.getoption("bench_repeats")
    text = config.getini("bench_repeats") if value is None else value
    if text in (None, ""):
        return 1
    if not str(text).isdigit() or not 1 <= int(text) <= MOST_REPEATS:
        raise UsageProblem(f"--bench-repeats={text}: write a whole number from 1 to {MOST_REPEATS}")
    return int(text)


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageProblem(f"--bench-shard={text}: write I/N, such as 1/3, 2/3 and 3/3 for three parts")
    return int(match[1]), int(match[2])


def _perturbations(config: pytest.Config) -> tuple[str, ...]:
    names = config.getoption("bench_perturbation") or config.getini("bench_perturbation")
    texts = config.getoption("bench_perturbation_seed") or []
    words = [(word, text) for text in texts for word in text.split(",")]
    for word, text in words:
        if not (word.isascii() and word.isdigit()):
            raise UsageProblem(f"--bench-perturbation-seed={text}: write whole numbers with commas")
    if texts and not names:
        raise UsageProblem(f"--bench-perturbation-seed={texts[0]} needs --bench-perturbation")
    seeds = [int(word) for word, _ in words] or [DEFAULT_SEED]
    return axis_values(names, seeds)


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").replace(",", " ").split() if word]


def outcomes(text: str | None) -> frozenset[Outcome] | None:
    """``--bench-only``: outcome names, ``missed`` (in the denominator, not correct) or ``error``."""
    if text is None:
        return None
    chosen: set[Outcome] = set()
    for word in _words(text):
        if word == "missed":
            chosen |= {o for o in Outcome if o.missed}
        elif word in ("error", "errors"):
            chosen.add(Outcome.HARNESS_ERROR)
        elif word in {o.value for o in Outcome}:
            chosen.add(Outcome(word))
        else:
            names = ", ".join(o.value for o in Outcome)
            raise UsageProblem(f"--bench-only={text} holds {word!r}; it takes missed, error, or of: {names}")
    if not chosen:
        raise UsageProblem("--bench-only is empty; it takes missed, error, or outcome names")
    return frozenset(chosen)


def environment(env_file: str | None, folder: Path) -> dict[str, str]:
    """The process environment, below it the ``BENCHKIT_*`` and named variables of ``--bench-env-file``.

    ``os.environ`` itself is not changed (C-5).
    """
    environ = dict(os.environ)
    if env_file is None:
        return environ
    path = folder / env_file
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"--bench-env-file={env_file} cannot be read: {error}") from None
    for number, raw in enumerate(lines, 1):
        text = raw.strip().removeprefix("export ")
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageProblem(f"{env_file}:{number}: a line must be NAME=value")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        environ.setdefault(name.strip(), value)
    return environ


def profiles(rootpath: Path) -> Mapping[str, Any]:
    """``[tool.pytest-benchkit.models]`` of the project's ``pyproject.toml``."""
    path = rootpath / "pyproject.toml"
    if not path.is_file():
        return {}
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageProblem(f"{path.name} cannot be read: {error}") from None
    table = document.get("tool", {}).get("pytest-benchkit", {})
    unknown = [key for key in table if key != "models"] if isinstance(table, dict) else ["?"]
    if unknown:
        raise UsageProblem(f"[tool.pytest-benchkit] has the unknown key {unknown[0]!r}; it takes models")
    models = table.get("models", {})
    if not isinstance(models, dict):
        raise UsageProblem("[tool.pytest-benchkit.models] must hold one table per model")
    return models
