"""What each kind of server tells about itself (table 2.2 of the engine's specification).

One function per flavour. Each asks at most two requests and fills in what is still unknown; whatever does
not come, or comes in an odd shape, stays unknown.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote as quote_url

from pytest_benchkit.models.facts import Answer, Prober, ServerFacts
from pytest_benchkit.models.faults import quote
from pytest_benchkit.models.figures import LARGEST, positive

Flavour = Callable[[Prober, ServerFacts], Awaitable[None]]
WINDOW_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
CAPACITY_ENDINGS = ("concurrency", "parallel", "slots")


def from_entry(facts: ServerFacts, entry: Mapping[str, Any]) -> None:
    """Facts that stand in the model's entry of the listing."""
    meta = _object(entry.get("meta"))
    for name in WINDOW_NAMES:
        facts.number("window", entry.get(name), f"listing {name}")
    facts.number("trained_window", meta.get("n_ctx_train"), "listing n_ctx_train")
    hints = {
        name: value
        for part in (entry, meta, _object(entry.get("metadata")))
        for name, value in part.items()
        if isinstance(name, str) and name.lower().endswith(CAPACITY_ENDINGS)
    }
    for name in sorted(hints, key=lambda name: positive(hints[name]) or LARGEST):
        facts.number("capacity", hints[name], f"listing {quote(name, 60)}")
    architecture = _object(entry.get("architecture"))
    inputs = architecture.get("input_modalities") or entry.get("input_modalities")
    outputs = architecture.get("output_modalities") or entry.get("output_modalities")
    if facts.images is None and isinstance(inputs, list):
        facts.images = "image" in inputs
    if isinstance(outputs, list) and "decisions" in outputs:
        facts.decision = True
    swap = _object(meta.get("llamaswap"))
    if any(part.get("decision") is True for part in (swap, meta, _object(entry.get("metadata")))):
        facts.decision = True
    facts.word("digest", entry.get("digest"))
    status = entry.get("status")
    word = status.get("value") if isinstance(status, Mapping) else status
    if isinstance(word, str) and facts.loaded is None:
        facts.loaded = {"loaded": True, "ready": True, "unloaded": False, "stopped": False}.get(word)


def from_props(facts: ServerFacts, props: Mapping[str, Any]) -> None:
    """Facts of llama.cpp's ``/props``."""
    facts.number("capacity", props.get("total_slots"), "/props total_slots")
    settings = _object(props.get("default_generation_settings"))
    window = settings.get("n_ctx")
    if window is not None and facts.sources.get("window", "listing").startswith("listing"):
        facts.window = None  # what a slot has is nearer to the truth than the listing
    facts.number("window", window, "/props n_ctx")
    _template(facts, props.get("chat_template"))
    facts.word("build", props.get("build_info"))
    facts.word("quantization", props.get("model_ftype"))
    facts.word("model_file", _base_name(props.get("model_path")))
    vision = _object(props.get("modalities")).get("vision")
    if isinstance(vision, bool):
        facts.images = vision


async def llamacpp(prober: Prober, facts: ServerFacts) -> None:
    await _llama(prober, facts, "")
    if facts.loaded is not None:  # a router lists a status
        facts.unload = "/models/unload"


async def llama_swap(prober: Prober, facts: ServerFacts) -> None:
    prefix = "/upstream/" + quote_url(facts.served_id, safe="")
    await _llama(prober, facts, prefix)
    facts.unload = "/api/models/unload/" + quote_url(facts.served_id, safe="")


async def _llama(prober: Prober, facts: ServerFacts, prefix: str) -> None:
    answer = await prober.get(prefix + "/props")
    _noted(facts, prefix + "/props", answer)
    from_props(facts, answer.object)
    if answer.object:
        facts.tokenize = prefix + "/tokenize"
        facts.apply_template = prefix + "/apply-template"
    if facts.capacity and facts.window:
        return
    slots = await prober.get(prefix + "/slots")
    if slots.items:
        facts.number("capacity", len(slots.items), "/slots")
        windows = [slot.get("n_ctx") for slot in slots.items if isinstance(slot, Mapping)]
        facts.number("window", next(iter(windows), None), "/slots n_ctx")


async def vllm(prober: Prober, facts: ServerFacts) -> None:
    answer = await prober.get("/version")
    _noted(facts, "/version", answer)
    facts.word("build", answer.object.get("version"))
    facts.tokenize = "/tokenize"


async def sglang(prober: Prober, facts: ServerFacts) -> None:
    answer = await prober.get("/server_info")
    if answer.status in (404, 405):
        answer = await prober.get("/get_server_info")
    _noted(facts, "server info", answer)
    info = answer.object
    states = info.get("internal_states")
    inner = _object(states[0]) if isinstance(states, list) and states else {}
    for part in (info, inner):
        facts.number("capacity", part.get("max_running_requests"), "server info max_running_requests")
        facts.number("window", part.get("context_length"), "server info context_length")
    facts.word("build", info.get("version"))
    facts.word("quantization", info.get("quantization"))
    facts.word("model_file", _base_name(info.get("model_path")))
    facts.tokenize = "/tokenize"


async def lmstudio(prober: Prober, facts: ServerFacts) -> None:
    answer = await prober.get("/api/v0/models")
    _noted(facts, "/api/v0/models", answer)
    from_lmstudio(facts, answer)


def from_lmstudio(facts: ServerFacts, answer: Answer) -> None:
    """Facts of LM Studio's own listing."""
    entries = answer.object.get("data")
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping) or entry.get("id") != facts.served_id:
            continue
        facts.number("window", entry.get("loaded_context_length"), "/api/v0/models loaded_context_length")
        facts.number("window", entry.get("max_context_length"), "/api/v0/models max_context_length")
        facts.word("quantization", entry.get("quantization"))
        if isinstance(kind := entry.get("type"), str):
            facts.images = kind == "vlm"
        if isinstance(state := entry.get("state"), str):
            facts.loaded = state == "loaded"


async def ollama(prober: Prober, facts: ServerFacts) -> None:
    """The window is what each request asks for (``num_ctx``), so no answer tells it."""
    facts.window = None
    facts.sources.pop("window", None)
    facts.number("capacity", 1, "Ollama answers one request at a time unless told otherwise")
    facts.unload = "/api/generate"
    answer, running = await asyncio.gather(
        prober.post("/api/show", {"model": facts.served_id}), prober.get("/api/ps")
    )
    _noted(facts, "/api/show", answer)
    shown = answer.object
    for name, value in _object(shown.get("model_info")).items():
        if isinstance(name, str) and name.endswith(".context_length"):
            facts.number("trained_window", value, f"/api/show {name[:60]}")
    _template(facts, shown.get("template"))
    facts.word("quantization", _object(shown.get("details")).get("quantization_level"))
    if isinstance(able := shown.get("capabilities"), list):
        facts.images = "vision" in able
    _noted(facts, "/api/ps", running)
    if isinstance(models := running.object.get("models"), list):
        names = [entry.get("name") for entry in models if isinstance(entry, Mapping)]
        facts.loaded = facts.served_id in names or f"{facts.served_id}:latest" in names


FLAVOURS: dict[str, Flavour] = {
    "llamacpp": llamacpp,
    "llama-swap": llama_swap,
    "vllm": vllm,
    "sglang": sglang,
    "lmstudio": lmstudio,
    "ollama": ollama,
}


def _noted(facts: ServerFacts, what: str, answer: Answer) -> None:
    if answer.status != 200 or answer.error:
        facts.note(f"{what}: {answer.error or f'status {answer.status}'}")


def _template(facts: ServerFacts, template: Any) -> None:
    if isinstance(template, str) and template:
        facts.template_sha256 = hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()


def _base_name(path: Any) -> str | None:
    """The last part of a path of either kind: folders of other people's machines are none of our business."""
    return PurePosixPath(PureWindowsPath(path).as_posix()).name if isinstance(path, str) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
