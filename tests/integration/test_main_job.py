"""The main job: rows become items, a model answers, outcomes reach pytest as it expects them."""

from __future__ import annotations

import pytest

from tests.integration.conftest import SUITE, Project
from tests.support.fakeserver import FakeServer, replying


def test_demo_run_scores_every_row(project: Project) -> None:
    result = project.run("--bench-model=demo", "bench_sums.py")
    outcomes = [r["outcome"] for r in project.records()]
    right = outcomes.count("correct")
    assert len(outcomes) == 12
    assert 0 < right < 12
    assert {*outcomes} == {"correct", "incorrect"}
    assert result.parseoutcomes() == {"passed": right, "missed": 12 - right}
    assert result.ret == pytest.ExitCode.OK
    assert project.info()["complete"] is True


def test_http_model_is_asked_once_a_row(project: Project, server: FakeServer) -> None:
    result = project.run(f"--bench-model=m@{server.url}", "bench_sums.py")
    assert result.parseoutcomes() == {"passed": 12}
    assert server.counts.chat == 13  # the warm-up is one
    record = project.records()[0]
    assert record["reply"]["answer"] == record["expected"]
    assert record["timing"]["ttft_ms"] > 0
    assert record["usage"]["source"] == "usage"


def test_node_ids_are_plain_and_stable(project: Project) -> None:
    result = project.run("--bench-model=demo:0.5", "--collect-only", "-q", "bench_sums.py")
    ids = [line for line in result.outlines if "::" in line]
    assert sorted(ids) == [f"bench_sums.py::sums[demo.0.5-direct-{n:02d}]" for n in range(12)]


def test_one_row_by_node_id(project: Project) -> None:
    result = project.run("--bench-model=demo:1", "bench_sums.py::sums[demo.1-direct-07]")
    assert result.parseoutcomes() == {"passed": 1}
    assert [r["task_id"] for r in project.records()] == ["07"]
    assert project.info()["plan"]["cells"][0]["selection"] == {"kind": "ids", "n": 1}


def test_k_picks_rows_and_suites(project: Project) -> None:
    assert project.run("--bench-model=demo:1", "-k", "sums and 07").parseoutcomes()["passed"] == 1
    result = project.run("--bench-model=demo:1", "-k", "nothing_like_it")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_marker_expression_and_strict_markers(project: Project) -> None:
    result = project.run("--bench-model=demo:1", "-m", "bench", "--strict-markers", "bench_sums.py")
    assert result.parseoutcomes() == {"passed": 12}
    result = project.run("--bench-model=demo:1", "-m", "not bench", "bench_sums.py")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_warnings_as_errors_and_no_terminal(project: Project) -> None:
    result = project.run("-W", "error", "--bench-model=demo:1", "bench_sums.py", process=True)
    assert result.parseoutcomes() == {"passed": 12}
    result = project.run("-p", "no:terminal", "--bench-model=demo:1", "bench_sums.py", process=True)
    assert result.ret == 0
    assert result.outlines == []
    assert len(project.records()) == 12


def test_collect_only_asks_nothing(project: Project, server: FakeServer) -> None:
    project.run(f"--bench-model=m@{server.url}", "--collect-only", "-q", "bench_sums.py")
    assert server.counts.connections == 0
    assert project.runs == []


def test_deselect_and_order(project: Project) -> None:
    result = project.run(
        "--bench-model=demo:1", "--deselect", "bench_sums.py::sums[demo.1-direct-03]", "bench_sums.py"
    )
    assert result.parseoutcomes() == {"passed": 11, "deselected": 1}


def test_a_miss_is_not_a_failure_but_strict_makes_it_one(project: Project) -> None:
    assert project.run("--bench-model=demo:0", "-x", "bench_sums.py").parseoutcomes() == {"missed": 12}
    result = project.run("--bench-model=demo:0", "--bench-strict", "bench_sums.py")
    assert result.parseoutcomes() == {"failed": 12}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_missed_rows_give_their_reason(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    result = project.run("--bench-model=demo:0", "-v", "bench_sums.py")
    result.stdout.fnmatch_lines(
        ["*sums?demo.0-direct-07? MISSED (answered -1, expected 14 ?rule: whole?) * ?*"]
    )


def test_x_stops_at_the_first_error(project: Project) -> None:
    project.suite(12, SUITE.replace('return f"What', 'raise KeyError("boom")\n        return f"What'))
    result = project.run("--bench-model=demo", "-x", "bench_sums.py")
    assert result.parseoutcomes()["errors"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result = project.run("--bench-model=demo", "--maxfail=3", "bench_sums.py")
    assert result.parseoutcomes()["errors"] == 3


def test_a_crash_in_one_suite_leaves_the_others_alone(project: Project) -> None:
    broken = SUITE.replace("Sums", "Broken").replace('"sums"', '"broken"').replace("COUNT", "12")
    broken = broken.replace('return f"What', 'raise KeyError("boom")\n        return f"What')
    (project.pytester.path / "bench_broken.py").write_text(broken)
    result = project.run("--bench-model=demo:1", "bench_broken.py", "bench_sums.py")
    counts = result.parseoutcomes()
    assert counts["passed"] == 12
    assert counts["errors"] + counts.get("not", 0) >= 8
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_lf_runs_errored_rows(project: Project) -> None:
    bad = SUITE.replace('return f"What', 'if task.id == "05": raise KeyError("boom")\n        return f"What')
    project.suite(12, bad)
    assert project.run("--bench-model=demo:1", "--ff", "bench_sums.py").parseoutcomes()["errors"] == 1
    project.suite(12)
    result = project.run("--bench-model=demo:1", "--lf", "bench_sums.py")
    assert result.parseoutcomes()["passed"] == 1
    assert [r["task_id"] for r in project.records()] == ["05"]


@pytest.mark.parametrize("flag", ["--setup-show", "--tb=short", "--durations=3", "-rA", "-s", "-q", "-v"])
def test_common_flags_change_no_outcome(project: Project, flag: str) -> None:
    result = project.run("--bench-model=demo:1", flag, "bench_sums.py")
    assert result.ret == 0
    assert len(project.records()) == 12


def test_prose_only_model_is_all_misses_in_the_denominator(project: Project) -> None:
    with FakeServer(replying("I would rather talk about the weather.")) as server:
        result = project.run(f"--bench-model=m@{server.url}", "bench_sums.py")
    assert result.parseoutcomes() == {"missed": 12}
    assert {r["outcome"] for r in project.records()} == {"incorrect"}
    assert all(r["score"] == 0.0 for r in project.records())


@pytest.mark.parametrize("workers", ["0", "2"])
def test_two_models_run_one_after_the_other_on_one_server(project: Project, workers: str) -> None:
    with FakeServer(replying("4", delay=0.01), models=["a", "b"]) as server:
        models = [f"--bench-model={name}@{server.url}" for name in "ab"]
        words = ["--bench-warmup=0", "-n", workers, "bench_sums.py"]
        assert project.run(*models, *words, process=True).ret == 0
    order = [r["model"] for r in sorted(project.records(), key=lambda r: r["timing"]["sent_at"])]
    assert order == ["a"] * 12 + ["b"] * 12


def test_installed_suites_are_found_without_paths(project: Project) -> None:
    result = project.run("--bench-model=demo", "--collect-only", "-q", "-k", "sums")
    assert sum("::sums[" in line for line in result.outlines) == 12
    result = project.run("--bench=nope", "--bench-model=demo")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench=nope: no such suite*"])


@pytest.mark.parametrize("workers", ["0", "2"])
def test_xdist_gives_the_same_outcomes(project: Project, workers: str) -> None:
    result = project.run("--bench-model=demo:0.5", "-n", workers, "bench_sums.py", process=True)
    right = {r["task_id"] for r in project.records() if r["outcome"] == "correct"}
    assert result.ret == 0
    assert len(project.records()) == 12
    assert result.parseoutcomes() == {"passed": len(right), "missed": 12 - len(right)}
    assert not (project.newest / "spool").exists()
    assert project.info()["complete"] is True
