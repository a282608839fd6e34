"""``demo`` and the scripted model: one contract, no clock, no dice (M-14 to M-16)."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time

import pytest

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.models.base import ChatRequest, Model
from pytest_benchkit.models.demo import NO_SAMPLES, DemoModel
from pytest_benchkit.models.scripted import ScriptedModel
from pytest_benchkit.reply import Exchange, Failure, Reply


class CountingGate:
    def __init__(self) -> None:
        self.entered = 0
        self.inside = 0

    async def enter(self) -> None:
        self.entered += 1
        self.inside += 1

    def leave(self) -> None:
        self.inside -= 1

    def hold(self, seconds: float) -> None:
        raise AssertionError(f"an embedded model holds nobody back, asked for {seconds} s")


def request(identity: str = "suite|1|0", **fields: object) -> ChatRequest:
    made = ChatRequest([{"role": "user", "content": "6 * 3?"}], identity=identity, samples=("18", "17"))
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def ask(model: Model, asked: ChatRequest) -> Exchange:
    gate = CountingGate()
    exchange = asyncio.run(model.ask(asked, gate))
    assert (gate.entered, gate.inside) == (1, 0)
    return exchange


MODELS: list[Model] = [
    DemoModel(),
    ScriptedModel(lambda asked: "18"),
    ScriptedModel([Reply.of("18")]),
    ScriptedModel([Exchange(Reply.of("18"))]),
]


@pytest.mark.parametrize("model", MODELS)
def test_the_contract(model: Model) -> None:
    before = random.getstate()
    began = time.time()
    exchange = ask(model, request(max_tokens=5, seed=3))
    assert model.simulated
    assert exchange.reply.answer in ("18", "17")
    assert (exchange.failure, exchange.reply.finish_reason, exchange.tries) == (None, "stop", 1)
    assert exchange.reply.timing.simulated
    assert began <= (exchange.reply.timing.sent_at or 0) <= time.time()
    assert random.getstate() == before
    asyncio.run(model.aclose())


@pytest.mark.parametrize(("skill", "low", "high"), [(0.0, 0, 0), (0.75, 700, 800), (1.0, 1000, 1000)])
def test_demo_is_right_as_often_as_its_skill_says(skill: float, low: int, high: int) -> None:
    model = DemoModel(skill)
    right = sum(ask(model, request(f"s|{n}|0", seed=0)).reply.answer == "18" for n in range(1000))
    assert low <= right <= high


def test_demo_depends_on_identity_and_seed_only() -> None:
    def answers(seed: int, order: list[int]) -> dict[int, str]:
        return {n: ask(DemoModel(0.5), request(f"s|{n}|0", seed=seed)).reply.answer for n in order}

    numbers = list(range(64))
    assert answers(0, numbers) == answers(0, numbers[::-1])
    assert answers(0, numbers) != answers(1, numbers)


def test_demo_says_the_same_in_every_process() -> None:
    program = (
        "import asyncio\n"
        "from tests.unit.models.test_embedded import DemoModel, ask, request\n"
        "print([ask(DemoModel(0.5), request(f's|{n}|0')).reply.answer for n in range(40)])\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert told == {str([ask(DemoModel(0.5), request(f"s|{n}|0")).reply.answer for n in range(40)]) + "\n"}


def test_demo_numbers_are_simulated_and_repeatable() -> None:
    one, two = (ask(DemoModel(), request()) for _ in range(2))
    one.reply.timing.sent_at = two.reply.timing.sent_at = None
    assert one == two
    assert one.reply.usage.source == "simulated"
    assert (one.reply.usage.output_tokens or 0) >= 1
    assert len(one.fingerprint) == 64


def test_demo_without_samples_and_with_thinking() -> None:
    assert ask(DemoModel(), request(samples=None)).reply.answer == NO_SAMPLES
    reply = ask(DemoModel(1.0), request(samples=("<think>hm</think>18", "x"))).reply
    assert (reply.answer, reply.thinking, reply.trace_status) == ("18", "hm", "observed")


def test_demo_without_identity_goes_by_the_messages() -> None:
    other = request("")
    other.messages = [{"role": "user", "content": "another"}]
    paces = {ask(DemoModel(), asked).reply.timing.ttft_ms for asked in (request(""), request(""), other)}
    assert len(paces) == 2


@pytest.mark.parametrize("argument", ["much", "-0.1", "1.5", "nan", ""])
def test_demo_refuses_what_is_no_skill(argument: str) -> None:
    with pytest.raises(UsageProblem, match="demo"):
        DemoModel.parse(argument)


def test_demo_skill_of_an_argument() -> None:
    assert (DemoModel.parse(None).skill, DemoModel.parse("0.5").skill) == (0.75, 0.5)


def test_script_in_order_and_its_end() -> None:
    model = ScriptedModel(["<think>a</think>1", Exchange(Reply(), Failure("http_503", "busy", "busy"))])
    first = ask(model, request("a")).reply
    assert (first.answer, first.thinking, first.trace_status) == ("1", "a", "observed")
    assert ask(model, request("b")).failure is not None
    with pytest.raises(LookupError, match="request 3"):
        ask(model, request("c"))
    assert [asked.identity for asked in model.requests] == ["a", "b", "c"]


def test_script_hands_on_copies() -> None:
    reply = Reply.of("1")
    model = ScriptedModel([reply, reply])
    ask(model, request()).reply.flag("changed")
    assert (reply.flags, ask(model, request()).reply.flags) == ([], [])
    with pytest.raises(TypeError):
        ScriptedModel("one string")
