"""Command-line options and their ini twins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.plugin.gate_options import add_gate_options
from pytest_benchkit.settings import definitions

if TYPE_CHECKING:
    from collections.abc import Sequence


IN_FORCE = ("bench_model", "bench", "bench_replay", "bench_resume")


OPTIONS: dict[str, dict[str, Any]] = {
    "--bench-model": {
        "action": "append",
        "metavar": "NAME[@URL]",
        "help": "model to measure: a profile, demo, local, local:FILE.gguf, or an id that the server lists; "
        "repeatable",
    },
    "--bench": {
        "action": "append",
        "metavar": "KEY[:SLICE]",
        "help": "suite to run, of this project or installed; SLICE is N (a sample), head:N, or a variant; "
        "repeatable",
    },
    "--bench-repeats": {
        "type": int,
        "metavar": "K",
        "help": "ask every row K times, each with a seed of its own (default: 1)",
    },
    "--bench-perturbation": {
        "action": "append",
        "metavar": "NAME",
        "help": "ask every row a second time, perturbed: choice-order; repeatable",
    },
    "--bench-perturbation-seed": {
        "action": "append",
        "metavar": "S[,S]",
        "help": "seeds of the perturbations, a twin for each (default: 42); repeatable",
    },
    "--bench-decision-models": {
        "action": "append",
        "metavar": "NAME",
        "help": "this model of --bench-model gives probabilities (/v1/systemone), not text; repeatable",
    },
    "--bench-shard": {
        "metavar": "I/N",
        "help": "only the I-th of N parts of the planned rows; `benchkit merge` puts the parts together",
    },
    "--bench-only": {
        "metavar": "OUTCOMES",
        "help": "only rows that the last run ended with: missed, error, or outcome names, with commas",
    },
    "--bench-strict": {"action": "store_true", "default": None, "help": "a missed row fails its test"},
    "--bench-fetch": {
        "choices": ("auto", "never"),
        "metavar": "MODE",
        "help": "fetch missing data before the first task: auto (default) or never",
    },
    "--bench-run-dir": {"metavar": "DIR", "help": "folder of this run's records"},
    "--bench-resume": {
        "nargs": "?",
        "const": "",
        "metavar": "RUN",
        "help": "go on with an earlier run (default: the newest incomplete one)",
    },
    "--bench-resume-changed": {
        "choices": ("refuse", "ask"),
        "metavar": "MODE",
        "help": "when prompts, data or sampling changed since: refuse (default), or ask (again)",
    },
    "--bench-replay": {"metavar": "RUN", "help": "score the stored replies of a run again"},
    "--bench-env-file": {"metavar": "FILE", "help": "file with BENCHKIT_* variables"},
    "--bench-verbose": {
        "nargs": "?",
        "const": "missed",
        "metavar": "missed|all",
        "help": "print prompt, thinking and reply of missed (or all) rows",
    },
    "--bench-junit-properties": {
        "action": "store_true",
        "default": None,
        "help": "add flat benchkit.* properties to JUnit test cases",
    },
    "--bench-html-rows": {
        "choices": ("missed", "all", "none"),
        "metavar": "MODE",
        "help": "rows of pytest-html that carry text: missed (default), all, none",
    },
}
"""What to run and how to keep it; the engine's settings have a table of their own."""


def add_options(parser: pytest.Parser) -> None:
    add = parser.getgroup("benchkit", "LLM benchmarks (pytest-benchkit)").addoption
    for flag, keywords in OPTIONS.items():
        add(flag, dest=flag.removeprefix("--").replace("-", "_"), **keywords)
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
    parser.addini("bench_repeats", "default of --bench-repeats", default=None)
    parser.addini("bench_perturbation", "default of --bench-perturbation", type="args", default=[])
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
