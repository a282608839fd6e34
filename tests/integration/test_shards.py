"""``--bench-shard``, ``benchkit merge``, ``benchkit gate judge``: parts of a plan are one run in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_benchkit.cli import main
from tests.integration.conftest import Project
from tests.integration.gate_project import thresholds

LINE = ("bench_sums.py", "--bench-model=demo:0.6", "--bench-repeats=2")


@pytest.fixture
def parts(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Three parts of one plan of 60 rows, and the whole beside them."""
    project.suite(30)
    for index in (1, 2, 3):
        workers = ("-n", "2") if index == 2 else ()
        project.run(
            *LINE, f"--bench-shard={index}/3", f"--bench-run-dir=part{index}", *workers, process=bool(workers)
        )
    project.run(*LINE, "--bench-run-dir=whole")
    monkeypatch.chdir(project.pytester.path)
    return project


def test_three_parts_are_one_run(parts: Project, capsys: pytest.CaptureFixture[str]) -> None:
    counts = [len(parts.records(Path(f"part{index}"))) for index in (1, 2, 3)]
    assert counts == [20, 20, 20]
    assert main(["merge", "part2", "part1", "part3", "-o", "merged"]) == 0
    assert "merged 3 parts into merged" in capsys.readouterr().out
    merged, whole = parts.results(Path("merged")), parts.results(Path("whole"))
    for name in ("score", "samples", "pass_at_2", "flip_rate", "planned", "not_asked"):
        assert merged["results"][0]["metrics"][name] == whole["results"][0]["metrics"][name]
    assert merged["results"][0]["selection"] == whole["results"][0]["selection"]
    assert merged["results"][0]["outcomes"] == whole["results"][0]["outcomes"]
    info = parts.info(Path("merged"))
    assert info["complete"] is True
    assert [part["shard"]["index"] for part in info["merged_from"]] == [2, 1, 3]
    assert len(info["sessions"]) == 3
    assert {record["session"] for record in parts.records(Path("merged"))} == {0, 1, 2}
    assert main(["compare", "whole", "merged"]) == 0
    again = parts.run(*LINE, "--bench-resume=merged")
    assert again.ret == 0
    assert len(parts.records(Path("merged"))) == 60


def test_a_missing_part_leaves_it_incomplete(parts: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "part1", "part3", "-o", "merged"]) == 1
    text = capsys.readouterr().out
    assert "INCOMPLETE (a part is missing): 40 of 60 rows done" in text
    assert parts.info(Path("merged"))["complete"] is False


def test_lost_records_leave_it_incomplete(parts: Project, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("part2/records.jsonl")
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:14]) + "\n")
    assert main(["merge", "part1", "part2", "part3", "-o", "merged"]) == 1
    assert "INCOMPLETE (records are missing): 54 of 60 rows done" in capsys.readouterr().out
    info = parts.info(Path("merged"))
    assert (info["complete"], info["not_asked"]) == (False, {"lost records": 6})
    file.write_text("\n".join([*lines[:19], lines[19][:40]]) + "\n")
    assert main(["merge", "part1", "part2", "-o", "two"]) == 1
    said = capsys.readouterr().out
    assert "INCOMPLETE (a part is missing): 39 of 60 rows done" in said
    assert "part2: 1 line of records.jsonl cannot be read" in said
    assert parts.info(Path("two"))["not_asked"] == {"missing part": 20, "lost records": 1}


def test_what_does_not_belong_together(parts: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "part1", "part1", "-o", "x"]) == 1
    assert "part 1/3 is given 2 times" in capsys.readouterr().err
    assert main(["merge", "part1", "whole", "-o", "x"]) == 1
    assert "whole is no part" in capsys.readouterr().err
    parts.suite(31)
    parts.run(*LINE, "--bench-shard=2/3", "--bench-run-dir=other")
    assert main(["merge", "part1", "other", "-o", "x"]) == 1
    said = capsys.readouterr().err
    assert "parts of different plans" in said
    assert "data of sums differs" in said
    assert main(["merge", "part1", "part2", "-o", "part3"]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert not Path("x").exists()


def test_unknown_fields_survive(parts: Project) -> None:
    file = Path("part1/records.jsonl")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(lines[0]), "new_field": 7}), *lines[1:]]) + "\n")
    assert main(["merge", "part1", "part2", "part3", "-o", "merged"]) == 0
    assert sum(record.get("new_field") == 7 for record in parts.records(Path("merged"))) == 1


def test_the_gate_over_the_merged_run(parts: Project, capsys: pytest.CaptureFixture[str]) -> None:
    thresholds(parts, "repeats = 2\nmetrics.score = { min = 0.2 }")
    main(["merge", "part1", "part2", "part3", "-o", "merged"])
    main(["merge", "part1", "part2", "-o", "two"])
    capsys.readouterr()
    assert main(["gate", "judge", "merged", "--required"]) == 0
    assert "PASS sums / box / org/demo" in capsys.readouterr().out
    assert json.loads(Path("merged/gate.json").read_bytes())["gates"][0]["verdict"] == "pass"
    assert main(["gate", "judge", "two"]) == 0
    assert "not judged: incomplete" in capsys.readouterr().out
    assert main(["gate", "judge", "two", "--required"]) == 1
    assert main(["gate", "judge", "part1", "--required"]) == 1
    assert "deselected" in capsys.readouterr().out
    thresholds(parts, "repeats = 2\nmetrics.score = { min = 0.99 }")
    assert main(["gate", "judge", "merged", "--json"]) == 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "1/3/2"])
def test_bad_parts(project: Project, text: str) -> None:
    result = project.run("bench_sums.py", "--bench-model=demo", f"--bench-shard={text}")
    assert result.ret == 4
    assert "write I/N" in result.stderr.str()


def test_a_part_says_so(project: Project) -> None:
    project.suite(9)
    result = project.run("bench_sums.py", "--bench-model=demo", "--bench-shard=1/2")
    assert "part 1 of 2 of the planned rows" in result.stdout.str()
    assert "4 deselected" in result.stdout.str()
    assert project.info()["shard"] == {"index": 1, "count": 2}
