"""``--bench-repeats``: every repeat is a row of its own, with its own seed, in tables and gates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.integration.gate_project import gate_json, thresholds, verdicts
from tests.support.fakeserver import Exchange, FakeServer, replying

WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]


@pytest.mark.parametrize("workers", WAYS)
def test_distinct_replies_and_nothing_asked_twice(project: Project, workers: tuple[str, ...]) -> None:
    seeds: list[Any] = []

    async def answer(exchange: Exchange) -> None:
        seeds.append(exchange.request.json.get("seed"))
        await replying(f"reply {len(seeds)}")(exchange)

    project.suite(4)
    with FakeServer(answer) as server:
        line = ("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-warmup=0", "--bench-seed=7")
        run = (*line, "--bench-repeats=5", "--bench-run-dir=r", *workers)
        result = project.run(*run, process=bool(workers))
        records = project.records(project.pytester.path / "r")
        assert len({record["key"] for record in records}) == len(records) == 20
        assert len({record["reply"]["answer"] for record in records}) == 20
        assert sorted(seeds) == sorted([7, 8, 9, 10, 11] * 4)
        assert {record["repeat"] for record in records} == {0, 1, 2, 3, 4}
        project.run(*line, "--bench-repeats=5", "--bench-resume=r", *workers, process=bool(workers))
        assert len(seeds) == 20
    assert "sums: every row was asked 5 times" in result.stdout.str()
    metrics = project.results(project.pytester.path / "r")["results"][0]["metrics"]
    assert (metrics["samples"], metrics["pass_at_5"], metrics["flip_rate"]) == (20, 0.0, 0.0)


def test_names_and_tables(project: Project) -> None:
    project.suite(6)
    listed = project.run(
        "bench_sums.py", "--bench-model=demo", "--bench-repeats=2", "--collect-only", "-q"
    ).outlines
    assert "bench_sums.py::sums[demo-direct-0]" in listed
    assert "bench_sums.py::sums[demo-direct-r1-0]" in listed
    result = project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-repeats=3", "-k", "r2")
    assert len(project.records()) == 6
    assert result.ret == 0
    result = project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-repeats=3")
    entry = project.results()["results"][0]
    assert entry["metrics"]["planned"] == 18
    assert len(entry["by_repeat"]["score"]) == 3
    assert sum(entry["by_repeat"]["score"]) / 3 == pytest.approx(entry["metrics"]["score"])
    assert "pass@3" in result.stdout.str()
    assert entry["metrics"]["ci_method"] == "wilson-clustered"


def test_gates_judge_repeats(project: Project) -> None:
    thresholds(project, 'repeats = 3\ncombine = "worst"\nmetrics.score = { min = 0.6, max_spread = 0.5 }')
    once = project.run("bench_sums.py", "--bench-model=demo:1")
    assert once.ret == 0
    assert "repeats-mismatch" in verdicts(project)[0][1]
    assert project.run("bench_sums.py", "--bench-model=demo:1", "--bench-repeats=3").ret == 0
    [gate] = gate_json(project)["gates"]
    assert gate["verdict"] == "pass"
    assert gate["counts"]["planned"] == 36
    assert project.run("bench_sums.py", "--bench-model=demo:0", "--bench-repeats=3").ret == 1
    assert verdicts(project) == [("fail", ["below-floor"])]


@pytest.mark.parametrize("value", ["0", "-1", "1001"])
def test_bad_numbers(project: Project, value: str) -> None:
    result = project.run("bench_sums.py", "--bench-model=demo", f"--bench-repeats={value}")
    assert result.ret == 4
    assert "write a whole number from 1 to 1000" in result.stderr.str()


def test_the_ini_twin(project: Project) -> None:
    (project.pytester.path / "pytest.ini").write_text("[pytest]\nbench_repeats = 2\n")
    project.suite(3)
    project.run("bench_sums.py", "--bench-model=demo")
    assert len(project.records()) == 6
