"""Gates in a run: verdicts, exit statuses, and where they are seen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import Project, answering
from tests.integration.gate_project import gate_json, thresholds, verdicts
from tests.support.fakeserver import FakeServer

RUN = ("bench_sums.py", "--bench-model=demo:1")
ROW = "kernels/box/demo/BENCH.toml::gate[sums-org--demo]"
WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]


@pytest.mark.parametrize("workers", WAYS)
def test_pass_and_fail(project: Project, workers: tuple[str, ...]) -> None:
    thresholds(project)
    good = project.run(*RUN, *workers, process=bool(workers))
    assert good.ret == 0
    assert verdicts(project) == [("pass", [])]
    bad = project.run("bench_sums.py", "--bench-model=demo:0", *workers, process=bool(workers))
    assert bad.ret == 1
    assert verdicts(project) == [("fail", ["below-floor"])]
    text = bad.stdout.str()
    assert "FAIL sums / box / org/demo: score: 0 < min 0.6, short by 0.6 (n 12)" in text
    assert "1 failed" in text
    assert "= benchmark gates =" in text
    assert max(int(n) for n in re.findall(r"\[ *(\d+)%\]", text)) <= 100
    assert gate_json(project)["exit_effect"] == "fail"
    assert project.results()["gates"][0]["verdict"] == "fail"


def test_at_the_bound_and_a_hair_above_it(project: Project) -> None:
    project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-gate=off")
    score = project.results()["results"][0]["metrics"]["score"]
    assert 0 < score < 1
    thresholds(project, f"metrics.score = {{ min = {score!r} }}")
    assert project.run("bench_sums.py", "--bench-model=demo:0.5").ret == 0
    thresholds(project, f"metrics.score = {{ min = {score + 1e-12!r} }}")
    assert project.run("bench_sums.py", "--bench-model=demo:0.5").ret == 1


def test_misses_alone_never_fail_and_strict_ones_do(project: Project) -> None:
    thresholds(project, "metrics.score = { min = 0.05 }")
    missing = ("bench_sums.py", "--bench-model=demo:0.5")
    assert project.run(*missing).ret == 0
    assert project.run(*missing, "--bench-strict").ret == 1
    thresholds(project, "metrics.score = { min = 0.999 }")
    assert project.run(*missing).ret == 1
    off = project.run(*missing, "--bench-gate=off")
    assert off.ret == 0
    assert not (project.newest / "gate.json").exists()
    assert "benchmark gates" not in off.stdout.str()


@pytest.mark.parametrize(
    "words", [("bench_sums.py", "-k", "direct-03"), ("bench_sums.py::sums[demo.1-direct-03]",)]
)
def test_a_selection_is_not_judged(project: Project, words: tuple[str, ...]) -> None:
    thresholds(project)
    auto = project.run("--bench-model=demo:1", *words)
    assert auto.ret == 0
    assert verdicts(project) == [("not-judged", ["deselected"])]
    assert "1 skipped" in auto.stdout.str()
    required = project.run("--bench-model=demo:1", *words, "--bench-gate=required")
    assert required.ret == 1
    assert "not judged: deselected" in required.stdout.str()
    assert "would have been: ok" in required.stdout.str()


def test_last_failed_after_a_red_gate_runs_everything(project: Project) -> None:
    thresholds(project)
    assert project.run("bench_sums.py", "--bench-model=demo:0", "--lf").ret == 1
    again = project.run(*RUN, "--lf")
    assert again.ret == 0
    assert verdicts(project) == [("pass", [])]


def test_errors_are_not_judged_and_fail(project: Project) -> None:
    thresholds(project)
    with FakeServer(lambda exchange: exchange.json({"error": "broken"}, 500)) as broken:
        result = project.run(
            "bench_sums.py",
            f"--bench-model=m@{broken.url}",
            "--bench-retries=0",
            "--bench-warmup=0",
            "--bench-max-errors=100%",
        )
    assert result.ret == 1
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert "error-budget" in codes


@pytest.mark.parametrize(("words", "status"), [((), 1), (("-n", "2"), 2)])
def test_stopping_at_an_error_is_incomplete(project: Project, words: tuple[str, ...], status: int) -> None:
    thresholds(project)
    with FakeServer(lambda exchange: exchange.json({"error": "broken"}, 500)) as broken:
        result = project.run(
            "bench_sums.py",
            f"--bench-model=m@{broken.url}",
            "--bench-retries=0",
            "--bench-warmup=0",
            "--bench-max-errors=100%",
            "--bench-gate=required",
            "-x",
            *words,
            process=True,
        )
    assert result.ret == status
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert "incomplete" in codes


def test_a_killed_worker_is_not_judged(project: Project) -> None:
    project.suite(
        12,
        """
import os
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import Rows

class Sums(Suite):
    key = "sums"
    data = Rows([{"question": str(n), "answer": "1"} for n in range(COUNT)])

    def prompt(self, task: Task) -> str:
        return task["question"]

    def score(self, task: Task, reply: Reply) -> Score:
        if task["question"] == "5":
            os._exit(9)
        return Score(1.0, "1", "1", "whole")

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return "1", "0"
""",
    )
    thresholds(project)
    result = project.run(*RUN, "-n", "2", "--max-worker-restart=1", process=True)
    assert result.ret != 0
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert set(codes) & {"error-budget", "incomplete"}


def test_required_without_any_entry(project: Project) -> None:
    result = project.run(*RUN, "--bench-gate=required")
    assert result.ret == 1
    assert "kernels::gate[none]" in result.stdout.str()
    assert verdicts(project) == [("not-judged", ["nothing-judged"])]
    assert project.run(*RUN).ret == 0


def test_nothing_collected_stays_nothing_collected(project: Project) -> None:
    thresholds(project)
    result = project.run(*RUN, "-k", "nothing", "--bench-gate=required")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_required_gate_without_rows(project: Project) -> None:
    thresholds(project)
    result = project.run(*RUN, "--bench-require-gate=other")
    assert result.ret == 1
    assert verdicts(project) == [("pass", []), ("not-judged", ["nothing-judged"])]
    unmeasured = "note = 'five runs'"
    thresholds(project, unmeasured, status="unmeasured")
    assert project.run(*RUN).ret == 0
    assert project.run(*RUN, "--bench-require-gate=sums").ret == 1
    assert verdicts(project) == [("not-judged", ["unmeasured"])]


def test_a_crash_in_judging_is_a_failed_row(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_benchkit.plugin.gate import GateHooks

    def broken(*args: object) -> None:
        raise ZeroDivisionError("judging broke")

    thresholds(project)
    monkeypatch.setattr(GateHooks, "_judge", broken)
    result = project.run(*RUN)
    assert result.ret == 1
    assert "judge-crashed" in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()


def test_lint_errors_end_the_run_before_any_request(project: Project, server: FakeServer) -> None:
    thresholds(project, "metrics.score = { min = 0.6 }\ncolour = 1")
    result = project.run("bench_sums.py", f"--bench-model=m@{server.url}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert (
        "kernels/box/demo/BENCH.toml:8: error[unknown-key] [sums / org/demo] [colour]" in result.stderr.str()
    )
    assert server.counts.chat == 0
    thresholds(project)
    thresholds(project, "colour = 1", path="other/m")
    (project.pytester.path / "kernels/other/HARDWARE.toml").write_text("")
    elsewhere = project.run("bench_sums.py", f"--bench-model=m@{server.url}")
    assert elsewhere.ret == 0
    assert "errors in other classes" in elsewhere.stdout.str()


def test_a_named_root_must_exist(project: Project) -> None:
    result = project.run(*RUN, "--bench-kernels=nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "kernels-missing" in result.stderr.str()


def test_a_foreseen_mismatch_is_said_before_the_first_task(project: Project, server: FakeServer) -> None:
    pinned = 'metrics.score = { min = 0.6 }\nparam_overrides."sampling.temperature" = "0.5"'
    thresholds(project, pinned)
    words = ("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-warmup=0")
    auto = project.run(*words)
    assert auto.ret == 0
    assert "will not be judged for m: param-pin-differs" in auto.stdout.str()
    assert verdicts(project) == [("not-judged", ["pins-mismatch"])]
    asked = server.counts.chat
    required = project.run(*words, "--bench-gate=required")
    assert required.ret == pytest.ExitCode.USAGE_ERROR
    assert "param-pin-differs" in required.stderr.str()
    assert server.counts.chat == asked
    assert len(project.runs) == 1
    assert project.run(*words, "--bench-temperature=0.5", "--bench-gate=required").ret == 0


@pytest.mark.parametrize("workers", WAYS)
def test_junit_and_html(project: Project, workers: tuple[str, ...]) -> None:
    thresholds(project)
    result = project.run(
        "bench_sums.py",
        "--bench-model=demo:0",
        *workers,
        "--junitxml=j.xml",
        "--html=r.html",
        "--self-contained-html",
        process=True,
    )
    assert result.ret == 1
    junit = (project.pytester.path / "j.xml").read_text()
    assert junit.count("<failure") == 1
    assert 'name="benchkit.verdict" value="fail"' in junit
    assert 'name="benchkit.codes" value="below-floor"' in junit
    assert "gate[sums-org--demo]" in (project.pytester.path / "r.html").read_text()


def test_resume_of_a_finished_run_judges_it_again(project: Project, server: FakeServer) -> None:
    thresholds(project)
    words = ("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-warmup=0")
    assert project.run(*words).ret == 0
    before, asked = gate_json(project)["gates"], server.counts.chat
    assert project.run(*words, "--bench-resume").ret == 0
    assert server.counts.chat == asked
    assert gate_json(project)["gates"] == before
    thresholds(project, "metrics.score = { max = 0.6 }\nmetrics.samples = { min = 12, max = 12 }")
    assert project.run(*words, "--bench-resume").ret == 1


def test_rows_from_before_a_change_are_not_judged(project: Project) -> None:
    thresholds(project, 'metrics.score = { min = 0.1 }\nparam_overrides."sampling.temperature" = "0.5"')
    with FakeServer(answering()) as good:
        port = good.url.rsplit(":", 1)[1].split("/")[0]
        words = ["bench_sums.py", f"--bench-model=m@{good.url}", "--bench-warmup=0", "--bench-retries=0"]
        assert project.run(*words).ret == 0
    assert port.isdigit()
    answered = [0]

    def half(exchange: object) -> object:
        answered[0] += 1
        status = 500 if answered[0] % 2 else 200
        if status == 500:
            return exchange.json({"error": "x"}, 500)  # type: ignore[attr-defined]
        return answering()(exchange)

    with FakeServer(half) as flaky:  # type: ignore[arg-type]
        words[1] = f"--bench-model=m@{flaky.url}"
        project.run(
            *words,
            "--bench-temperature=0.5",
            "--bench-resume",
            "--bench-resume-changed=ask",
            "--bench-max-errors=100%",
        )
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert "mixed-provenance" in codes


def test_one_entry_and_two_models_give_two_rows(project: Project) -> None:
    thresholds(project)
    result = project.run("bench_sums.py", "--bench-model=demo:1", "--bench-model=demo:0", "-v")
    assert result.ret == 1
    assert [verdict for verdict, _ in verdicts(project)] == ["pass", "fail"]
    assert f"{ROW[:-1]}-demo-1] PASSED" in result.stdout.str()
    assert f"{ROW[:-1]}-demo-0] FAILED" in result.stdout.str()


def test_summary_copy_and_quiet_output(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    thresholds(project)
    summary = project.pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = project.run("bench_sums.py", "--bench-model=demo:0", "--bench-gate-json=copy.json", "-qq")
    assert result.ret == 1
    assert "1 gate: 1 failed" in result.stdout.str()
    assert "| FAIL | sums |" in summary.read_text()
    copy = json.loads((project.pytester.path / "copy.json").read_bytes())
    assert copy == gate_json(project)
    quiet = project.run("bench_sums.py", "--bench-model=demo:0", "--no-summary", "--bench-github-summary=off")
    assert "1 gate:" not in quiet.stdout.str()
    assert summary.read_text().count("### Benchmark gates") == 1
    assert project.run("bench_sums.py", "--bench-model=demo:0", "-p", "no:terminal").ret == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bench-gate=off", "--bench-require-gate=x"], "exclude each other"),
        (["--bench-model=demo", "--bench-checkpoint=a"], "--bench-checkpoint=MODEL=ID"),
        (["--bench-checkpoint=a", "--bench-checkpoint=b"], "once for each model"),
    ],
)
def test_bad_options(project: Project, words: list[str], told: str) -> None:
    result = project.run(*RUN, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert told in result.stderr.str()


def test_ctrl_c_keeps_its_status_and_writes_the_verdict(project: Project, tmp_path: Path) -> None:
    """The suite interrupts itself in the middle."""
    project.suite(
        200,
        (project.pytester.path / "bench_sums.py")
        .read_text()
        .replace("range(12)", "range(COUNT)")
        .replace(
            "        found = reply",
            "        import os, signal\n        if task['question'].startswith('20+'):\n"
            "            os.kill(os.getpid(), signal.SIGINT)\n        found = reply",
        ),
    )
    thresholds(project)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *RUN, "--bench-gate=required"],
        cwd=project.pytester.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    [(verdict, codes)] = verdicts(project)
    assert verdict == "not-judged"
    assert "incomplete" in codes
