"""``benchkit compare`` on runs made here: exit codes, names of runs, what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_benchkit.cli import main
from tests.integration.conftest import Project


@pytest.fixture
def runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two runs of 60 rows: a weak model, then a better one."""
    project.suite(60)
    for place, skill in enumerate(("0.3", "0.9")):
        project.run("bench_sums.py", f"--bench-model=demo:{skill}", f"--bench-run-dir=run{place}")
    monkeypatch.chdir(project.pytester.path)
    return project


def test_better_and_worse(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "run0", "run1", "--rows", "3"]) == 0
    text = capsys.readouterr().out
    assert "sums: B is better by" in text
    assert "rows gained, the first 3" in text
    assert text.count("→ answered") == 3 + min(3, text.count("rows lost") * 3)
    assert "simulated" in text
    assert main(["compare", "run1", "run0", "--fail-on", "regression"]) == 1
    assert "failed: sums is worse by" in capsys.readouterr().out
    assert main(["compare", "run1", "run0", "--fail-on", "score:99", "--fail-on", "incomplete"]) == 0
    assert main(["compare", "run1", "run0", "--fail-on", "score:5"]) == 1


def test_json_holds_every_row(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "run0", "run1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    [entry] = document["suites"]
    assert len(entry["discordant"]["gains"]) == entry["gains"] > 20
    assert main(["compare", "run0", "run1", "--json", "out.json"]) == 0
    assert json.loads(Path("out.json").read_bytes()) == document


def test_names_of_runs(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    runs.run("bench_sums.py", "--bench-model=demo:0.3")
    runs.run("bench_sums.py", "--bench-model=demo:0.9")
    assert main(["compare", "last~1", "last", "--rows", "0"]) == 0
    assert "B is better" in capsys.readouterr().out
    assert main(["compare", "last~9", "last"]) == 2
    assert "holds 2 runs" in capsys.readouterr().err
    assert main(["compare", "nothing", "last", "--fail-on", "regression"]) == 2  # not what a regression gives
    assert "nothing: no run folder" in capsys.readouterr().err
    assert main(["compare", "run0/results.json", "run1"]) == 0


def test_a_suite_that_neither_run_has_is_named(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "run0", "run1", "--suite", "sumz"]) == 2
    assert "--suite=sumz: neither run has it; did you mean sums?" in capsys.readouterr().err
    assert main(["compare", "run0", "run1", "--suite", "sums"]) == 0


def test_a_score_that_is_no_number_is_a_damaged_line(
    runs: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("run1/records.jsonl")
    lines = file.read_text().splitlines()
    broken = json.loads(lines[0])
    broken["score"] = float("inf")
    file.write_text("\n".join([json.dumps(broken), *lines[1:]]) + "\n")
    assert main(["compare", "run0", "run1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    [entry] = document["suites"]
    assert entry["n"] == 59
    assert "run1: 1 damaged rows are left out" in document["notes"]
    assert 0 <= entry["score_b"] <= 1


def test_a_lone_results_file_is_unpaired(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.json").write_bytes(Path("run0/results.json").read_bytes())
    assert main(["compare", "a.json", "run1", "--allow", "scorer"]) == 0
    text = capsys.readouterr().out
    assert "unpaired, records missing" in text
    assert " p " not in text.split("note:")[0]


def test_two_models_of_one_run(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    runs.run("bench_sums.py", "--bench-model=demo:0.3", "--bench-model=demo:0.9", "--bench-run-dir=both")
    assert main(["compare", "both", "--model", "demo:0.3", "--model", "demo:0.9"]) == 0
    assert "B is better" in capsys.readouterr().out
    assert main(["compare", "both"]) == 2
    assert main(["compare", "both", "run0"]) == 2
    assert "has several models: name one with --model" in capsys.readouterr().err
    assert main(["compare", "both", "run0", "--model", "demo:0.3"]) == 0


def test_nothing_comparable_and_bad_words(runs: Project, capsys: pytest.CaptureFixture[str]) -> None:
    runs.suite(61)
    runs.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-run-dir=other")
    assert main(["compare", "run0", "other"]) == 3
    assert "not compared: sums: data, scorer, selection differ" in capsys.readouterr().out
    assert main(["compare", "run0", "run1", "--fail-on", "score"]) == 2
    assert main(["compare", "run0", "run1", "--suite", "nope"]) == 2
    Path("bad.json").write_text("{}")
    assert main(["compare", "bad.json", "run1"]) == 1
    assert "no results.json of pytest-benchkit" in capsys.readouterr().err


def test_a_killed_run_is_compared_by_its_records(runs: Project) -> None:
    Path("run1/results.json").unlink()
    assert main(["compare", "run0", "run1"]) == 0
