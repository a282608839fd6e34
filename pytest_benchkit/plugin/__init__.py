"""The pytest plugin. Importing it, and every session without a bench option, does next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchkit.plugin.fixtures import AskingModel, RecordNotes
    from pytest_benchkit.task import Task

KERNELS_FILES = frozenset({"BENCH.toml", "HARDWARE.toml", "MODEL.toml", "GATES.toml", "LEVERS.toml"})
"""Threshold files: linted as items where they lie in a kernels tree."""
MARKERS = (
    "bench: an item of a benchmark suite",
    "bench_suite(key): run this test function once per task of the suite, with fixture bench_task",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    from pytest_benchkit.plugin.options import add_options

    add_options(parser)


def pytest_load_initial_conftests(args: list[str]) -> None:
    """Keeps an option whose value may be left out from taking the path that follows it."""
    for place, word in enumerate(args):
        if word in ("--bench-resume", "--bench-verbose"):
            from pytest_benchkit.plugin.options import without_value

            args[place] = without_value(word, args[place + 1 : place + 2])


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_benchkit.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    from pytest_benchkit.plugin.options import in_force

    if in_force(config):
        from pytest_benchkit.plugin.hooks import activate

        activate(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name in KERNELS_FILES:
        from pytest_benchkit.plugin.kernels import collect

        return collect(file_path, parent)
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = metafunc.fixturenames
    if (
        "bench_task" in names
        or "bench_model" in names
        or metafunc.definition.get_closest_marker("bench_suite")
    ):
        from pytest_benchkit.plugin.fixtures import parametrize

        parametrize(metafunc)


@pytest.fixture
def bench_task(request: pytest.FixtureRequest) -> Task:
    """The task of a test function marked ``bench_suite``: one row of the suite."""
    from pytest_benchkit.plugin.fixtures import task_of

    return task_of(request)


@pytest.fixture
def bench_model(request: pytest.FixtureRequest) -> AskingModel:
    """The model of ``--bench-model``; ``bench_model.ask("...")`` returns a ``Reply``."""
    from pytest_benchkit.plugin.fixtures import model_of

    return model_of(request)


@pytest.fixture
def bench_harness(request: pytest.FixtureRequest) -> str:
    """How the model is asked: ``direct``."""
    from pytest_benchkit.plugin.fixtures import harness_of

    return harness_of(request)


@pytest.fixture
def bench_perturbation(request: pytest.FixtureRequest) -> str:
    """The perturbation in force: ``none`` for clean rows."""
    from pytest_benchkit.plugin.fixtures import perturbation_of

    return perturbation_of(request)


@pytest.fixture
def bench_record(request: pytest.FixtureRequest) -> RecordNotes:
    """Adds to the record of this test: ``bench_record(score=0.5, note="...")``."""
    from pytest_benchkit.plugin.fixtures import notes_of

    return notes_of(request)
