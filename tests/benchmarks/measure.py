"""Runs pytest on the benchmark project in a process of its own and tells what it took."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

SUITE = '''
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import JsonLines
from pytest_benchkit.scoring import numbers


class Load(Suite):
    """A suite like gsm8k in size and scoring."""

    key = "load"
    data = JsonLines("rows.jsonl", category="kind")

    def prompt(self, task: Task) -> str:
        return task["question"]

    def score(self, task: Task, reply: Reply) -> Score:
        return numbers.final_answer(reply.answer, task["answer"], cut=reply.cut)

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return f"#### {task['answer']}", "#### 0"
'''

PROGRAMS = '''
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import JsonLines
from pytest_benchkit.scoring import programs
from pytest_benchkit.scoring.programs_trials import expression

BURN = """
import time
def f():
    while time.process_time() < SECONDS: pass
    return 1
"""


class Programs(Suite):
    """Whatever is replied, a program that takes its time is judged."""

    key = "load"
    data = JsonLines("rows.jsonl", category="kind")
    needs = frozenset({"sandbox"})

    def prompt(self, task: Task) -> str:
        return task["question"]

    def score(self, task: Task, reply: Reply) -> Score:
        verdict = programs.run(programs.Program(BURN), expression("f()", "1"))
        return Score(float(verdict.passed), verdict.category)
'''


CONFTEST = """
import atexit, sys, time, pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    started = time.monotonic()
    if not hasattr(session.config, "workerinput"):
        atexit.register(lambda: sys.stderr.write(f"finish took {time.monotonic() - started:.3f} s\\n"))
    return (yield)
"""
"""Tells how long a session's finish takes: reports, files, summary, interpreter exit."""


@dataclass
class Took:
    """Seconds of wall time and of CPU, children included, and what pytest printed."""

    wall: float
    cpu: float
    resident_mb: float
    status: int
    output: str

    @property
    def finish(self) -> float:
        """Seconds of the session's finish."""
        return float(re.findall(r"finish took ([\d.]+) s", self.output)[-1])


class Bench:
    """A folder with the suite ``load`` of so many rows, and ways to run pytest on it."""

    def __init__(self, folder: Path, rows: int, words: int = 40, suite: str = SUITE) -> None:
        self.folder = folder
        self.rows = rows
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bench_load.py").write_text(suite)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "conftest.py").write_text(CONFTEST)
        with (folder / "rows.jsonl").open("w") as file:
            for n in range(rows):
                question = f"Row {n}: " + "how many apples does she have " * (words // 6)
                row = {"question": question, "answer": "18" if n % 10 < 7 else "19", "kind": f"k{n % 14}"}
                file.write(json.dumps(row) + "\n")

    def pytest(self, *words: str, timeout: float = 600) -> Took:
        """One pytest run without the plugins that only our tests need."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:pytester"]
        command += ["-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:benchmark", *words]
        environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "CI")}
        environ["PYTHONPATH"] = str(ROOT)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        finally:
            process.kill()
        wall = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Took(wall, cpu, after.ru_maxrss / 1024, process.returncode, output)

    def run(self, url: str, *words: str) -> Took:
        took = self.pytest("bench_load.py", f"--bench-model=m@{url}", *words)
        if took.status != 0:
            raise RuntimeError(took.output[-3000:])
        return took

    @property
    def newest(self) -> Path:
        return max((self.folder / ".benchkit" / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns)

    def sent_to_done(self) -> float:
        """Seconds from the first task's request to the last task's end, by the newest run's records."""
        first, last = float("inf"), 0.0
        for line in (self.newest / "records.jsonl").open("rb"):
            timing = json.loads(line)["timing"]
            first = min(first, timing["sent_at"])
            last = max(last, timing["sent_at"] + timing["end_ms"] / 1000)
        return last - first


class Server:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.loads(answer.read())


@contextmanager
def serving(options: Sequence[str]) -> Iterator[Server]:
    """Our fast fake server in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("server.py")), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None or not (line := process.stdout.readline()):
            raise RuntimeError("the fake server did not start")
        yield Server(int(line))
    finally:
        process.kill()
        process.wait()
