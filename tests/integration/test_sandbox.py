"""Suites of programs in a session: judged in isolation or not at all, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox import pool, probe
from tests.integration.conftest import Project
from tests.support.fakeserver import Exchange, FakeServer, replying
from tests.support.sandbox import descendants, need_isolation

SUITE = '''
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import JsonLines
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.scoring import programs
from pytest_benchkit.scoring.programs_trials import asserts


class Doubles(Suite):
    """Programs that double a number."""

    key = "doubles"
    data = JsonLines("rows.jsonl")
    needs = frozenset({"sandbox"})

    def prompt(self, task: Task) -> str:
        return f"Write f(n) = {task['factor']} n."

    def score(self, task: Task, reply: Reply) -> Score:
        program = programs.Program(reply.answer, "f")
        trial = asserts([f"assert f(3) == {3 * task['factor']}"])
        verdict = programs.run(program, trial, Limits(cpu_s=CPU))
        return Score(float(verdict.passed), reply.answer, rule="program", reason=verdict.feedback)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return f"def f(n):\\n    return n * {task['factor']}", "def f(n):\\n    return 0"
'''


@pytest.fixture
def programs(project: Project) -> Project:
    path = project.pytester.path
    (path / "bench_doubles.py").write_text(SUITE.replace("CPU", "10.0"))
    (path / "rows.jsonl").write_text("".join(f'{{"factor": {n}}}\n' for n in range(1, 7)))
    return project


def test_programs_are_judged_and_the_run_says_in_what(programs: Project) -> None:
    need_isolation()
    result = programs.run("--bench-model=demo:0.5", "bench_doubles.py")
    outcomes = [row["outcome"] for row in programs.records()]
    assert {"correct", "incorrect"} == set(outcomes)
    assert result.ret == 0
    backend = probe.require()
    assert programs.info()["sandbox"] == backend.facts()
    assert programs.info()["sandbox"]["version"]
    assert pool._pool is None or pool._pool.closed


def test_without_isolation_no_row_is_asked(
    programs: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe.isolation.cache_clear()
    try:
        with FakeServer(replying("def f(n): return n")) as server:
            result = programs.run(f"--bench-model=m@{server.url}", "--bench-warmup=0", "bench_doubles.py")
            assert server.counts.chat == 0
    finally:
        probe.isolation.cache_clear()
    assert result.parseoutcomes()["skipped"] == 6
    rows = programs.records()
    assert {(row["outcome"], row["detail"]) for row in rows} == {("skipped", "no_sandbox")}
    told = [line for line in result.outlines if "rows are skipped, no_sandbox" in line]
    assert len(told) == 1
    assert "bubblewrap is not installed (apt-get install bubblewrap)" in told[0]
    assert "bubblewrap" in programs.info()["sandbox"]["problem"]


def test_a_sandbox_that_fails_is_an_error_and_no_miss(
    programs: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_isolation()

    def fail(self: pool.Pool) -> None:
        raise SandboxError("no more processes")

    monkeypatch.setattr(pool.Pool, "_take", fail)
    result = programs.run("--bench-model=demo:1", "bench_doubles.py")
    assert {(row["outcome"], row["detail"]) for row in programs.records()} == {
        ("harness_error", "sandbox_failed")
    }
    assert result.ret == 1


def test_workers_judge_too(programs: Project) -> None:
    need_isolation()
    programs.run("--bench-model=demo:1", "bench_doubles.py", "-n", "2", process=True)
    assert [row["outcome"] for row in programs.records()] == ["correct"] * 6
    assert sandboxes() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_session_leaves_no_process(programs: Project, number: signal.Signals) -> None:
    need_isolation()
    endless = "def f(n):\n    while True: pass"
    with FakeServer(replying(endless)) as server:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "bench_doubles.py"]
        command += [f"--bench-model=m@{server.url}", "--bench-warmup=0"]
        session = subprocess.Popen(
            command,
            cwd=programs.pytester.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait(lambda: server.counts.chat == 6 and "bwrap" in " ".join(descendants(session.pid).values()))
        mine = descendants(session.pid)
        session.send_signal(number)
        session.wait(30)
    wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in mine), 10)


def test_scoring_leaves_the_request_window_full(programs: Project) -> None:
    """Programs that take longer than replies do not keep rows from being asked."""
    need_isolation()
    (programs.pytester.path / "rows.jsonl").write_text('{"factor": 1}\n' * 24)
    slow = "import time\ndef f(n):\n    time.sleep(0.2)\n    return n"
    with FakeServer(replying(slow, delay=0.05)) as server:
        asked: list[float] = []
        answer = server.chat

        async def noting(exchange: Exchange) -> None:
            asked.append(time.monotonic())
            await answer(exchange)

        server.chat = noting
        started = time.monotonic()
        programs.run(
            f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-warmup=0", "bench_doubles.py"
        )
        took = time.monotonic() - started
    assert len(asked) == 24
    assert max(asked) - min(asked) < 0.6 * took


def sandboxes() -> list[int]:
    return [pid for pid, line in descendants(os.getpid()).items() if "bwrap" in line]


def wait(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)
