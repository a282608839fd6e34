"""A fast chat server for benchmarks, in a process of its own, that reports its own lateness.

Raw asyncio protocol; never the bottleneck: about 0.1 ms of CPU a streamed reply of 20 chunks, written
in as many packets as ``--writes`` says.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import sys
from typing import Any

WORDS = "the answer grows word by word until it is "


def chunks_of(text: str, count: int, tokens: int | None = None) -> list[bytes]:
    size = max(1, -(-len(text) // count))
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    events = [
        json.dumps(
            {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": p}}]}
        )
        for p in pieces
    ]
    events.append(json.dumps({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    counts = {"prompt_tokens": 100, "completion_tokens": tokens or count}
    events.append(json.dumps({"id": "c", "choices": [], "usage": counts}))
    out = []
    for event in [*events, "[DONE]"]:
        data = f"data: {event}\n\n".encode()
        out.append(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    return out


def long_text(words: int) -> str:
    """Words in the order of chance: nothing that a loop detector would stop."""
    dice = random.Random(words)
    return " ".join(
        f"{dice.choice('bcdfgklm')}{dice.choice('aeiou')}{dice.randrange(36**2):x}" for _ in range(words)
    )


class State:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.requests = 0
        self.connections = 0
        self.open = 0
        self.peak = 0
        self.lateness = 0.0
        self.busy_area = 0.0
        self.last = 0.0
        text = (long_text(options.words) if options.words else WORDS * 3) + "\n#### 18"
        self.text = text
        self.events = chunks_of(text, options.chunks)
        message = {"role": "assistant", "content": text}
        self.whole = json.dumps(
            {
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": options.chunks},
            }
        ).encode()

    def latency(self, body: bytes) -> float:
        """Fixed, or lognormal with the given mean, decided by the prompt: equal in every run. As a token
        limit does, ``--cut`` ends replies at so many means."""
        options = self.options
        if options.spread == "fixed":
            return float(options.latency)
        seed = json.loads(body)["messages"][-1]["content"]
        sigma = options.sigma
        drawn = random.Random(seed).lognormvariate(math.log(options.latency) - sigma**2 / 2, sigma)
        return min(drawn, float(options.cut * options.latency))


class Connection(asyncio.Protocol):
    def __init__(self, state: State) -> None:
        self.state = state
        self.buffer = b""
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.state.connections += 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            head, sep, rest = self.buffer.partition(b"\r\n\r\n")
            if not sep:
                return
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if len(rest) < length:
                return
            body, self.buffer = rest[:length], rest[length:]
            self.request(head.split(b" ", 2)[1].decode(), body)

    def request(self, path: str, body: bytes) -> None:
        state = self.state
        if path == "/v1/chat/completions":
            state.requests += 1
            state.open += 1
            state.peak = max(state.peak, state.open)
            loop = asyncio.get_running_loop()
            latency = state.latency(body)
            streamed = b'"stream":true' in body.replace(b" ", b"")
            if not streamed:
                loop.call_later(latency, self.finish, loop.time() + latency, None)
                return
            self.transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            events = state.events
            if state.options.counts == "latency":  # a longer reply has more tokens, as real ones do
                events = chunks_of(state.text, state.options.chunks, int(latency * 1000))
            self.step(0, loop.time() + latency, latency / state.options.writes, events)
        elif path == "/v1/models":
            self.plain({"data": [{"id": "m"}]})
        elif path == "/props":
            self.plain({"total_slots": state.options.slots, "default_generation_settings": {"n_ctx": 32768}})
        elif path == "/stats":
            names = ("requests", "connections", "peak", "lateness")
            self.plain({name: getattr(state, name) for name in names})
        elif path == "/reset":
            state.requests = state.connections = state.peak = 0
            state.lateness = 0.0
            self.plain({})
        else:
            self.transport.write(b"HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\n{}")

    def step(self, index: int, end: float, gap: float, events: list[bytes]) -> None:
        """Writes the next share of the events; the last lands at the reply's end."""
        loop = asyncio.get_running_loop()
        writes = self.state.options.writes
        if index < writes and not self.transport.is_closing():
            loop.call_at(end - gap * (writes - 1 - index), self.send, index, end, gap, events)

    def send(self, index: int, end: float, gap: float, events: list[bytes]) -> None:
        writes = self.state.options.writes
        low, high = len(events) * index // writes, len(events) * (index + 1) // writes
        data = b"".join(events[low:high])
        if index == writes - 1:
            self.finish(end, data + b"0\r\n\r\n")
        else:
            self.transport.write(data)
            self.step(index + 1, end, gap, events)

    def finish(self, due: float, data: bytes | None) -> None:
        state = self.state
        state.lateness = max(state.lateness, asyncio.get_running_loop().time() - due)
        state.open -= 1
        if data is None:
            body = state.whole
            data = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
                body
            )
            data += body
        self.transport.write(data)

    def plain(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--spread", choices=("fixed", "lognormal"), default="fixed")
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--cut", type=float, default=15.0)
    parser.add_argument("--chunks", type=int, default=20)
    parser.add_argument("--words", type=int, default=0, help="length of the reply; 0 for a short one")
    parser.add_argument("--writes", type=int, default=20)
    parser.add_argument("--counts", choices=("chunks", "latency"), default="chunks")
    parser.add_argument("--slots", type=int, default=64)
    state = State(parser.parse_args())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(state), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()  # ends with whoever started it
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
