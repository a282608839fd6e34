"""Command-line options and their ini twins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.plugin.gate_options import add_gate_options
from pytest_benchkit.settings import definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_benchkit.score import Outcome

IN_FORCE = ("bench_model", "bench", "bench_replay", "bench_resume")


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("benchkit", "LLM benchmarks (pytest-benchkit)")
    add = group.addoption
    add(
        "--bench-model",
        action="append",
        dest="bench_model",
        metavar="NAME[@URL]",
        help="model to measure: a profile, demo, local, local:FILE.gguf, or an id that the server lists; "
        "repeatable",
    )
    add(
        "--bench",
        action="append",
        dest="bench",
        metavar="KEY[:SLICE]",
        help="suite to run, of this project or installed; SLICE is N (a sample), head:N, or a variant; "
        "repeatable",
    )
    add(
        "--bench-only",
        dest="bench_only",
        metavar="OUTCOMES",
        help="only rows that the last run ended with: missed, error, or outcome names, with commas",
    )
    add(
        "--bench-strict",
        action="store_true",
        dest="bench_strict",
        default=None,
        help="a missed row fails its test",
    )
    add(
        "--bench-fetch",
        choices=("auto", "never"),
        dest="bench_fetch",
        metavar="MODE",
        help="fetch missing data before the first task: auto (default) or never",
    )
    add("--bench-run-dir", dest="bench_run_dir", metavar="DIR", help="folder of this run's records")
    add(
        "--bench-resume",
        nargs="?",
        const="",
        dest="bench_resume",
        metavar="RUN",
        help="go on with an earlier run (default: the newest incomplete one)",
    )
    add(
        "--bench-resume-changed",
        choices=("refuse", "ask"),
        dest="bench_resume_changed",
        metavar="MODE",
        help="when prompts, data or sampling changed since: refuse (default) or ask the changed tasks again",
    )
    add("--bench-replay", dest="bench_replay", metavar="RUN", help="score the stored replies of a run again")
    add("--bench-env-file", dest="bench_env_file", metavar="FILE", help="file with BENCHKIT_* variables")
    add(
        "--bench-verbose",
        nargs="?",
        const="missed",
        dest="bench_verbose",
        metavar="missed|all",
        help="print prompt, thinking and reply of missed (or all) rows",
    )
    add(
        "--bench-junit-properties",
        action="store_true",
        dest="bench_junit_properties",
        default=None,
        help="add flat benchkit.* properties to JUnit test cases",
    )
    add(
        "--bench-html-rows",
        choices=("missed", "all", "none"),
        dest="bench_html_rows",
        metavar="MODE",
        help="rows of pytest-html that carry text: missed (default), all, none",
    )
    for definition in definitions():
        if definition.option:
            add(
                definition.flag,
                dest="bench_set_" + definition.name,
                metavar=definition.metavar,
                help=f"{definition.help} (default: {definition.default})"
                if definition.default not in (None, {})
                else definition.help,
            )
        parser.addini(definition.ini, f"default of {definition.flag}", default=None)
    add_gate_options(parser)
    parser.addini("bench_files", "glob patterns of benchmark files", type="args", default=["bench_*.py"])
    parser.addini(
        "bench_model", "default of --bench-model, used when --bench is given", type="args", default=[]
    )
    parser.addini("bench_fetch", "default of --bench-fetch", default=None)
    parser.addini("bench_strict", "default of --bench-strict", type="bool", default=False)


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
    command_line: Mapping[str, object] = field(default_factory=dict)
    ini: Mapping[str, object] = field(default_factory=dict)
    profiles: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)


def without_value(word: str, following: Sequence[str]) -> str:
    """The option as it must be written so that argparse does not take ``following`` for its value."""
    if word == "--bench-verbose":
        return word if following and following[0] in ("missed", "all") else f"{word}=missed"
    if not following or following[0].startswith("-"):
        return word
    path = Path(following[0].split("::")[0])
    is_run = (path / "run.json").is_file()
    return f"{word}=" if path.exists() and not is_run else word


def in_force(config: pytest.Config) -> bool:
    """Whether this session is about benchmarks at all."""
    return any(config.getoption(name, None) is not None for name in IN_FORCE)


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


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").replace(",", " ").split() if word]


def outcomes(text: str | None) -> frozenset[Outcome] | None:
    """``--bench-only``: outcome names, ``missed`` (in the denominator, not correct) or ``error``."""
    if text is None:
        return None
    from pytest_benchkit.score import Outcome

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
