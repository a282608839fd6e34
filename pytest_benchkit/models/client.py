"""An OpenAI-compatible model over HTTP: retries, deadlines, refused fields, token counts.

One :meth:`HttpModel.ask` is one task's request with everything that may have to be repeated. It never
raises for what a server does; the fate of the request is in the :class:`~pytest_benchkit.reply.Exchange`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from pytest_benchkit.models.body import chat_body, fingerprint, refused_field, refused_param
from pytest_benchkit.models.chat import ChatStream
from pytest_benchkit.models.counting import TokenCounter
from pytest_benchkit.models.deadline import Deadline
from pytest_benchkit.models.faults import failure_of_body, retry_after
from pytest_benchkit.models.jsonlib import dumps
from pytest_benchkit.models.residence import unload
from pytest_benchkit.models.transport import Response, Transport, TransportError
from pytest_benchkit.reply import Exchange, Failure, Reply, Retry

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest, Gate, Watch
    from pytest_benchkit.models.chat import Piece
    from pytest_benchkit.models.facts import ServerFacts
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.models.thinking import Tags

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
TASK_WAIT_S = 300.0
AFTER_FINISH_S = 5.0
"""How long usage may still follow a finish word (S-19)."""
DRAIN_S, DRAIN_BYTES = 1.0, 64 * 1024
ERROR_BODY_BYTES = 256 * 1024
NO_TOOLS = "the server takes no tools, and this row is about calling them"
RETRY_DICE = random.Random()


class Body(Protocol):
    """Takes in the bytes of an answer as they arrive, and makes a reply of them."""

    @property
    def oversize(self) -> bool: ...
    @property
    def failed(self) -> bool: ...
    @property
    def finished(self) -> bool: ...
    @property
    def done(self) -> bool: ...
    @property
    def generated(self) -> bool: ...

    def feed(self, data: bytes, at: float) -> Sequence[Piece]: ...

    def close(self, at: float, *, content_type: str, t0: float) -> tuple[Reply, Failure | None]: ...


@dataclass(slots=True)
class Attempt:
    """One HTTP request: what came of it and when it left."""

    reply: Reply
    failure: Failure | None
    status: int | None = None
    request_id: str | None = None
    sent_at: float | None = None
    open_s: float = 0.0
    param: str | None = None


class HttpModel:
    """A served model; implements :class:`~pytest_benchkit.models.base.Model`.

    ``lag()`` is the seconds by which this process's event loop has been late so far: they extend
    deadlines and are reported, never charged to the model (D-2). ``say`` shows a line to the user.
    """

    simulated = False
    path = "/v1/chat/completions"
    probe = "/v1/models"

    def __init__(
        self,
        spec: ModelSpec,
        facts: ServerFacts,
        transport: Transport,
        *,
        stream: bool = True,
        lag: Callable[[], float] = lambda: 0.0,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        from pytest_benchkit import __version__

        self._settings = spec.settings
        self._facts = facts
        self._transport = transport
        self._stream = stream
        self._lag = lag
        self._say = say
        self._root = spec.base_url or ""
        self._tags = cast("Tags", spec.settings.think_tags)
        self._headers = {
            **spec.settings.headers,
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"pytest-benchkit/{__version__}",
        }
        self._secret = spec.api_key
        if spec.api_key:
            self._headers["Authorization"] = f"Bearer {spec.api_key}"
        self._counter = TokenCounter(transport, self._root, self._headers, facts)
        self.dropped: set[str] = set()
        self._takes_tools = False
        self._fallback: asyncio.Future[bool] | None = None

    async def ask(self, request: ChatRequest, gate: Gate) -> Exchange:
        body = chat_body(
            request, self._settings, self._facts.served_id, self._facts.flavour, stream=self._stream
        )
        whole = fingerprint(self._wire(body))
        if (too_long := await self._counter.fit(request, body)) is not None:
            wanted = body.get("max_tokens")
            return Exchange(Reply(), too_long, tries=0, max_tokens=wanted, fingerprint=whole)
        exchange = await self._exchange(request, body, gate)
        exchange.fingerprint = whole
        if exchange.failure is None or exchange.failure.category == "loop":
            await self._counter.complete(exchange, body)
        return exchange

    async def unload(self) -> str | None:
        """Has the server evict this model; gives what went wrong, ``None`` when it is done."""
        problem = await unload(self._transport, self._root, self._headers, self._facts)
        return problem and self._masked(problem)

    async def count(self, text: str) -> int | None:
        """Length of a text by the server's own tokenizer; ``None`` when it has no route for that."""
        return await self._counter.count(text)

    async def _exchange(self, request: ChatRequest, body: dict[str, Any], gate: Gate) -> Exchange:
        """One body, sent until it is settled."""
        exchange = Exchange(Reply(), fingerprint=fingerprint(self._wire(body)))
        exchange.max_tokens, exchange.seed = body.get("max_tokens"), body.get("seed")
        ready = time.monotonic()
        attempt = await self._until_settled(body, gate, exchange, request)
        exchange.reply, exchange.failure = attempt.reply, attempt.failure
        exchange.http_status, exchange.request_id = attempt.status, attempt.request_id
        if attempt.sent_at is not None:
            exchange.reply.timing.queued_s = max(0.0, attempt.sent_at - ready)
        return exchange

    async def aclose(self) -> None:
        await self._transport.aclose()

    # ------------------------------------------------------------------ trying again

    async def _until_settled(
        self, body: dict[str, Any], gate: Gate, exchange: Exchange, request: ChatRequest
    ) -> Attempt:
        left = {"connection": self._settings.connect_retries, "busy": self._settings.retries}
        waited = 0.0
        exchange.tries = 0
        while True:
            if request.needs_tools and "tools" in self.dropped:
                return Attempt(Reply(), Failure("no_tools", NO_TOOLS, "skip"))
            for name in self.dropped:
                body.pop(name, None)
            rest = None if request.seconds is None else request.seconds - exchange.open_s
            attempt = await self._attempt(body, gate, rest, request.watch)
            exchange.tries += 1
            exchange.open_s += attempt.open_s
            failure = attempt.failure
            if failure is None:
                gate.leave()
                if "tools" in body:  # a refusal before was about one row's definitions
                    self._takes_tools = True
                    self.dropped.discard("tools")
                return attempt
            if failure.category == "client" and await self._smaller_body(body, attempt, gate):
                continue
            if failure.retry_after is not None and failure.retryable:
                if failure.retry_after > self._settings.retry_max_wait:
                    attempt.failure = self._rate_limited(failure)
                    return attempt
                gate.hold(failure.retry_after)
            if not left.get(failure.category, 0):
                return attempt
            left[failure.category] -= 1
            wait = failure.retry_after
            if wait is None:
                wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** len(exchange.retries))
                wait *= 1 + 0.25 * RETRY_DICE.random()
            waited += wait
            if waited > TASK_WAIT_S:
                return attempt
            exchange.retries.append(Retry(failure.kind, round(wait, 3)))
            gate.leave()  # a wait holds no slot
            await asyncio.sleep(wait)

    def _rate_limited(self, failure: Failure) -> Failure:
        message = (
            f"asked to wait {failure.retry_after:g} s, more than --bench-retry-max-wait="
            f"{self._settings.retry_max_wait:g}: {failure.message}"
        )
        return Failure("rate_limited", message, "stop", failure.status, failure.where)

    async def _smaller_body(self, body: dict[str, Any], attempt: Attempt, gate: Gate) -> bool:
        """Whether the refused request should go out again, without the field that the server named, or,
        once per endpoint and run, without tools or with nothing optional in it (M-18, M-20).

        A server that took tools before refuses this row's definitions, not tools: they stay."""
        failure = attempt.failure
        if failure is None or attempt.status not in (400, 422):
            return False
        taken = {"tools"} if self._takes_tools else set()
        if name := refused_field(body, failure.message, attempt.param):
            if name in taken:
                return False
            if name not in self.dropped:
                self.dropped.add(name)
                self._say(
                    f"the server refuses the field {name!r}; asking without it: {failure.message[:200]}"
                )
            return True
        optional = {key for key in body if key not in ("model", "messages", "stream", "max_tokens")} - taken
        if not optional:
            return False
        if self._fallback is not None:
            return await asyncio.shield(self._fallback) and not self.dropped.isdisjoint(body)
        self._fallback = asyncio.get_running_loop().create_future()
        worked = False
        try:
            for less in ({"tools"}, optional) if "tools" in optional else (optional,):
                smaller = {key: value for key, value in body.items() if key not in less}
                worked = (await self._attempt(smaller, gate)).failure is None
                if worked and (await self._attempt(body, gate)).failure is None:
                    break  # it was a passing fault: the server takes all fields
                if worked:
                    self.dropped |= less
                    self._say(f"the server takes only a smaller request; asking without {sorted(less)}")
                    break
        finally:
            self._fallback.set_result(worked)
        return worked

    # ------------------------------------------------------------------ one HTTP request

    def _wire(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body as this dialect sends it."""
        return body

    def _new_body(self) -> Body:
        """What takes in an answer."""
        return ChatStream(think_tags=self._tags)

    async def _attempt(
        self, body: dict[str, Any], gate: Gate, rest: float | None = None, watch: Watch | None = None
    ) -> Attempt:
        """Sends a body once; ``rest`` is what is left of the task's time, in seconds (D-1)."""
        payload = dumps(self._wire(body))
        stream = self._new_body()
        if watch is not None:
            watch.begin()
        await gate.enter()
        lag, started = self._lag(), time.monotonic()
        response: Response | None = None
        failure: Failure | None = None
        error_body = b""
        whole = False
        seconds = self._settings.timeout if rest is None else min(rest, self._settings.timeout)
        try:
            async with asyncio.timeout(None) as limit:
                deadline = Deadline(limit, started, seconds, self._lag)
                try:
                    response = await self._transport.send(
                        "POST", f"{self._root}{self.path}", self._headers, payload
                    )
                    deadline.starts_at(response.sent_at)
                    if response.status == 200:
                        whole = await self._read(response, stream, deadline, watch)
                        failure = watch.failure if watch is not None else None
                    else:
                        error_body = await _head_of(response)
                        whole = True
                finally:
                    deadline.cancel()
        except TimeoutError:
            if not stream.finished:
                failure = await self._timed_out(stream, response, seconds)
        except TransportError as error:
            failure = self._broken(error, stream)
        finally:
            if watch is not None:
                watch.end()
            if response is not None:
                response.release() if whole else response.close()
        if failure is None and response is not None and response.status == 200:
            gate.leave()  # the next request leaves before anything is done with this reply
        return self._result(response, stream, failure, error_body, started, lag)

    async def _read(self, response: Response, stream: Body, deadline: Deadline, watch: Watch | None) -> bool:
        """Feeds the stream to its end, or until the watch ends it; True when the connection may be used
        again."""
        drained = 0
        now = time.monotonic
        async for data in response.chunks():
            if stream.oversize or stream.failed:
                return False
            if stream.done:
                drained += len(data)
                if drained > DRAIN_BYTES:
                    return False
                continue
            pieces = stream.feed(data, now())
            if watch is not None and pieces and not stream.failed and watch.see(pieces) is not None:
                return False
            if stream.done:
                deadline.at_most(DRAIN_S)
            elif stream.finished:
                deadline.at_most(AFTER_FINISH_S)
        return True

    async def _timed_out(self, stream: Body, response: Response | None, limit: float) -> Failure:
        where, whose = self.path, "request" if limit == self._settings.timeout else "task"
        if response is None and not await self._alive():
            words = f"no byte within {limit:g} s, and the server does not answer {self.probe} either"
            return Failure("server_unresponsive", words, "after_output", where=where)
        words = f"no complete reply within {limit:.3g} s"
        if whose == "task":
            words += f", what was left of --bench-task-timeout={self._settings.task_timeout:g}"
        return Failure(whose, words, "deadline", where=where)

    async def _alive(self) -> bool:
        try:
            async with asyncio.timeout(2.0):
                answer = await self._transport.send("GET", f"{self._root}{self.probe}", self._headers, None)
                answer.close()
        except (TimeoutError, TransportError):
            return False
        return True

    def _broken(self, error: TransportError, stream: Body) -> Failure:
        if stream.generated:
            return Failure("stream_dropped", str(error), "after_output", where=self.path)
        return Failure(error.kind, str(error), "connection", where=self.path)

    def _result(
        self,
        response: Response | None,
        stream: Body,
        failure: Failure | None,
        error_body: bytes,
        started: float,
        lag: float,
    ) -> Attempt:
        sent_at = response.sent_at if response else started
        status = response.status if response else None
        headers = response.headers if response else {}
        content_type = headers.get("Content-Type", "")
        now = time.monotonic()
        reply, found = stream.close(now, content_type=content_type, t0=sent_at)
        param = None
        if response is not None and status != 200:
            found = failure_of_body(response.status, error_body, content_type)
            found.retry_after = retry_after(headers, time.time())
            param = refused_param(error_body)
            if response.status in range(300, 400):
                found = Failure("bad_response", "the server redirects; give its final address", "refusing")
                found.status = status
        failure = failure or found
        if failure is not None:
            failure.where = failure.where or self.path
            failure.message = self._masked(failure.message)
        timing = reply.timing
        timing.sent_at = time.time() - (time.monotonic() - sent_at)
        if response is not None and response.connect_s > 0:
            timing.connect_ms = round(response.connect_s * 1000, 3)
        if (late := self._lag() - lag) > 0:
            timing.client_lag_ms = round(late * 1000, 3)
        if self._secret and self._secret in f"{reply.text}{reply.thinking}":  # a server may echo anything
            for name in ("text", "answer", "thinking"):
                setattr(reply, name, self._masked(getattr(reply, name)))
        request_id = headers.get("x-request-id")
        request_id = request_id and self._masked(request_id)[:200]
        open_s = max(0.0, now - sent_at - late)
        return Attempt(reply, failure, status, request_id, sent_at, open_s, param)

    def _masked(self, words: str) -> str:
        return words.replace(self._secret, "***") if self._secret else words


async def _head_of(response: Response) -> bytes:
    """An error's body, up to a limit; whatever breaks while reading it is not the news."""
    body = b""
    try:
        async for data in response.chunks():
            body += data
            if len(body) > ERROR_BODY_BYTES:
                break
    except TransportError:
        pass
    return body[:ERROR_BODY_BYTES]
