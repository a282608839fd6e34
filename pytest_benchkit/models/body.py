"""From a :class:`ChatRequest` to the JSON body of ``/v1/chat/completions``, and its fingerprint.

For Ollama too: :mod:`~pytest_benchkit.models.ollama` writes the same body its own way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_benchkit.models.base import ChatRequest
    from pytest_benchkit.settings import Settings

REQUIRED = frozenset({"model", "messages", "stream"})
PROTOCOL = frozenset({"temperature", "seed", "max_tokens", "max_completion_tokens", "stop", "tools"})
"""Fields whose loss changes what is measured: dropping one is a deviation (M-19)."""


def chat_body(
    request: ChatRequest, settings: Settings, served_id: str, flavour: str, *, stream: bool
) -> dict[str, Any]:
    """The request's JSON object for one flavour of server; only known values are sent."""
    body: dict[str, Any] = {"model": served_id, "messages": list(request.messages), "stream": stream}
    if stream and flavour != "ollama":
        body["stream_options"] = {"include_usage": True}
    for name, value in request.sampling.items():
        if name == "repetition_penalty" and flavour in ("llamacpp", "llama-swap"):
            name = "repeat_penalty"
        body[name] = value
    if request.seed is not None:
        body["seed"] = request.seed
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.tools:
        body["tools"] = list(request.tools)
    _thinking(body, settings.thinking, flavour)
    body.update(settings.extra_body)
    return body


def _thinking(body: dict[str, Any], mode: str, flavour: str) -> None:
    if flavour == "ollama":
        if mode != "default":
            body["think"] = {"on": True, "off": False}.get(mode, mode)
    elif mode in ("low", "medium", "high"):
        body["reasoning_effort"] = mode
    elif mode in ("on", "off"):
        if flavour in ("llamacpp", "llama-swap", "vllm", "sglang"):
            body["chat_template_kwargs"] = {"enable_thinking": mode == "on"}
        else:
            body["reasoning_effort"] = "medium" if mode == "on" else "none"


def fingerprint(body: Mapping[str, Any]) -> str:
    """SHA-256 of the body in canonical JSON: equal for equal bodies on every machine (M-23).

    Image bytes are replaced by their own hash.
    """
    slim = dict(body)
    if "messages" in body:
        slim["messages"] = [_without_images(message) for message in body["messages"]]
    text = json.dumps(slim, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_images(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(images := message.get("images"), list):
        return {**message, "images": [hashlib.sha256(str(image).encode()).hexdigest() for image in images]}
    if not isinstance(content, list):
        return message
    parts = []
    for part in content:
        url = part.get("image_url", {}).get("url", "") if isinstance(part, Mapping) else ""
        if url.startswith("data:"):
            part = {"type": "image", "sha256": hashlib.sha256(url.encode()).hexdigest()}
        parts.append(part)
    return {**message, "content": parts}


def prompt_text(messages: Iterable[Mapping[str, Any]]) -> str:
    """All text of the messages, for counting."""
    pieces: list[str] = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            pieces.append(content)
        elif isinstance(content, list):
            pieces.extend(part.get("text", "") for part in content if isinstance(part, Mapping))
    return "\n".join(pieces)


def refused_param(error_body: bytes) -> str | None:
    """The parameter that an error's JSON names (``error.param`` or ``param``)."""
    try:
        data = json.loads(error_body)
    except (ValueError, RecursionError):
        return None
    error = data.get("error", data) if isinstance(data, dict) else None
    param = error.get("param") if isinstance(error, dict) else None
    return param if isinstance(param, str) else None


def refused_field(body: Mapping[str, Any], words: str, param: str | None) -> str | None:
    """The optional field of ours that a 400 names, by its ``param`` or in its message (M-18)."""
    optional = [name for name in body if name not in REQUIRED]
    if param:
        head = param.split(".")[0].split("[")[0]
        return head if head in optional else None
    hits = [name for name in optional if name in words]
    return max(hits, key=len) if hits else None
