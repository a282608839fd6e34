"""A server that answers like Ollama: its own routes, lines of JSON, models that are loaded and evicted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.fakeserver import Exchange, FakeServer

NANO = 10**9


def line(model: str, content: str = "", done: bool = False, **fields: Any) -> dict[str, Any]:
    """One line of ``/api/chat``."""
    message = {"role": "assistant", "content": content}
    return {"model": model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done, **fields}


def last(model: str, prompt: int, output: int, reason: str = "stop") -> dict[str, Any]:
    return {
        **line(model, done=True, done_reason=reason),
        **{"total_duration": 3 * NANO, "load_duration": NANO // 10},
        **{"prompt_eval_count": prompt, "prompt_eval_duration": NANO // 2},
        **{"eval_count": output, "eval_duration": 2 * NANO},
    }


class FakeOllama(FakeServer):
    """``window``: the models' own maximum. ``chats``: bodies of ``/api/chat``; ``log``: what happened, as
    ``load NAME NUM_CTX``, ``chat NAME`` and ``unload NAME``, in order.

    ``loads_first``: the first request of a model only loads it, as Ollama does when asked without messages.
    """

    def __init__(
        self,
        answer: Callable[[str], str],
        *,
        names: Sequence[str] = ("m:latest",),
        window: int = 40960,
        loads_first: bool = False,
        keeps: bool = False,
    ) -> None:
        super().__init__(models=names)
        self.answer = answer
        self.window = window
        self.loads_first = loads_first
        self.keeps = keeps
        """Evictions fail."""
        self.chats: list[dict[str, Any]] = []
        self.log: list[str] = []
        self.loaded: dict[str, int] = {}
        self.routes = {
            "/api/version": self._version,
            "/api/tags": self._tags,
            "/api/ps": self._ps,
            "/api/show": self._show,
            "/api/chat": self._api_chat,
            "/api/generate": self._generate,
        }

    @property
    def windows(self) -> set[int]:
        """Every ``num_ctx`` that was asked for; ``-1`` stands for a request without one."""
        return {chat.get("options", {}).get("num_ctx", -1) for chat in self.chats}

    async def _version(self, exchange: Exchange) -> None:
        await exchange.json({"version": "0.12.3"})

    async def _tags(self, exchange: Exchange) -> None:
        details = {"format": "gguf", "quantization_level": "Q4_K_M"}
        names = self.models or ()
        await exchange.json(
            {"models": [{"name": n, "model": n, "digest": f"sha-{n}", "details": details} for n in names]}
        )

    async def _ps(self, exchange: Exchange) -> None:
        await exchange.json({"models": [{"name": name, "model": name} for name in self.loaded]})

    async def _show(self, exchange: Exchange) -> None:
        await exchange.json(
            {
                "model_info": {"general.architecture": "qwen3", "qwen3.context_length": self.window},
                "template": "{{ .Prompt }}",
                "details": {"quantization_level": "Q4_K_M"},
                "capabilities": ["completion", "tools"],
            }
        )

    async def _generate(self, exchange: Exchange) -> None:
        body = exchange.request.json
        name = self._full(body["model"])
        if body.get("keep_alive") == 0 and not body.get("prompt"):
            self.log.append(f"unload {name}")
            if self.keeps:
                await exchange.json({"error": "cannot unload"}, 500)
                return
            self.loaded.pop(name, None)
        await exchange.json({"model": name, "response": "", "done": True, "done_reason": "unload"})

    def _full(self, name: str) -> str:
        return name if ":" in name else f"{name}:latest"

    async def _api_chat(self, exchange: Exchange) -> None:
        body = exchange.request.json
        self.chats.append(body)
        name, window = self._full(body["model"]), body.get("options", {}).get("num_ctx", 4096)
        fresh = self.loaded.get(name) != window
        if fresh:
            self.loaded[name] = window
            self.log.append(f"load {name} {window}")
        if fresh and self.loads_first:
            await exchange.json(line(name, done=True, done_reason="load"))
            return
        self.log.append(f"chat {name}")
        prompt = str(body["messages"][-1]["content"])
        words = self.answer(prompt)
        end = last(name, max(1, len(prompt) // 4), max(2, len(words)))
        if not body.get("stream"):
            await exchange.json({**end, "message": {"role": "assistant", "content": words}})
            return
        exchange.writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for letter in words:
            await exchange.chunk(json.dumps(line(name, letter)).encode() + b"\n")
            await asyncio.sleep(0.001)
        await exchange.chunk(json.dumps(end).encode() + b"\n")
        await exchange.end_stream()
