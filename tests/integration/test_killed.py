"""Interrupts, kills and crashes: what was finished is kept, what was in flight is all that is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import SUITE, Project, answering
from tests.support.fakeserver import FakeServer

ROWS = 60


def start(project: Project, *words: str) -> subprocess.Popen[str]:
    """Runs pytest in a process group of its own, as a shell would."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "bench_sums.py"],
        cwd=project.pytester.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the run did not get there"
        time.sleep(0.01)


def workers_of(pid: int) -> list[int]:
    """The xdist workers of a controller: its children that read their program from standard input."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"sys.stdin.readline" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def stored(project: Project) -> list[bytes]:
    """Whole record lines on disk: the journal's and the spools'."""
    run = project.newest
    paths: list[Path] = [run / "records.jsonl", *(run / "spool").glob("*.jsonl")]
    lines = [line for path in paths if path.exists() for line in path.read_bytes().split(b"\n")[:-1]]
    return [line for line in lines if line]


def resumed(project: Project, server: FakeServer, *words: str) -> None:
    """Finishes the run and checks that no finished task was asked twice."""
    before = {json.loads(line)["key"] for line in stored(project)}
    asked = server.counts.chat
    result = project.run(
        f"--bench-model=m@{server.url}",
        "--bench-warmup=0",
        "--bench-resume",
        *words,
        "bench_sums.py",
        process=True,
    )
    assert result.ret == 0
    assert server.counts.chat - asked == ROWS - len(before)
    keys = [r["key"] for r in project.records()]
    assert len(set(keys)) == ROWS
    assert project.info()["complete"] is True
    assert len(project.runs) == 1


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one", "xdist"])
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 2), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_stopped_run_goes_on(
    project: Project, number: signal.Signals, status: int, workers: tuple[str, ...]
) -> None:
    project.suite(ROWS)
    with FakeServer(answering(delay=0.1)) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-warmup=0", *workers]
        process = start(project, *words)
        wait_until(lambda: server.counts.chat >= 16)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)  # Ctrl-C reaches the whole group
        else:
            process.send_signal(number)
        output, _ = process.communicate(timeout=30)
        assert process.returncode == status, output
        kept = len(stored(project))
        assert kept >= 12 - 4, output
        if number is not signal.SIGKILL:
            info = project.info()
            assert info["complete"] is False
            assert info["sessions"][-1]["reason"] == "interrupted"
            assert "Traceback" not in output
        time.sleep(0.3)  # workers of a killed controller end with it
        resumed(project, server, *workers)


def test_records_are_durable_before_their_item_is_reached(project: Project) -> None:
    project.suite(9)

    async def chat(exchange: object) -> None:
        first = "0+0" in exchange.request.prompt  # type: ignore[attr-defined]
        await answering(delay=20.0 if first else 0.01)(exchange)

    with FakeServer(chat) as server:
        process = start(
            project, f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-warmup=0", "-k", "sums"
        )
        wait_until(lambda: bool(project.runs) and len(stored(project)) == 8)
        process.kill()
        process.communicate()
    assert len(stored(project)) == 8


def test_a_killed_worker_costs_one_row(project: Project) -> None:
    project.suite(ROWS)
    with FakeServer(answering(delay=0.1)) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-warmup=0", "-n", "2"]
        process = start(project, *words)
        wait_until(lambda: server.counts.chat >= 16)
        os.kill(workers_of(process.pid)[0], signal.SIGKILL)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 1, output
        final = {r["key"]: r for r in project.records()}
        assert len(final) == ROWS, output
        lost = [r for r in final.values() if r["outcome"] == "harness_error"]
        assert len(lost) == 1, output
        assert lost[0]["detail"] == "worker_lost"
        assert server.counts.chat <= ROWS + 4  # only what was in flight is asked again
        resumed_before = server.counts.chat
        result = project.run(*words[:1], "--bench-warmup=0", "--bench-resume", "bench_sums.py", process=True)
        assert result.ret == 0
        assert server.counts.chat == resumed_before + 1


def test_a_second_run_on_a_live_folder_is_refused(project: Project) -> None:
    project.suite(ROWS)
    with FakeServer(answering(delay=0.5)) as server:
        process = start(project, f"--bench-model=m@{server.url}", "--bench-run-dir=out")
        folder = project.pytester.path / "out"
        wait_until(lambda: (folder / "run.json").exists())
        result = project.run("--bench-model=demo", "--bench-resume=out", "bench_sums.py")
        process.kill()
        process.communicate()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*is being written by process {process.pid}*"])
    # its owner is dead now: taken over, with a note
    result = project.run("--bench-model=demo", "--bench-resume=out", "bench_sums.py")
    assert f"its writer (process {process.pid}) is gone" in result.stdout.str() + result.stderr.str()


def test_a_full_disk_is_named(project: Project) -> None:
    """The journal's descriptor is put on a device that is always full."""
    (project.pytester.path / "conftest.py").write_text(
        "import os, pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_collection_finish(session):\n"
        "    from pytest_benchkit.plugin.session import bench_of\n"
        "    journal = bench_of(session.config).store.journal\n"
        "    os.dup2(os.open('/dev/full', os.O_WRONLY), journal._fd)\n"
    )
    result = project.run("--bench-model=demo", "bench_sums.py", process=True)
    assert result.ret == 3
    text = result.stdout.str() + result.stderr.str()
    assert "records.jsonl: No space left on device" in text
    assert "INTERNALERROR" not in text


def test_odd_values_never_break_xdist(project: Project) -> None:
    odd = SUITE.replace(
        'return Score(float(found == task["answer"]), found, task["answer"], "whole")',
        "import enum, pathlib, decimal, dataclasses\n"
        '        E = enum.Enum("E", "A")\n'
        "        class S(str): pass\n"
        "        D = dataclasses.make_dataclass('D', ['x'])\n"
        '        labels = {"path": pathlib.Path("/x"), "enum": E.A, "s": S("t"),\n'
        '                  "dec": decimal.Decimal("1.5"),\n'
        '                  "dc": D(1), "set": {1}, "bytes": b"\\xff", "nan": float("nan"), "big": 10**40,\n'
        '                  "surrogate": "\\ud800", ("tuple", 1): object()}\n'
        '        return Score(0.0, S("\\ud800 read"), D(pathlib.Path("/y")), S("rule"), labels=labels)',
    )
    project.suite(8, odd)
    result = project.run("--bench-model=demo", "-n", "2", "bench_sums.py", process=True)
    assert result.ret == 0
    assert result.parseoutcomes() == {"missed": 8}
    labels = project.records()[0]["labels"]
    assert labels["path"] == "/x"
    assert labels["nan"] == "nan"
    assert labels["surrogate"] == "\ud800"
    assert labels["big"] == str(10**40)  # beyond what JSON readers keep


def test_a_hang_up_that_is_ignored_stays_ignored(project: Project) -> None:
    """What nohup sets: the run must outlive its terminal."""
    project.suite(ROWS)
    with FakeServer(answering(delay=0.1)) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-warmup=0"]
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = start(project, *words)
        finally:
            signal.signal(signal.SIGHUP, before)
        wait_until(lambda: server.counts.chat >= 16)
        process.send_signal(signal.SIGHUP)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert len(project.records()) == ROWS


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_leaves_at_once(project: Project, number: signal.Signals, status: int) -> None:
    project.suite(300)
    with FakeServer(answering(delay=0.1)) as server:
        # a scorer that sleeps keeps the ending busy for long enough to be interrupted
        slow = SUITE.replace("found = reply", "import time; time.sleep(1)\n        found = reply")
        project.suite(300, slow)
        process = start(project, f"--bench-model=m@{server.url}", "--bench-inflight=16", "--bench-warmup=0")
        wait_until(lambda: bool(project.runs) and len(stored(project)) >= 4)
        process.send_signal(number)
        time.sleep(0.3)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == status, output
    assert "Traceback" not in output
    assert stored(project)
