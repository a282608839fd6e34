"""``--bench-early-stop``: a run ends for a suite when its gates are decided, and says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.integration.conftest import Project, answering
from tests.integration.gate_project import gate_json, thresholds, verdicts
from tests.support.fakeserver import Exchange, FakeServer, replying

FLOOR = "metrics.score = { min = 0.5 }"
LEVELS = "sequential = { good = 0.9, bad = 0.6, min_tasks = 2 }\n" + "metrics.score = { min = 0.6 }"
WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]
ROWS = 120


@contextmanager
def model(*, right: bool) -> Iterator[str]:
    """The option that names a served model that is always right, or always wrong."""
    slowly = 0.02
    with FakeServer(answering(slowly) if right else replying("no", delay=slowly)) as server:
        yield f"--bench-model=m@{server.url}"


def asked(project: Project) -> list[dict[str, Any]]:
    return project.records()


@pytest.mark.parametrize("workers", WAYS)
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_certain(project: Project, workers: tuple[str, ...], verdict: str) -> None:
    project.suite(ROWS)
    thresholds(project, FLOOR)
    with model(right=verdict == "pass") as asked_model:
        result = project.run(
            "bench_sums.py",
            asked_model,
            "--bench-early-stop=certain",
            "--bench-inflight=2",
            *workers,
            process=bool(workers),
        )
    assert result.ret == (verdict == "fail")
    [gate] = gate_json(project)["gates"]
    assert gate["verdict"] == verdict
    early = gate["early"]
    assert early["code"] == "decided-certain"
    assert early["of"] == ROWS
    assert early["after"] == (ROWS // 2 if verdict == "pass" else ROWS // 2 + 1)
    low, high = early["intervals"]["score"]
    assert (low >= 0.5) if verdict == "pass" else (high < 0.5)
    count = len(asked(project))
    assert ROWS // 2 <= count < ROWS
    assert gate["counts"]["unasked"] == ROWS - count
    text = result.stdout.str()
    assert f"decided {verdict} after {early['after']} of {ROWS}; the rest is not asked" in text
    end = "worst" if verdict == "pass" else "best"
    assert f"decided-certain after {early['after']} of {ROWS}: at {end} score: " in text
    assert f"{ROWS - count} skipped" in text
    assert project.info()["not_asked"] == {"decided": ROWS - count}
    assert project.info()["complete"] is False


def test_repeats_are_never_cut_short_and_it_is_said(project: Project) -> None:
    thresholds(project, "metrics.score = { min = 0.5 }\nrepeats = 2")
    words = ("bench_sums.py", "--bench-model=demo:0", "--bench-early-stop=certain", "--bench-repeats=2")
    text = project.run(*words).stdout.str()
    assert "early stop: repeats are settled at the end only, every row is asked" in text
    assert len(project.records()) == 24


def test_resume_without_early_stop_asks_the_rest(project: Project) -> None:
    project.suite(ROWS)
    thresholds(project, FLOOR)
    with model(right=True) as asked_model:
        line = ("bench_sums.py", asked_model, "--bench-inflight=2")
        project.run(*line, "--bench-early-stop=certain")
        before = {record["key"] for record in asked(project)}
        again = project.run(*line, "--bench-early-stop=certain", "--bench-resume")
        assert again.ret == 0
        assert {record["key"] for record in asked(project)} == before
        assert gate_json(project)["gates"][0]["early"]["code"] == "decided-certain"
        whole = project.run(*line, "--bench-resume")
    assert whole.ret == 0
    assert len(asked(project)) == ROWS
    [gate] = gate_json(project)["gates"]
    assert gate["early"] is None
    assert gate["counts"]["unasked"] == 0
    assert project.info()["complete"] is True


@pytest.mark.parametrize("workers", WAYS)
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_sprt(project: Project, workers: tuple[str, ...], verdict: str) -> None:
    project.suite(ROWS)
    thresholds(project, LEVELS)
    with model(right=verdict == "pass") as asked_model:
        result = project.run(
            "bench_sums.py",
            asked_model,
            "--bench-early-stop=sprt",
            "--bench-inflight=2",
            *workers,
            process=bool(workers),
        )
    assert result.ret == (verdict == "fail")
    [gate] = gate_json(project)["gates"]
    early = gate["early"]
    assert (gate["verdict"], early["code"]) == (verdict, "decided-sprt")
    assert early["after"] == (8 if verdict == "pass" else 3)
    assert early["good"] == 0.9
    assert len(asked(project)) < 80
    indices = [record["index"] for record in asked(project)[:8]]
    assert indices != sorted(indices)


def test_the_shuffle_is_the_same_each_time(project: Project) -> None:
    project.suite(20)
    thresholds(project, LEVELS)
    orders = []
    for _ in range(2):
        found = project.run(
            "bench_sums.py", "--bench-model=demo", "--bench-early-stop=sprt", "--collect-only", "-q"
        )
        orders.append([line for line in found.outlines if "sums[" in line])
    assert orders[0] == orders[1]
    assert orders[0] != sorted(orders[0])


def test_a_latency_bound_is_never_passed_early(project: Project) -> None:
    project.suite(30)
    thresholds(project, "metrics.score = { min = 0.1 }\nmetrics.ttft_p50_ms = { max = 1e9 }")
    with model(right=True) as asked_model:
        project.run("bench_sums.py", asked_model, "--bench-early-stop=certain")
    assert len(asked(project)) == 30
    assert verdicts(project) == [("pass", [])]


def test_two_gates_both_have_to_be_decided(project: Project) -> None:
    project.suite(ROWS)
    thresholds(project, FLOOR)
    file = project.pytester.path / "kernels/box/demo/BENCH.toml"
    text = file.read_text()
    file.write_text(
        text + text.replace('gate = "sums"', 'gate = "sums-high"\nsuite = "sums"').replace("0.5", "0.8")
    )
    with model(right=True) as asked_model:
        project.run("bench_sums.py", asked_model, "--bench-early-stop=certain", "--bench-inflight=2")
    gates = gate_json(project)["gates"]
    assert [gate["early"]["after"] for gate in gates] == [60, 96]
    assert 96 <= len(asked(project)) < ROWS


def test_errors_over_the_budget_are_never_decided(project: Project) -> None:
    project.suite(30)
    thresholds(project, "allow_errors = 1\nmetrics.score = { min = 0.1 }")
    with FakeServer(lambda exchange: exchange.json({"error": "broken"}, 500)) as broken:
        result = project.run(
            "bench_sums.py",
            f"--bench-model=m@{broken.url}",
            "--bench-retries=0",
            "--bench-warmup=0",
            "--bench-max-errors=100%",
            "--bench-early-stop=certain",
        )
    assert result.ret == 1
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert "error-budget" in codes


def test_requests_in_flight_are_given_up(project: Project) -> None:
    """The first rows decide; a reply that would take a minute is not waited for."""
    project.suite(40)
    thresholds(project, "metrics.score = { min = 0.9 }")
    quick = replying("no number")

    async def answer(exchange: Exchange) -> None:
        if exchange.request.number == 2:
            await asyncio.sleep(60)
        await quick(exchange)

    with FakeServer(answer) as server:
        result = project.run(
            "bench_sums.py",
            f"--bench-model=m@{server.url}",
            "--bench-warmup=0",
            "--bench-inflight=4",
            "--bench-early-stop=certain",
        )
    assert result.ret == 1
    assert verdicts(project) == [("fail", ["below-floor"])]
    assert result.duration < 30


def test_an_early_stop_needs_gates(project: Project) -> None:
    result = project.run(
        "bench_sums.py", "--bench-model=demo", "--bench-early-stop=certain", "--bench-gate=off"
    )
    assert result.ret == 4
    assert "--bench-early-stop=certain stops at a gate's verdict" in result.stderr.str()


def test_the_reason_of_a_row_that_was_not_asked(project: Project) -> None:
    project.suite(ROWS)
    thresholds(project, FLOOR)
    with model(right=False) as asked_model:
        result = project.run(
            "bench_sums.py",
            asked_model,
            "--bench-early-stop=certain",
            "--bench-inflight=1",
            "-rs",
            "--junitxml=out.xml",
        )
    words = f"not asked: sums decided fail after {ROWS // 2 + 1} of {ROWS}"
    assert words in result.stdout.str()
    assert words in (project.pytester.path / "out.xml").read_text()
    assert not any(json.dumps(record).count("decided") for record in asked(project))
