"""The engine's sizer: counting across threads, what a run measures beforehand, suites whose ``fit`` fails."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets import Rows
from pytest_benchkit.engine.lane import Lane
from pytest_benchkit.engine.pool import ScoringPool
from pytest_benchkit.engine.sizing import ALLOWANCE, ModelSizer, fitted, measure, texts_of
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.models.limits import Slots
from pytest_benchkit.reply import Exchange, Failure, Reply, Usage
from pytest_benchkit.score import Score
from pytest_benchkit.settings import Settings
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_benchkit.models.base import ChatRequest, Gate
    from pytest_benchkit.sizing import Sizer

TASK = Task("0", 0, {"n": 1})


class Plain(Suite):
    """Plain: sizes nothing."""

    key = "plain"
    data = Rows([{"n": 1}])

    def prompt(self, task: Task) -> str:
        return "?"

    def score(self, task: Task, reply: Reply) -> Score:
        return Score(1.0)


class Fitting(Plain):
    """Fitting: counts, or raises what it is told to."""

    key = "fitting"

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.error = error
        self.thread = ""

    def fit(self, task: Task, sizer: Sizer) -> Task:
        self.thread = threading.current_thread().name
        if self.error is not None:
            raise self.error
        return Task(task.id, task.index, {"tokens": sizer.count("abc")})

    def size_samples(self) -> dict[str, str]:
        return {"noise": "n" * 2000, "uuids": "u" * 1000}


@pytest.fixture
def pool() -> Iterator[ScoringPool]:
    faults: list[BaseException] = []
    made = ScoringPool(2, faults.append)
    yield made
    made.close(5.0)
    assert not faults


async def count(text: str) -> int:
    await asyncio.sleep(0)
    return len(text)


def test_suite_that_sizes_nothing_is_not_asked(pool: ScoringPool) -> None:
    assert asyncio.run(fitted(Plain(), TASK, ModelSizer(), pool)) is TASK


def test_fit_runs_in_a_thread_and_counts_on_the_loop(pool: ScoringPool) -> None:
    suite = Fitting()
    task = asyncio.run(fitted(suite, TASK, ModelSizer(count=count), pool))
    assert task["tokens"] == 3
    assert suite.thread != threading.current_thread().name


@pytest.mark.parametrize("error", [SkipTask("context_too_small", "no"), ValueError("bad"), SystemExit(3)])
def test_what_fit_raises_is_the_caller_s(pool: ScoringPool, error: BaseException) -> None:
    with pytest.raises((SkipTask, ValueError, RuntimeError), match=r"no|bad|SystemExit: 3"):
        asyncio.run(fitted(Fitting(error), TASK, ModelSizer(), pool))


def test_closing_ends_a_count_that_never_comes(pool: ScoringPool) -> None:
    async def never(text: str) -> int:
        await asyncio.Event().wait()
        return 0

    async def work() -> Task:
        sizer = ModelSizer(count=never)
        asyncio.get_running_loop().call_later(0.05, sizer.close)
        return await fitted(Fitting(), TASK, sizer, pool)

    assert asyncio.run(work())["tokens"] is None


def test_cancelled_ask_leaves_the_thread_behind(pool: ScoringPool) -> None:
    async def work() -> None:
        started, go = threading.Event(), threading.Event()

        class Slow(Fitting):
            """Slow: waits."""

            key = "slow"

            def fit(self, task: Task, sizer: Sizer) -> Task:
                started.set()
                go.wait(5)
                return task

        asking = asyncio.ensure_future(fitted(Slow(), TASK, ModelSizer(), pool))
        while not started.is_set():
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        go.set()
        await asyncio.sleep(0.05)  # the thread's result arrives at nobody

    asyncio.run(work())


def test_sizer_gives_what_was_measured() -> None:
    sizer = ModelSizer(4096, {ALLOWANCE: 12, "noise": 3.5})
    assert (sizer.window, sizer.allowance, sizer.ratio("noise"), sizer.ratio("essay")) == (
        4096,
        12,
        3.5,
        None,
    )
    assert ModelSizer().allowance == 64
    assert sizer.count("not bound to a loop") is None
    sizer.keep("4k", 7)
    assert (sizer.recall("4k"), sizer.recall("8k")) == (7, None)


class Server:
    """A model whose template takes 20 tokens and whose tokens are four characters."""

    simulated = False

    def __init__(self, usage: bool = True, counting: bool = False, failing: bool = False) -> None:
        self.usage, self.failing = usage, failing
        self.requests: list[Any] = []
        if counting:
            self.count = count

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        await gate.enter()
        gate.leave()
        self.requests.append(request)
        if self.failing:
            return Exchange(Reply(), Failure("http_500", "no", "client"))
        tokens = 20 + -(-len(str(request.messages[-1]["content"])) // 4)
        return Exchange(Reply(usage=Usage(input_tokens=tokens if self.usage else None)))

    async def aclose(self) -> None:
        """Nothing is open."""


def lane(server: Server, **settings: Any) -> Lane:
    return Lane("m", server, Slots(1), Settings(**settings), {})


def test_ratios_come_from_prompt_counts_with_caution() -> None:
    server = Server()
    texts = texts_of([Plain(), Fitting()])
    assert texts is not None
    found = asyncio.run(measure(lane(server, system="be brief"), texts))
    assert found == {
        ALLOWANCE: 21,
        "noise": round(0.95 * 2000 / 499, 4),
        "uuids": round(0.95 * 1000 / 249, 4),
    }
    assert {request.max_tokens for request in server.requests} == {1}
    assert all(request.messages[0]["role"] == "system" for request in server.requests)


def test_only_the_template_is_measured_of_a_model_with_a_tokenizer() -> None:
    assert asyncio.run(measure(lane(Server(counting=True)), {"noise": "n" * 100})) == {ALLOWANCE: 17}


@pytest.mark.parametrize("server", [Server(usage=False), Server(failing=True)])
def test_nothing_is_made_up_without_counts(server: Server) -> None:
    assert asyncio.run(measure(lane(server), {"noise": "n" * 100})) == {}
    assert len(server.requests) == 1


def test_suites_without_sizes_measure_nothing() -> None:
    assert texts_of([Plain()]) is None
