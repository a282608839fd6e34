"""Hooks for conftest files: models of one's own, finished records, columns."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project

CONFTEST = """
from pytest_benchkit import ScriptedModel


def answer(request):
    return str(2 * int(request.messages[-1]["content"].split("+")[-1][:-1]))


def pytest_benchkit_models(config):
    return {"even": lambda: ScriptedModel(answer)}


def pytest_benchkit_record(config, record):
    with open(config.rootpath / "seen.txt", "a") as file:
        file.write(record["task_id"] + " " + record["reply"]["answer"] + "\\n")


def pytest_benchkit_columns(config, result):
    return {"twice n": str(2 * int(result["metrics"]["samples"]))}
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_hooks_are_called(project: Project, workers: str) -> None:
    (project.pytester.path / "conftest.py").write_text(CONFTEST)
    result = project.run("--bench-model=even", "-n", workers, "bench_sums.py", process=True)
    assert result.parseoutcomes() == {"passed": 12}
    seen = (project.pytester.path / "seen.txt").read_text().splitlines()
    assert sorted(seen) == sorted(f"{n:02d} {2 * n}" for n in range(12))
    result.stdout.fnmatch_lines(["*twice n*", "*24*"])
    assert project.info()["models"][0]["kind"] == "registered"
