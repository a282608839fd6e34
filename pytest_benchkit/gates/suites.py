"""What lint knows of suites: those installed, and those of a project's own files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from pytest_benchkit.errors import SuiteError
from pytest_benchkit.gates.lint import Rules
from pytest_benchkit.gates.metrics import SuiteFacts
from pytest_benchkit.registry import SHIPPED, installed_suites, load_suites
from pytest_benchkit.suite import Suite

OURS = ("pytest_benchkit.", f"{SHIPPED}.")
"""Modules whose own metrics are all in our table."""


def facts_of(suite: type[Suite]) -> SuiteFacts:
    """From the class alone: reads no rows."""
    module = suite.metrics.__module__
    return SuiteFacts(
        suite.key,
        binary=suite.scoring == "binary",
        rows={None: suite.data.count, **{name: data.count for name, data in suite.variants.items()}},
        own=suite.metric_kinds,
        closed=f"{module}.".startswith(OURS) or bool(suite.metric_kinds),
    )


def rules(project_files: Callable[[], Iterable[Path]] = tuple) -> Rules:
    """Rules that know the installed suites, and those of a project's ``bench_*.py``. A file is imported when
    the first entry asks for a key that may be its; one that cannot be imported leaves its key unchecked."""
    installed = installed_suites()

    @cache
    def mine() -> tuple[Mapping[str, SuiteFacts], frozenset[str]]:
        found: dict[str, SuiteFacts] = {}
        broken = set()
        for path in project_files():
            try:
                found |= {suite.key: facts_of(suite) for suite in load_suites(path)}
            except Exception:  # a project's own file may raise anything; its key is then not checked
                broken.add(path.stem.removeprefix("bench_").replace("_", "-"))
        return found, frozenset(broken)

    @cache
    def facts(key: str) -> SuiteFacts | None:
        if (ref := installed.get(key)) is not None:
            try:
                return next((facts_of(suite) for suite in load_suites(ref.path) if suite.key == key), None)
            except SuiteError:
                return None
        suites, broken = mine()
        return SuiteFacts(key, closed=False) if key in broken else suites.get(key)

    return Rules(suite=facts, suite_keys=tuple(installed))
