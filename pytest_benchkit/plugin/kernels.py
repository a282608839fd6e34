"""``pytest kernels/``: each threshold entry is an item that passes when it lints clean, without a model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_benchkit.gates.discover import BENCH, HARDWARE
from pytest_benchkit.gates.problems import Problem, errors, ordered, render
from pytest_benchkit.gates.tree import Tree
from pytest_benchkit.gates.verdict import slugs
from pytest_benchkit.plugin.gate_options import kernels_root, tree_of
from pytest_benchkit.plugin.session import STASH

REGISTERED = "benchkit-kernels"
STATUS = "benchkit.status"


class KernelsWarning(UserWarning):
    """A threshold file that loads, but says something odd."""


class LintFailed(Exception):
    """An entry with errors; its text is one line per problem."""


def collect(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The collector of a file with one of our names, if it lies in the kernels tree of this session."""
    config = parent.config
    root, _ = kernels_root(config)
    if not path.is_relative_to(root):
        return None
    bench = config.stash.get(STASH, None)
    if bench is not None and bench.with_installed:
        return None  # a benchmark session without paths is about benchmarks
    if not config.pluginmanager.hasplugin(REGISTERED):
        config.pluginmanager.register(Words(), REGISTERED)
    collector: pytest.Collector = KernelsFile.from_parent(parent, path=path, tree=tree_of(config))
    return collector


class KernelsFile(pytest.File):
    """One TOML file of the tree."""

    def __init__(self, *, tree: Tree, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tree = tree

    def collect(self) -> Iterator[pytest.Item]:
        tree = self.tree
        shown = f"{tree.shown}/{self.path.relative_to(tree.root).as_posix()}"
        yield self._item("file", problems_of_file(tree, shown), 1)
        if self.path.name == HARDWARE:
            hardware = self.path.parent.name
            gates = sorted({e.gate for e in tree.entries if e.hardware == hardware and e.gate})
            for gate in gates:
                yield self._item(f"baseline-{gate}", tree.of_baseline.get((hardware, gate), []), 1)
        elif self.path.name == BENCH:
            entries = [entry for entry in tree.entries if entry.path == shown]
            names = slugs([f"{entry.gate}-{entry.checkpoint}" for entry in entries])
            for entry, name in zip(entries, names, strict=True):
                found = tree.of_entry.get((shown, entry.position), [])
                yield self._item(name, found, entry.line, entry.status)

    def _item(self, name: str, problems: list[Problem], line: int | None, status: str = "") -> pytest.Item:
        item: pytest.Item = LintItem.from_parent(
            self, name=f"lint[{name}]", problems=problems, line=line, status=status
        )
        return item


def problems_of_file(tree: Tree, shown: str) -> list[Problem]:
    """Problems of the file itself; a HARDWARE.toml also speaks for its directory, the first one for what
    belongs to no class."""
    found = [*tree.of_file.get(shown, ()), *(p for p in tree.of_tree if p.path == shown)]
    if not shown.endswith(f"/{HARDWARE}"):
        return found
    hardware = shown.split("/")[-2]
    first = hardware == next(iter(tree.hardware), None)
    for problem in tree.of_tree:
        if problem.path.endswith(".toml"):
            continue
        inside = problem.path.removeprefix(tree.shown).strip("/").split("/")[0]
        if inside == hardware or (first and inside not in tree.hardware):
            found.append(problem)
    return found


class LintItem(pytest.Item):
    """The problems of one place: errors fail it, warnings warn, notes show under ``-v``."""

    def __init__(self, *, problems: list[Problem], line: int | None, status: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.problems = ordered(problems)
        self.line = line
        if status == "unmeasured":
            self.user_properties.append((STATUS, status))

    def runtest(self) -> None:
        if bad := errors(self.problems):
            raise LintFailed("\n".join(map(render, bad)))
        for problem in self.problems:
            if problem.severity == "warning":
                self.warn(KernelsWarning(render(problem)))
            elif self.config.get_verbosity() > 0:
                self.add_report_section("call", "kernels", render(problem))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, (LintFailed, KernelsWarning)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, (self.line or 1) - 1, self.name


class Words:
    """Under ``-v`` an entry that only states a protocol passes as UNMEASURED."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        if report.when == "call" and report.passed and (STATUS, "unmeasured") in report.user_properties:
            return "passed", ".", "UNMEASURED"
        return None
