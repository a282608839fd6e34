"""Ollama by its own ``/api/chat``: what of a request is written otherwise (table 3 of the specification).

Retries, holds, deadlines, refused fields and the window are those of every served model: the body is made and
mended in the OpenAI form, and only what leaves is in Ollama's. So ``num_ctx`` is in every request, also in
the smallest one that a server is fallen back to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchkit.models import jsonlib
from pytest_benchkit.models.client import Body, HttpModel
from pytest_benchkit.models.ndjson import OllamaStream

PATH = "/api/chat"
KEEP_ALIVE = "30m"
"""How long the model stays loaded after a request: no pause within a run unloads it."""
OPTIONS = {
    "max_tokens": "num_predict",
    "max_completion_tokens": "num_predict",
    "repetition_penalty": "repeat_penalty",
    **{
        name: name
        for name in (
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "presence_penalty",
            "frequency_penalty",
            "repeat_penalty",
            "seed",
            "stop",
        )
    },
}
"""Fields of the OpenAI form that Ollama takes in ``options``, and their names there."""


class OllamaModel(HttpModel):
    """A model served by Ollama."""

    path = PATH
    probe = "/api/version"

    def _new_body(self) -> Body:
        return OllamaStream(think_tags=self._tags)

    def _wire(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return wire(body, self._facts.num_ctx)


def wire(body: Mapping[str, Any], num_ctx: int | None) -> dict[str, Any]:
    """The body of ``/api/chat`` for one in the OpenAI form. Fields that neither knows stay as they are;
    ``options`` of the user's (``--bench-extra-body``) win over those made from other fields."""
    sent: dict[str, Any] = {"keep_alive": KEEP_ALIVE}
    options: dict[str, Any] = {}
    for name, value in body.items():
        if name in OPTIONS:
            options[OPTIONS[name]] = [value] if name == "stop" and isinstance(value, str) else value
        elif name == "messages":
            sent["messages"] = [_message(message) for message in value]
        elif name != "options":
            sent[name] = value
    given = body.get("options")
    options.update(given if isinstance(given, Mapping) else {})
    if num_ctx is not None:
        options["num_ctx"] = num_ctx
    return {**sent, "options": options}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Parts become one text and a list of images in base64; arguments of earlier calls become objects."""
    made = dict(message)
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        made["content"] = "\n".join(str(part["text"]) for part in parts if "text" in part)
        if images := [_image(part) for part in parts if "image_url" in part]:
            made["images"] = images
    elif content is None:
        made["content"] = ""
    if isinstance(calls := message.get("tool_calls"), list):
        made["tool_calls"] = [_call(call) for call in calls]
    return made


def _image(part: Mapping[str, Any]) -> str:
    """The base64 of a data URI; an address is passed on for the server to refuse."""
    url = str(part["image_url"].get("url", ""))
    return url.partition(",")[2] if url.startswith("data:") else url


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(raw := function.get("arguments"), str):
        return call
    try:
        arguments = jsonlib.loads(raw.encode("utf-8", "surrogatepass"))
    except ValueError:
        return call
    return {**call, "function": {**function, "arguments": arguments}}
