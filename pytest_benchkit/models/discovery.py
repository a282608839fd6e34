"""Finding out what a server is and what it can do, before the first task (section 2 of the specification).

Discovery fails a run only where nothing could work: no server, or no such model. Everything else that goes
wrong makes a fact unknown and is noted.
"""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pytest_benchkit.errors import ModelError
from pytest_benchkit.models.facts import Answer, Prober, ServerFacts
from pytest_benchkit.models.faults import quote
from pytest_benchkit.models.flavours import FLAVOURS, from_entry, from_lmstudio, from_props

LISTING, OLLAMA_VERSION, OLLAMA_LISTING = "/v1/models", "/api/version", "/api/tags"
NAMES_SHOWN = 20
OWNERS = {
    "llamacpp": "llamacpp",
    "llama.cpp": "llamacpp",
    "llama-swap": "llama-swap",
    "vllm": "vllm",
    "sglang": "sglang",
}


def root_of(base_url: str) -> str:
    """The address without a trailing slash and without ``/v1``."""
    return base_url.rstrip("/").removesuffix("/v1").rstrip("/")


async def discover(
    base_url: str,
    model: str,
    *,
    provider: str = "auto",
    headers: Mapping[str, str],
    connect_timeout: float,
    wait: float,
    verify: bool | str,
    say: Callable[[str], None],
) -> ServerFacts:
    """Asks a server about itself and about ``model``, in at most five requests.

    ``headers`` go to every route of the server. ``wait`` is for how many seconds a server that is still
    starting is waited for; ``say`` then gets a line each second. With an empty ``model`` only the server and
    its listing are looked at. ``verify``: a CA file, or whether certificates are checked.

    Raises :class:`ModelError` when no server answers, or when it does not list the model.
    """
    root = root_of(base_url)
    prober = Prober(root, headers, connect_timeout=connect_timeout, verify=verify)
    try:
        listing, version = await _reach(prober, provider, wait, say)
        facts = ServerFacts(root, model)
        if provider == "ollama" or _is_ollama(version):
            own = await prober.get(OLLAMA_LISTING)
            listing = own if own.status == 200 else listing  # its own answer wins over its façade
        entries = _entries(listing, facts)
        entry = _pick(entries, facts) if model and entries is not None else {}
        from_entry(facts, entry)
        if provider == "auto":
            settled = await _identify(prober, facts, entry or next(iter(entries or []), {}), version)
        else:
            facts.flavour, settled = provider, False
        if model and not settled and (ask := FLAVOURS.get(facts.flavour)):
            await ask(prober, facts)
        facts.word("build", version.object.get("version"))
        facts.requests = prober.count
        return facts
    finally:
        await prober.aclose()


async def _reach(
    prober: Prober, provider: str, wait: float, say: Callable[[str], None]
) -> tuple[Answer, Answer]:
    """The listing and Ollama's version, asked at the same time; again each second while waiting."""
    end = time.monotonic() + wait
    while True:
        if provider in ("auto", "ollama"):
            listing, version = await asyncio.gather(prober.get(LISTING), prober.get(OLLAMA_VERSION))
        else:
            listing, version = await prober.get(LISTING), Answer(connected=False)
        there = listing.connected or version.connected
        if there and listing.status != 503:
            return listing, version
        left = end - time.monotonic()
        if left <= 0 and there:
            return listing, version
        why = listing.error if not there else "the server says 503, it is still starting"
        if left <= 0:
            raise ModelError(_nobody(prober, str(why)))
        say(f"waiting for {prober.root}: {why}; {left:.0f} s left")
        await asyncio.sleep(min(1.0, left))
        prober.count = 0  # the requests of one successful preflight are what is counted


def _nobody(prober: Prober, why: str) -> str:
    parts = urlsplit(prober.root)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    routes = ", ".join(f"GET {path}" for path in prober.tried)
    return (
        f"no model server at {parts.hostname} port {port}: {why} (tried {routes} under {prober.root}); "
        "start it, or run with --bench-wait=S to wait for it, or with --bench-base-url=URL for another one"
    )


def _entries(listing: Answer, facts: ServerFacts) -> list[Mapping[str, Any]] | None:
    """The listing's entries, ``None`` where the server has none; ids go into ``facts.listing``."""
    value = listing.value if listing.status == 200 else None
    data = value.get("data", value.get("models")) if isinstance(value, Mapping) else value
    if not isinstance(data, list):
        facts.note(f"listing: unavailable ({listing.error or f'{LISTING} answers {listing.status}'})")
        return None
    entries = [e for e in data if isinstance(e, Mapping) and isinstance(_id(e), str)]
    facts.listing = tuple(_id(entry) for entry in entries)
    return entries


def _id(entry: Mapping[str, Any]) -> Any:
    return entry.get("id", entry.get("name"))


def _pick(entries: list[Mapping[str, Any]], facts: ServerFacts) -> Mapping[str, Any]:
    """The entry of the model. Raises :class:`ModelError` when it is not listed."""
    name = facts.served_id
    for entry in entries:
        aliases = entry.get("aliases")
        if _id(entry) in (name, f"{name}:latest") or (isinstance(aliases, list) and name in aliases):
            return entry
    names = [quote(_id(entry), 100) for entry in entries]
    if not names:
        raise ModelError(
            f"the server at {facts.root} lists no model, so not {quote(name, 100)!r} either: load it there"
        )
    lower = {known.lower(): known for known in reversed(names)}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.0)
    shown = ", ".join(names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    closest = f"did you mean {lower[near[0]]!r}? " if near else ""
    raise ModelError(
        f"the server at {facts.root} has no model {quote(name, 100)!r}; {closest}It lists: {shown}{more}"
    )


async def _identify(prober: Prober, facts: ServerFacts, entry: Mapping[str, Any], version: Answer) -> bool:
    """Sets the flavour: Ollama's own answer first, then the listing's owner, then two questions.

    True when the answers to the questions already told the flavour's facts.
    """
    if _is_ollama(version):
        facts.flavour = "ollama"
        return False
    owner = entry.get("owned_by")
    if isinstance(owner, str) and owner.lower() in OWNERS:
        facts.flavour = OWNERS[owner.lower()]
        return False
    props, studio = await asyncio.gather(prober.get("/props"), prober.get("/api/v0/models"))
    if "default_generation_settings" in props.object or "total_slots" in props.object:
        facts.flavour = "llamacpp"
        from_props(facts, props.object)
        facts.tokenize, facts.apply_template = "/tokenize", "/apply-template"
    elif _is_studio(studio.object.get("data")):
        facts.flavour = "lmstudio"
        from_lmstudio(facts, studio)
    return facts.flavour != "openai"


def _is_ollama(version: Answer) -> bool:
    return isinstance(version.object.get("version"), str)


def _is_studio(entries: Any) -> bool:
    return isinstance(entries, list) and any(isinstance(e, Mapping) and "quantization" in e for e in entries)
