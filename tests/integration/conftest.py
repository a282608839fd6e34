"""A project with a small suite of its own, and ways to look at what a run left behind."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pytest_benchkit
from tests.support.fakeserver import FakeServer

# Pytester forgets what an in-process run imported, but a package keeps its submodules as attributes: half
# of the modules would be old ones. With everything imported here there is one of each.
for name in ("aiohttp", "anyio._backends._asyncio", "httpx", "httpcore", "pydantic", "xdist.remote"):
    importlib.import_module(name)
for module in pkgutil.walk_packages(pytest_benchkit.__path__, "pytest_benchkit."):
    if not module.name.endswith("local_server") and ".inside" not in module.name:
        importlib.import_module(module.name)

SUITE = '''
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import Rows


class Sums(Suite):
    """Sums: one number as the answer."""

    key = "sums"
    data = Rows([{"question": f"{n}+{n}", "answer": str(2 * n), "kind": "odd" if n % 2 else "even"}
                 for n in range(COUNT)], category="kind")

    def prompt(self, task: Task) -> str:
        return f"What is {task['question']}?"

    def score(self, task: Task, reply: Reply) -> Score:
        found = reply.answer.strip() or None
        return Score(float(found == task["answer"]), found, task["answer"], "whole")

    def sample_replies(self, task: Task) -> tuple[str, str]:
        return task["answer"], "-1"
'''


class Project:
    """A pytester project with the suite ``sums`` in ``bench_sums.py``."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.suite(12)

    def suite(self, count: int, text: str = SUITE) -> None:
        (self.pytester.path / "bench_sums.py").write_text(text.replace("COUNT", str(count)))

    def run(self, *args: str, process: bool = False) -> pytest.RunResult:
        """Runs pytest on the project: in this process, or in one of its own."""
        words = ("-p", "no:cacheprovider", *args) if "--lf" not in args and "--ff" not in args else args
        if process:
            return self.pytester.runpytest_subprocess(*words)
        return self.pytester.runpytest_inprocess(*words)

    @property
    def runs(self) -> list[Path]:
        root = self.pytester.path / ".benchkit" / "runs"
        return sorted(root.iterdir()) if root.is_dir() else []

    @property
    def newest(self) -> Path:
        return max(self.runs, key=lambda path: path.stat().st_ctime_ns)

    def records(self, run: Path | None = None) -> list[dict[str, Any]]:
        lines = ((run or self.newest) / "records.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    def info(self, run: Path | None = None) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(((run or self.newest) / "run.json").read_bytes())
        return data

    def results(self, run: Path | None = None) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(((run or self.newest) / "results.json").read_bytes())
        return data


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "CI", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    # a suite rewritten within a second at the same length would be run from the old bytecode
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Project(pytester)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A server that answers ``What is n+n?`` rightly."""
    with FakeServer(answering()) as running:
        yield running


def answering(delay: float = 0.0) -> Any:
    from tests.support.fakeserver import Request, replying

    def answer(request: Request) -> str:
        number = request.prompt.split("+")[-1].rstrip("?")
        return str(2 * int(number)) if number.isdigit() else "OK"

    return replying(answer, chunks=2, delay=delay)


def marked(text: str) -> str:
    """The decorator as users write it. It does not stand so in this file: a benchmark session of this
    repository looks for such lines to find test modules that are its business."""
    return text.replace("@MARKED(", "@pytest.mark.bench_suite(")
