"""What an Ollama request looks like on the wire, and the client around it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pytest_benchkit.models.base import ChatRequest
from pytest_benchkit.models.body import chat_body, fingerprint
from pytest_benchkit.models.facts import ServerFacts
from pytest_benchkit.models.limits import Slots, Ticket
from pytest_benchkit.models.ollama import OllamaModel, wire
from pytest_benchkit.models.profiles import ModelSpec
from pytest_benchkit.models.transport import TransportError
from pytest_benchkit.reply import Exchange
from pytest_benchkit.settings import Settings
from tests.unit.models.test_client import FakeResponse, FakeTransport

PNG = "iVBORw0KGgo="
REQUEST = ChatRequest(
    [{"role": "user", "content": "What is 1+1?"}],
    max_tokens=50,
    seed=3,
    sampling={"temperature": 0.5, "top_k": 4, "repetition_penalty": 1.1},
)
REPLY = {
    "message": {"role": "assistant", "content": "2"},
    "done": True,
    "done_reason": "stop",
    "eval_count": 1,
    "prompt_eval_count": 9,
}


def sent(request: ChatRequest = REQUEST, **settings: Any) -> dict[str, Any]:
    return wire(chat_body(request, Settings(**settings), "m", "ollama", stream=True), 8192)


def model(transport: FakeTransport, key: str | None = None, **settings: Any) -> OllamaModel:
    spec = ModelSpec("m", "http", "m", Settings(**settings), {}, base_url="http://x", api_key=key)
    facts = ServerFacts("http://x", "m", flavour="ollama", num_ctx=8192, window=8192, unload="/api/generate")
    return OllamaModel(spec, facts, transport)


def ask(subject: OllamaModel, request: ChatRequest = REQUEST) -> Exchange:
    async def once() -> Exchange:
        return await subject.ask(request, Ticket(Slots(1), taken=False))

    return asyncio.run(once())


def ok(body: dict[str, Any]) -> FakeResponse:
    return FakeResponse(200, [json.dumps(REPLY).encode()])


def test_the_whole_body() -> None:
    assert sent() == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is 1+1?"}],
        "stream": True,
        "keep_alive": "30m",
        "options": {
            "temperature": 0.5,
            "top_k": 4,
            "repeat_penalty": 1.1,
            "seed": 3,
            "num_predict": 50,
            "num_ctx": 8192,
        },
    }


@pytest.mark.parametrize(("mode", "think"), [("on", True), ("off", False), ("low", "low"), ("high", "high")])
def test_thinking(mode: str, think: bool | str) -> None:
    assert sent(thinking=mode)["think"] == think
    assert "think" not in sent()


def test_extra_body_comes_last() -> None:
    extra = {"options": {"num_gpu": 1, "seed": 9}, "keep_alive": "5m", "stop": "END", "format": "json"}
    body = sent(extra_body=extra)
    assert (body["keep_alive"], body["format"]) == ("5m", "json")
    assert body["options"]["num_gpu"] == 1
    assert body["options"]["seed"] == 9
    assert body["options"]["stop"] == ["END"]
    assert body["options"]["num_ctx"] == 8192
    assert "stop" not in body


def test_parts_become_a_text_and_images() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "text", "text": "What is this?"},
        {"type": "text", "text": "One word."},
    ]
    [message] = sent(ChatRequest([{"role": "user", "content": parts}]))["messages"]
    assert message == {"role": "user", "content": "What is this?\nOne word.", "images": [PNG]}
    here = fingerprint({"messages": [message]})
    assert here != fingerprint({"messages": [{**message, "images": ["AAAA"]}]})


def test_earlier_calls_have_objects_as_arguments() -> None:
    def turn(arguments: Any) -> dict[str, Any]:
        calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    [good, bad] = sent(ChatRequest([turn('{"x": 1}'), turn("{oops")]))["messages"]
    assert good["content"] == ""
    assert good["tool_calls"][0]["function"]["arguments"] == {"x": 1}
    assert bad["tool_calls"][0]["function"]["arguments"] == "{oops"


def test_a_reply_and_its_fingerprint() -> None:
    transport = FakeTransport(ok)
    exchange = ask(model(transport))
    assert exchange.failure is None
    assert (exchange.reply.answer, exchange.max_tokens, exchange.seed) == ("2", 50, 3)
    assert exchange.fingerprint == fingerprint(transport.bodies[0])


def test_num_ctx_is_in_the_smallest_request_too() -> None:
    def refuse(body: dict[str, Any]) -> FakeResponse:
        if set(body["options"]) == {"num_predict", "num_ctx"}:
            return ok(body)
        return FakeResponse(400, [b'{"error": "something is wrong"}'])

    transport = FakeTransport(refuse)
    subject = model(transport)
    assert ask(subject).failure is None
    assert all(body["options"]["num_ctx"] == 8192 for body in transport.bodies)
    assert {"seed", "temperature", "top_k"} <= subject.dropped


def test_a_refused_thinking_switch_is_dropped_once() -> None:
    def refuse(body: dict[str, Any]) -> FakeResponse:
        if "think" in body:
            return FakeResponse(400, [b'{"error": "\\"m\\" does not support thinking"}'])
        return ok(body)

    transport = FakeTransport(refuse)
    subject = model(transport, thinking="on")
    assert [ask(subject).failure for _ in range(3)] == [None] * 3
    assert subject.dropped == {"think"}
    assert len(transport.bodies) == 4


def test_a_reply_longer_than_the_window_leaves_is_cut_beforehand() -> None:
    transport = FakeTransport(ok)
    exchange = ask(model(transport), ChatRequest(REQUEST.messages, max_tokens=100_000))
    assert exchange.max_tokens == transport.bodies[0]["options"]["num_predict"]
    assert 8000 < transport.bodies[0]["options"]["num_predict"] < 8192


def test_unloading_names_the_model_and_nothing_else() -> None:
    transport = FakeTransport(lambda body: FakeResponse(200, [b'{"done": true}']))
    assert asyncio.run(model(transport).unload()) is None
    assert transport.bodies == [{"model": "m", "keep_alive": 0}]


def test_other_servers_are_told_the_model_alone() -> None:
    transport = FakeTransport(lambda body: FakeResponse(200, []))
    subject = model(transport)
    subject._facts.flavour, subject._facts.unload = "llamacpp", "/models/unload"
    assert asyncio.run(subject.unload()) is None
    assert transport.bodies == [{"model": "m"}]


def test_unloading_that_fails_is_told_without_the_key() -> None:
    def refuse(body: dict[str, Any]) -> FakeResponse:
        return FakeResponse(401, [b'{"error": "bad key sk-canary"}'])

    told = asyncio.run(model(FakeTransport(refuse), key="sk-canary").unload())
    assert told is not None
    assert told.startswith("HTTP 401 at /api/generate: ")
    assert "canary" not in told
    gone = FakeTransport(lambda body: TransportError("connect_failed", "refused", sent=False))
    assert asyncio.run(model(gone).unload()) == "refused"
    subject = model(FakeTransport(ok))
    subject._facts.unload = None
    assert asyncio.run(subject.unload()) == "the server has no route for that"
