"""The files a run leaves: made before anything is printed, the same after a resume."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from tests.integration.conftest import Project


def numbers(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: entry[name] for name in ("metrics", "outcomes", "absent")} for entry in results["results"]]


def test_files_agree_with_each_other_and_the_records(project: Project) -> None:
    project.run("--bench-model=demo", "bench_sums.py")
    results = project.results()
    (entry,) = results["results"]
    right = sum(record["outcome"] == "correct" for record in project.records())
    assert entry["metrics"]["score"] == right / 12
    assert entry["metrics"]["samples"] == 12
    assert set(entry["categories"]) == {"odd", "even"}
    assert "aggregate_tok_s" not in entry["metrics"]
    assert "simulated" in entry["absent"]["aggregate_tok_s"]
    (line,) = csv.DictReader((project.newest / "results.csv").read_text().splitlines())
    assert float(line["score"]) == entry["metrics"]["score"]
    assert line["aggregate_tok_s"] == ""


def test_resumed_run_prints_and_stores_the_same_numbers(project: Project) -> None:
    first = project.run("--bench-model=demo", "bench_sums.py")
    run = project.newest
    before = numbers(project.results(run))
    again = project.run("--bench-model=demo", f"--bench-resume={run.name}", "bench_sums.py")
    assert numbers(project.results(run)) == before

    def table(result: pytest.RunResult) -> list[str]:
        start = next(n for n, line in enumerate(result.outlines) if "= benchmarks =" in line)
        return result.outlines[start:][:3]

    assert table(first) == table(again)


def test_workers_make_the_same_document(project: Project) -> None:
    project.suite(40)
    project.run("--bench-model=demo:0.5", "bench_sums.py", process=True)
    alone = numbers(project.results())
    project.run("--bench-model=demo:0.5", "-n2", "bench_sums.py", process=True)
    assert numbers(project.results()) == alone


def test_a_file_that_cannot_be_made_fails_the_session(project: Project) -> None:
    project.pytester.makeconftest(
        "import pytest\n"
        "from pytest_benchkit.reports import files\n"
        "@pytest.fixture(scope='session', autouse=True)\n"
        "def noop(): yield\n"
        "def broken(results): raise RuntimeError('no ink')\n"
        "files.table_rows = broken\n"
    )
    result = project.run("--bench-model=demo:1", "bench_sums.py", process=True)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["bench: results.csv could not be made: RuntimeError: no ink", "sums *"])
    assert (project.newest / "results.json").exists()


def test_no_secret_and_no_home_in_what_is_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.pytester.path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-123")
    folder = project.pytester.path
    project.run("--bench-model=demo", str(folder / "bench_sums.py"))
    for name in ("results.json", "results.csv"):
        text = (project.newest / name).read_text()
        assert "canary" not in text
        assert str(folder) not in text
    assert json.loads((project.newest / "results.json").read_bytes())["run"]["argv"][-1] == "~/bench_sums.py"
