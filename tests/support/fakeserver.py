"""A scriptable HTTP server for tests: any bytes, any delays, and it counts what happened to it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass
class Request:
    """One request as it arrived; ``number`` counts chat requests from 1."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    number: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        return str(self.json["messages"][-1]["content"])


@dataclass
class Exchange:
    """What a handler writes with."""

    request: Request
    writer: asyncio.StreamWriter

    async def json(self, value: object, status: int = 200, headers: Sequence[str] = ()) -> None:
        await self.raw(json.dumps(value).encode(), status, "application/json", headers)

    async def raw(
        self, body: bytes, status: int = 200, kind: str = "text/plain", headers: Sequence[str] = ()
    ) -> None:
        head = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
        self.writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        await self.writer.drain()

    async def open_stream(self) -> None:
        self.writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def event(self, value: object) -> None:
        await self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def drop(self) -> None:
        """Closes the connection in the middle of things."""
        transport = self.writer.transport
        if transport is not None:
            transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]


def delta(text: str, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **fields}]}


def replying(
    text: str | Callable[[Request], str],
    *,
    chunks: int = 4,
    delay: float = 0.0,
    usage: bool = True,
    finish: str = "stop",
) -> Handler:
    """A handler that streams a reply (or sends it whole when asked to) after ``delay`` seconds."""

    async def handle(exchange: Exchange) -> None:
        request = exchange.request
        words = text(request) if callable(text) else text
        counts = {
            "prompt_tokens": max(1, len(request.body) // 4),
            "completion_tokens": max(1, len(words) // 4),
        }
        await asyncio.sleep(delay)
        if not request.json.get("stream"):
            message = {"role": "assistant", "content": words}
            body: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
            await exchange.json({**body, **({"usage": counts} if usage else {})})
            return
        await exchange.open_stream()
        size = max(1, -(-len(words) // chunks))
        for start in range(0, len(words), size):
            await exchange.event(delta(words[start : start + size]))
        await exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage:
            await exchange.event({"choices": [], "usage": counts})
        await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    return handle


@dataclass
class Counts:
    chat: int = 0
    other: dict[str, int] = field(default_factory=dict)
    connections: int = 0
    open_chats: int = 0
    peak: int = 0
    closed_early: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)


class FakeServer:
    """Runs in a thread of the test; use as a context manager.

    ``chat`` handles ``/v1/chat/completions``, ``routes`` the rest by path; ``models`` is the listing,
    ``None`` answers 404.
    """

    def __init__(
        self,
        chat: Handler | None = None,
        *,
        models: Sequence[str] | None = ("m",),
        routes: dict[str, Handler] | None = None,
    ) -> None:
        self.chat = chat or replying("#### 1")
        self.models = models
        self.routes = routes or {}
        self.counts = Counts()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._connection, "127.0.0.1", self.port, limit=2**24)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counts.connections += 1
        try:
            while await self._request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(method, path, headers, body)
        self.counts.headers.append({"path": path, **headers})
        exchange = Exchange(request, writer)
        if path == "/v1/chat/completions":
            await self._chat(exchange)
        else:
            self.counts.other[path] = self.counts.other.get(path, 0) + 1
            await self._route(exchange)
        return not writer.is_closing()

    async def _chat(self, exchange: Exchange) -> None:
        counts = self.counts
        counts.chat += 1
        counts.open_chats += 1
        counts.peak = max(counts.peak, counts.open_chats)
        exchange.request.number = counts.chat
        try:
            await self.chat(exchange)
        except ConnectionError:
            counts.closed_early += 1
            raise
        finally:
            counts.open_chats -= 1

    async def _route(self, exchange: Exchange) -> None:
        path = exchange.request.path.split("?")[0]
        if path in self.routes:
            await self.routes[path](exchange)
        elif path == "/v1/models" and self.models is not None:
            await exchange.json({"object": "list", "data": [{"id": name} for name in self.models]})
        else:
            await exchange.json({"error": {"message": "not found"}}, 404)
