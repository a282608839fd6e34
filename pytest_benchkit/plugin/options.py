"""Command-line options and their ini twins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.plugin.gate_options import add_gate_options
from pytest_benchkit.settings import definitions

if TYPE_CHECKING:
    from collections.abc import Sequence


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
                help=definition.help + shown_default(definition.default),
            )
        parser.addini(definition.ini, f"default of {definition.flag}", default=None)
    add_gate_options(parser)
    parser.addini("bench_files", "glob patterns of benchmark files", type="args", default=["bench_*.py"])
    parser.addini(
        "bench_model", "default of --bench-model, used when --bench is given", type="args", default=[]
    )
    parser.addini("bench_fetch", "default of --bench-fetch", default=None)
    parser.addini("bench_strict", "default of --bench-strict", type="bool", default=False)


def shown_default(value: object) -> str:
    if value in (None, {}):
        return ""
    if isinstance(value, tuple):  # the error budget: (amount, is it a share)
        value = f"{value[0]:.0%}".replace("%", "%%") if value[1] else value[0]
    return f" (default: {value})"


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
