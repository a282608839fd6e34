"""``--bench-budget-tokens|usd|seconds``: nothing more is asked once it is spent, and a resume goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import Exchange, FakeServer

WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]
ROWS = 60
COST = {"prompt_tokens": 6, "completion_tokens": 4}
"""Ten tokens a row."""


def costing(usage: dict[str, Any] | None, delay: float = 0.02) -> Any:
    """Replies of these counts."""

    async def answer(exchange: Exchange) -> None:
        await asyncio.sleep(delay)
        message = {"role": "assistant", "content": "2"}
        body: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        await exchange.json({**body, **({"usage": usage} if usage else {})})

    return answer


def line(server: FakeServer, *words: str) -> tuple[str, ...]:
    asked = (f"--bench-model=m@{server.url}", "--bench-stream=off", "--bench-inflight=4")
    return ("bench_sums.py", *asked, "--bench-run-dir=r", *words)


@pytest.mark.parametrize("workers", WAYS)
@pytest.mark.parametrize(
    ("budget", "usage"),
    [
        ("--bench-budget-tokens=200", COST),
        ("--bench-budget-usd=0.2", {**COST, "cost": 0.01}),
    ],
)
def test_a_third_of_the_need(
    project: Project, budget: str, usage: dict[str, Any], workers: tuple[str, ...]
) -> None:
    project.suite(ROWS)
    folder = project.pytester.path / "r"
    with FakeServer(costing(usage)) as server:
        result = project.run(*line(server, budget, *workers), process=bool(workers))
        asked = len(project.records(folder))
        assert 20 <= asked <= 24  # at most what was in flight beyond it
        assert server.counts.chat == asked + 1  # and the warm-up
        assert result.ret == 1
        output = result.stdout.str()
        assert f"({budget.partition('=')[0]}); the rest is not asked" in output
        assert f"INCOMPLETE (budget): {asked} of {ROWS} rows done" in output
        info = project.info(folder)
        assert (info["complete"], info["sessions"][-1]["reason"]) == (False, "budget")
        again = project.run(*line(server)[:-1], "--bench-resume=r", *workers, process=bool(workers))
        assert again.ret == 0
        assert server.counts.chat == ROWS + 2
    assert len(project.records(folder)) == ROWS
    assert project.info(folder)["complete"]


@pytest.mark.parametrize("workers", WAYS)
def test_wall_time(project: Project, workers: tuple[str, ...]) -> None:
    project.suite(ROWS)
    with FakeServer(costing(COST, delay=0.1)) as server:
        words = line(server, "--bench-budget-seconds=0.5", *workers)
        result = project.run(*words, process=bool(workers))
    asked = len(project.records(project.pytester.path / "r"))
    assert 4 <= asked < ROWS
    assert result.ret == 1
    assert "the 0.5 s of the run are over (--bench-budget-seconds)" in result.stdout.str()


def profile(project: Project, price: str) -> None:
    path: Path = project.pytester.path / "pyproject.toml"
    path.write_text(f"[tool.pytest-benchkit.models.m]\nprice = {price}\n")


def test_the_price_of_a_profile(project: Project) -> None:
    profile(project, "{ input = 1.0, output = 10.0, cached_input = 0.1 }")
    usage = {**COST, "prompt_tokens_details": {"cached_tokens": 2}}
    with FakeServer(costing(usage)) as server:
        words = ("bench_sums.py", "--bench-model=m", f"--bench-base-url={server.url}", "--bench-stream=off")
        result = project.run(*words, "--bench-budget-usd=1")
    assert result.ret == 0
    for record in project.records():
        assert record["usage"]["cost_usd"] == pytest.approx((4 * 1.0 + 2 * 0.1 + 4 * 10.0) / 1e6)


@pytest.mark.parametrize(
    ("budget", "usage", "words"),
    [
        ("--bench-budget-usd=1", COST, "its replies tell no cost and its profile sets no price"),
        ("--bench-budget-tokens=100", None, "the server tells no token counts"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(
    project: Project, budget: str, usage: dict[str, Any] | None, words: str
) -> None:
    with FakeServer(costing(usage)) as server:
        result = project.run(*line(server, budget))
        assert server.counts.chat <= 1  # the warm-up
    assert result.ret == 4
    assert words in result.stderr.str()


def test_without_a_warm_up_the_first_reply_tells(project: Project) -> None:
    project.suite(ROWS)
    with FakeServer(costing(None)) as server:
        result = project.run(*line(server, "--bench-budget-tokens=100", "--bench-warmup=0"))
        assert server.counts.chat <= 8
    assert result.ret == 1
    assert "remove --bench-budget-tokens" in result.stdout.str()


@pytest.mark.parametrize(
    "price", ["3", "{ input = 1 }", '{ input = "a", output = 1 }', "{ input = -1, output = 1 }"]
)
def test_bad_prices(project: Project, price: str) -> None:
    profile(project, price)
    result = project.run("bench_sums.py", "--bench-model=m", "--bench-base-url=http://127.0.0.1:9")
    assert result.ret == 4
    assert "USD per million tokens" in result.stderr.str()


@pytest.mark.parametrize("word", ["tokens=0", "tokens=x", "usd=0", "usd=-1", "seconds=0", "seconds=nan"])
def test_bad_budgets(project: Project, word: str) -> None:
    result = project.run("bench_sums.py", "--bench-model=demo", f"--bench-budget-{word}")
    assert result.ret == 4
    assert f"--bench-budget-{word.partition('=')[0]} is" in result.stderr.str()
