"""The HTTP client over a fake transport: bodies, retries, deadlines, secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_benchkit.models import client as client_module
from pytest_benchkit.models.base import ChatRequest
from pytest_benchkit.models.body import chat_body, fingerprint, refused_field
from pytest_benchkit.models.client import HttpModel
from pytest_benchkit.models.facts import ServerFacts
from pytest_benchkit.models.limits import SharedHold, Slots, Ticket
from pytest_benchkit.models.profiles import ModelSpec
from pytest_benchkit.models.transport import TransportError, is_loopback
from pytest_benchkit.reply import Exchange, Failure
from pytest_benchkit.settings import Settings

REQUEST = ChatRequest([{"role": "user", "content": "What is 1+1?"}], max_tokens=50, seed=0)
WHOLE = {
    "choices": [{"message": {"content": "2"}, "finish_reason": "stop"}],
    "usage": {"completion_tokens": 1},
}


@dataclass
class FakeResponse:
    status: int
    body: list[bytes | float | Exception]
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    sent_at: float = 0.0
    connect_s: float = 0.0
    closed: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.body:
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            elif isinstance(piece, Exception):
                raise piece
            else:
                yield piece

    def release(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


Answer = Callable[[dict[str, Any]], FakeResponse | Exception]


class FakeTransport:
    """Answers chat requests from a function; keeps what it was sent."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.responses: list[FakeResponse] = []

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> FakeResponse:
        if method == "GET":
            return FakeResponse(200, [])
        self.bodies.append(json.loads(body or b"{}"))
        result = self.answer(self.bodies[-1])
        if isinstance(result, Exception):
            raise result
        import time

        result.sent_at = time.monotonic()
        self.responses.append(result)
        return result

    async def aclose(self) -> None:
        pass


def ok(body: dict[str, Any]) -> FakeResponse:
    return FakeResponse(200, [json.dumps(WHOLE).encode()])


def model(
    transport: FakeTransport, key: str | None = None, lag: Callable[[], float] = lambda: 0.0, **settings: Any
) -> HttpModel:
    spec = ModelSpec("m", "http", "m", Settings(**settings), {}, base_url="http://x", api_key=key)
    return HttpModel(spec, ServerFacts("http://x", "m"), transport, lag=lag)


def ask(subject: HttpModel, request: ChatRequest = REQUEST) -> Exchange:
    async def once() -> Exchange:
        return await subject.ask(request, Ticket(Slots(1), taken=False))

    return asyncio.run(once())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.001)


def test_a_whole_reply() -> None:
    exchange = ask(model(FakeTransport(ok)))
    assert exchange.failure is None
    assert exchange.reply.answer == "2"
    assert exchange.tries == 1
    assert exchange.max_tokens == 50
    assert len(exchange.fingerprint) == 64


def test_waits_double_up_to_eight_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.5)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    exchange = ask(model(FakeTransport(lambda body: FakeResponse(503, [b"{}"])), retries=7))
    assert exchange.tries == 8
    assert len(exchange.retries) == 7
    for number, wait in enumerate(waits):
        low = min(8.0, 0.5 * 2**number)
        assert low <= wait <= low * 1.25


@pytest.mark.parametrize("body", [b"[]", b"<html>", b"", b"\xff\xfe", b'"x"', b"null"])
def test_error_bodies_of_any_shape_survive(body: bytes) -> None:
    exchange = ask(model(FakeTransport(lambda b: FakeResponse(429, [body])), retries=0))
    assert exchange.failure is not None
    assert exchange.failure.kind == "http_429"
    assert exchange.tries == 1


def test_connection_errors_have_their_own_count() -> None:
    transport = FakeTransport(lambda body: TransportError("connect_failed", "refused", sent=False))
    exchange = ask(model(transport, connect_retries=2, retries=0))
    assert exchange.tries == 3
    assert exchange.failure is not None
    assert exchange.failure.kind == "connect_failed"


def test_the_key_is_masked_in_the_servers_words() -> None:
    words = json.dumps({"error": {"message": "bad key sk-secret"}}).encode()
    exchange = ask(model(FakeTransport(lambda b: FakeResponse(401, [words])), key="sk-secret"))
    assert exchange.failure is not None
    assert "sk-secret" not in exchange.failure.message
    assert "***" in exchange.failure.message
    assert exchange.failure.category == "refusing"


def test_redirects_are_not_followed() -> None:
    exchange = ask(model(FakeTransport(lambda b: FakeResponse(307, [b""], {"Location": "http://evil"}))))
    assert exchange.failure is not None
    assert exchange.failure.category == "refusing"


def test_output_before_a_drop_is_never_asked_again() -> None:
    event = b'data: {"choices": [{"delta": {"content": "2"}}]}\n\n'
    broken = TransportError("stream_dropped", "reset", sent=True)
    headers = {"Content-Type": "text/event-stream"}
    transport = FakeTransport(lambda b: FakeResponse(200, [event, broken], headers))
    exchange = ask(model(transport))
    assert len(transport.bodies) == 1
    assert exchange.failure is not None
    assert exchange.failure.kind == "stream_dropped"
    assert exchange.reply.text == "2"
    assert transport.responses[0].closed


def test_deadline_keeps_partial_text_and_closes() -> None:
    event = b'data: {"choices": [{"delta": {"content": "2"}}]}\n\n'
    headers = {"Content-Type": "text/event-stream"}
    transport = FakeTransport(lambda b: FakeResponse(200, [event, 30.0], headers))
    exchange = ask(model(transport, timeout=0.2))
    assert exchange.failure is not None
    assert (exchange.failure.kind, exchange.failure.category) == ("request", "deadline")
    assert exchange.reply.text == "2"
    assert transport.responses[0].closed


class Stopper:
    """A watch that ends a reply at its third piece."""

    def __init__(self) -> None:
        self.failure: Failure | None = None
        self.calls: list[str] = []
        self._seen = 0

    def begin(self) -> None:
        self.failure = None
        self.calls.append("begin")

    def see(self, pieces: Sequence[tuple[str, str]]) -> Failure | None:
        self.calls += [f"{channel} {text}" for channel, text in pieces]
        self._seen += len(pieces)
        if self._seen > 2:
            self.failure = Failure("exact_cycle", "round and round", "loop")
        return self.failure

    def end(self) -> None:
        self.calls.append("end")


def event(**fields: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": fields}]}).encode() + b"\n\n"


def test_a_watch_ends_a_reply_and_its_text_is_kept() -> None:
    headers = {"Content-Type": "text/event-stream"}
    events: list[bytes | float | Exception] = [event(content=letter) for letter in "bcdef"]
    first = event(reasoning="a")
    transport = FakeTransport(lambda b: FakeResponse(200, [first, *events], headers))
    watch = Stopper()
    exchange = ask(model(transport), replace(REQUEST, watch=watch))
    assert watch.calls == ["begin", "thinking a", "answer b", "answer c", "end"]
    assert exchange.failure is watch.failure
    assert (exchange.reply.thinking, exchange.reply.text) == ("a", "bc")
    assert exchange.reply.timing.e2e_ms is not None
    assert (exchange.tries, exchange.http_status) == (1, 200)
    assert transport.responses[0].closed


def test_each_try_is_watched_anew() -> None:
    headers = {"Content-Type": "text/event-stream"}
    answers = [
        FakeResponse(503, [b"{}"]),
        FakeResponse(200, [event(content="a"), b"data: [DONE]\n\n"], headers),
    ]
    watch = Stopper()
    exchange = ask(model(FakeTransport(lambda b: answers.pop(0))), replace(REQUEST, watch=watch))
    assert exchange.failure is None
    assert watch.calls == ["begin", "end", "begin", "answer a", "end"]


def test_an_error_of_the_server_comes_before_a_loop() -> None:
    broken = event(content="abc") + b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'
    pieces = [event(content="a"), event(content="b"), broken]
    headers = {"Content-Type": "text/event-stream"}
    exchange = ask(
        model(FakeTransport(lambda b: FakeResponse(200, [*pieces], headers))),
        replace(REQUEST, watch=Stopper()),
    )
    assert exchange.failure is not None
    assert exchange.failure.kind != "exact_cycle"


def test_our_lag_extends_the_deadline() -> None:
    import time

    started = time.monotonic()
    # the loop claims to be late by all the time that passes: the server has used none of its deadline
    late = model(
        FakeTransport(lambda b: FakeResponse(200, [0.6, json.dumps(WHOLE).encode()])),
        timeout=0.2,
        lag=lambda: min(0.6, time.monotonic() - started),
    )
    exchange = ask(late)
    assert exchange.failure is None
    assert exchange.reply.timing.client_lag_ms is not None


def test_usage_far_below_the_prompt_is_a_cut_prompt() -> None:
    long = replace(REQUEST, messages=[{"role": "user", "content": "word " * 1000}])
    told = {**WHOLE, "usage": {"prompt_tokens": 300, "completion_tokens": 1}}
    exchange = ask(model(FakeTransport(lambda b: FakeResponse(200, [json.dumps(told).encode()]))), long)
    assert exchange.failure is not None
    assert exchange.failure.kind == "context_cut"


def test_a_hold_is_shared_through_its_file(tmp_path: Any) -> None:
    here, there = SharedHold(tmp_path / "h", 3), SharedHold(tmp_path / "h", 3)
    other = SharedHold(tmp_path / "h", 4)
    here.extend(1e9)
    assert there.until == 1e9
    assert other.until == 0.0


def test_slots_are_counted_and_given_to_waiters_first() -> None:
    async def story() -> list[str]:
        slots = Slots(1)
        log: list[str] = []
        slots.on_free = lambda: log.append("free")
        assert slots.try_enter()
        assert not slots.try_enter()

        async def waiter() -> None:
            await slots.enter()
            log.append("waiter")
            slots.leave()

        waiting: Awaitable[None] = asyncio.ensure_future(waiter())
        await asyncio.sleep(0)
        slots.leave()
        await waiting
        assert slots.in_use == 0
        assert slots.peak == 1
        return log

    assert asyncio.run(story()) == ["waiter", "free"]


def test_a_cancelled_waiter_leaves_no_hole() -> None:
    async def story() -> None:
        slots = Slots(1)
        slots.try_enter()
        waiting = asyncio.ensure_future(slots.enter())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        slots.leave()
        assert slots.try_enter()

    asyncio.run(story())


def test_fingerprints_ignore_key_order_and_image_bytes() -> None:
    body = chat_body(REQUEST, Settings(), "m", "openai", stream=True)
    shuffled = dict(reversed(list(body.items())))
    assert fingerprint(body) == fingerprint(shuffled)
    assert fingerprint({**body, "seed": 1}) != fingerprint(body)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with_image = {**body, "messages": [{"role": "user", "content": [image]}]}
    assert "AAAA" not in fingerprint(with_image)


@pytest.mark.parametrize(
    ("words", "param", "field_"),
    [
        ("Unknown parameter: stream_options", None, "stream_options"),
        ("bad", "stream_options.include_usage", "stream_options"),
        ("max_tokens is too large", None, "max_tokens"),
        ("bad model", "model", None),
        ("no", None, None),
    ],
)
def test_a_refused_field_is_recognised(words: str, param: str | None, field_: str | None) -> None:
    body = chat_body(REQUEST, Settings(), "m", "openai", stream=True)
    assert refused_field(body, words, param) == field_


def test_thinking_and_penalty_go_by_flavour() -> None:
    request = replace(REQUEST, sampling={"repetition_penalty": 1.1})
    llama = chat_body(request, Settings(thinking="off"), "m", "llamacpp", stream=False)
    assert llama["repeat_penalty"] == 1.1
    assert llama["chat_template_kwargs"] == {"enable_thinking": False}
    hosted = chat_body(request, Settings(thinking="off"), "m", "openai", stream=False)
    assert hosted["repetition_penalty"] == 1.1
    assert hosted["reasoning_effort"] == "none"
    assert "stream_options" not in hosted


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("localhost", True),
        ("127.0.0.9", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("a.localhost", True),
        ("localhost.evil", False),
    ],
)
def test_loopback(host: str, near: bool) -> None:
    assert is_loopback(host) is near


@pytest.mark.parametrize(
    ("bound", "wanted", "sent"), [(3900, 128, 128), (3900, 500, 196), (4080, 128, 16), (4081, 128, None)]
)
def test_a_bound_on_the_prompt_is_believed_without_counting(
    bound: int, wanted: int, sent: int | None
) -> None:
    transport = FakeTransport(ok)
    subject = model(transport)
    subject._facts.window = 4096
    request = replace(
        REQUEST,
        messages=[{"role": "user", "content": "word " * 3000}],
        max_tokens=wanted,
        prompt_tokens=bound,
    )
    exchange = ask(subject, request)
    if sent is None:
        assert exchange.failure is not None
        assert (exchange.failure.kind, exchange.failure.need_tokens) == ("context_too_small", bound + 16)
    else:
        assert exchange.max_tokens == transport.bodies[0]["max_tokens"] == sent
