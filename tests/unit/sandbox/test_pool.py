"""Whose turn it is, and what a pool does at its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox import pool, probe
from pytest_benchkit.sandbox.conversation import Conversation
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.sandbox.pool import Pool
from pytest_benchkit.scoring.programs import Program, Trial, attempt
from tests.support.sandbox import need_isolation

LIMITS = Limits()


@pytest.fixture
def two() -> Iterator[Pool]:
    need_isolation()
    made = Pool(probe.require(), 2)
    yield made
    made.close()


def test_as_many_at_once_as_its_size_and_alone_means_alone(two: Pool) -> None:
    lock, now, peaks = threading.Lock(), [0], {False: 0, True: 0}

    def take(alone: bool) -> None:
        with two.worker(LIMITS, alone=alone):
            with lock:
                now[0] += 1
                peaks[alone] = max(peaks[alone], now[0])
            time.sleep(0.005)
            with lock:
                now[0] -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(take, [n % 4 == 1 for n in range(100)]))  # sandboxes change hands all the time
    assert peaks[False] <= 2
    assert peaks[True] == 1


def test_two_run_at_once(two: Pool) -> None:
    together = threading.Barrier(2, timeout=30)

    def take(_: int) -> int:
        with two.worker(LIMITS):
            return together.wait()

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(take, range(2))) == [0, 1]


def test_each_program_has_a_process_of_its_own_that_ends_with_it(two: Pool) -> None:
    seen = set()
    for _ in range(3):
        with two.worker(LIMITS) as worker:
            assert worker.pid is not None
            assert Path(f"/proc/{worker.pid}").exists()
            seen.add(worker.pid)
        assert not Path(f"/proc/{worker.pid}").exists()
    assert len(seen) == 3


def sandbox_of(pool: Pool, body: str) -> int:
    """The process id of the sandbox in which a function with this body ran."""
    with pool.worker(LIMITS) as worker:
        source = f"import os\ndef f():\n    {body}\n"
        Conversation(pool, worker, LIMITS).run(source, "f", ("candidate()", None, None))
        return worker.sandbox.popen.pid


def test_a_sandbox_is_used_again_only_when_nothing_was_left_in_it(two: Pool) -> None:
    first = sandbox_of(two, "return 1")
    assert sandbox_of(two, "os._exit(3)") == first
    assert sandbox_of(two, "open('x', 'w')") == first
    second = sandbox_of(two, "os.mkdir('.x')")
    assert second != first
    third = sandbox_of(two, "os.fork() or __import__('time').sleep(60)")
    assert third not in (first, second)
    fourth = sandbox_of(two, "return 1")
    assert fourth not in (first, second, third)
    assert sandbox_of(two, "return 1") == fourth


def test_a_program_that_runs_when_the_pool_is_closed_is_no_miss(two: Pool) -> None:
    program = Program("def f():\n    while True: pass\n", "f")
    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(attempt, two, program, Trial("candidate()"), LIMITS) for _ in range(3)]
        time.sleep(0.3)
        two.close()
        for attempted in running:
            with pytest.raises(SandboxError, match="closed"):
                attempted.result(20)
    with pytest.raises(SandboxError, match="closed"), two.worker(LIMITS):
        raise AssertionError("a closed pool gives no worker")


def test_a_judge_that_died_is_replaced(two: Pool) -> None:
    program = Program("def f():\n    return 1\n", "f")
    assert attempt(two, program, Trial("assert candidate() == 1"), LIMITS).category == "passed"
    judge = two._judge
    assert judge is not None
    assert not isinstance(judge, SandboxError)
    judge.popen.kill()
    judge.popen.wait()
    failed = 0
    for _ in range(3):
        try:
            assert attempt(two, program, Trial("assert candidate() == 1"), LIMITS).category == "passed"
        except SandboxError:
            failed += 1
    assert failed <= 1


def test_processes_of_a_run_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    need_isolation()
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)))
    pool.close()
    pool.share_with(3)
    try:
        assert pool.shared(probe.require()).size == 2
        pool.close()
        pool.share_with(99)
        assert pool.shared(probe.require()).size == 1
    finally:
        pool.share_with(1)
        pool.close()
