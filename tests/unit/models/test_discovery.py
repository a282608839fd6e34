"""Rules M-1 to M-4, M-9 to M-11 and table 2.2, against a real HTTP server with fixed answers."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from typing import Any

import pytest

from pytest_benchkit.errors import ModelError
from pytest_benchkit.models.discovery import discover, root_of
from pytest_benchkit.models.facts import ServerFacts, is_loopback
from tests.unit.models.answers import Route, dead_url, serving


def ask(url: str, model: str = "m", said: list[str] | None = None, **options: Any) -> ServerFacts:
    settings: dict[str, Any] = {"headers": {}, "connect_timeout": 2.0, "wait": 0.0, "verify": True, **options}
    lines = said if said is not None else []
    return asyncio.run(discover(url, model, say=lines.append, **settings))


def listing(*entries: dict[str, Any]) -> Route:
    return 200, {"object": "list", "data": [{"object": "model", **entry} for entry in entries]}


PROPS = {
    "default_generation_settings": {"n_ctx": 2048},
    "total_slots": 4,
    "model_path": "/home/someone/models/tiny.Q4.gguf",
    "chat_template": "{{ x }}",
    "build_info": "b4711",
    "modalities": {"vision": False},
}


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_address_with_and_without_v1(url: str) -> None:
    assert root_of(url) == "http://h:1"


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_llamacpp(suffix: str) -> None:
    entry = {"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}
    with serving({"/v1/models": listing(entry), "/props": (200, PROPS)}) as server:
        facts = ask(server.url + suffix)
        assert len(server.seen) == facts.requests <= 5
    assert (facts.root, facts.flavour, facts.listing) == (server.url, "llamacpp", ("m",))
    assert (facts.capacity, facts.window, facts.trained_window) == (4, 2048, 8192)
    assert (facts.tokenize, facts.apply_template, facts.unload) == ("/tokenize", "/apply-template", None)
    assert (facts.model_file, facts.build, facts.images) == ("tiny.Q4.gguf", "b4711", False)
    assert len(facts.template_sha256 or "") == 64


def test_llamacpp_slots_stand_in_for_props() -> None:
    entry = {"id": "m", "owned_by": "llamacpp"}
    slots = [{"id": 0, "n_ctx": 512}, {"id": 1, "n_ctx": 512}]
    with serving({"/v1/models": listing(entry), "/slots": (200, slots)}) as server:
        facts = ask(server.url)
    assert (facts.capacity, facts.window, facts.tokenize) == (2, 512, None)
    assert any("/props" in note for note in facts.notes)


def test_llamacpp_is_recognised_by_its_props() -> None:
    with serving({"/v1/models": listing({"id": "m", "owned_by": "me"}), "/props": (200, PROPS)}) as server:
        facts = ask(server.url)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.capacity, facts.tokenize) == ("llamacpp", 4, "/tokenize")


def test_llamacpp_router() -> None:
    entry = {"id": "m", "owned_by": "llamacpp", "status": {"value": "unloaded"}}
    with serving({"/v1/models": listing(entry), "/props": (200, PROPS)}) as server:
        facts = ask(server.url)
    assert (facts.loaded, facts.unload) == (False, "/models/unload")


def test_llama_swap() -> None:
    entry = {"id": "a/b", "owned_by": "llama-swap", "meta": {"llamaswap": {"decision": True}}}
    with serving({"/v1/models": listing(entry), "/upstream/a%2Fb/props": (200, PROPS)}) as server:
        facts = ask(server.url, "a/b")
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.capacity, facts.tokenize) == ("llama-swap", 4, "/upstream/a%2Fb/tokenize")
    assert (facts.decision, facts.loaded, facts.unload) == (True, None, "/api/models/unload/a%2Fb")


def test_vllm() -> None:
    entry = {"id": "m", "owned_by": "vllm", "max_model_len": 32768}
    with serving({"/v1/models": listing(entry), "/version": (200, {"version": "0.9.1"})}) as server:
        facts = ask(server.url)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.window, facts.build, facts.capacity) == ("vllm", 32768, "0.9.1", None)
    assert facts.tokenize == "/tokenize"


@pytest.mark.parametrize("route", ["/server_info", "/get_server_info"])
def test_sglang(route: str) -> None:
    info = {"max_running_requests": "48", "context_length": 4096, "version": "0.5"}
    with serving({"/v1/models": listing({"id": "m", "owned_by": "sglang"}), route: (200, info)}) as server:
        facts = ask(server.url)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.capacity, facts.window, facts.build) == ("sglang", 48, 4096, "0.5")


@pytest.mark.parametrize(("loaded", "window"), [(8192, 8192), (None, 131072)])
def test_lmstudio(loaded: int | None, window: int) -> None:
    own = {
        "id": "m",
        "type": "vlm",
        "state": "loaded",
        "quantization": "Q4_K_M",
        "max_context_length": 131072,
        "loaded_context_length": loaded,
    }
    routes = {
        "/v1/models": listing({"id": "m", "owned_by": "organization_owner"}),
        "/api/version": (200, {"error": "Unexpected endpoint or method."}),
        "/api/v0/models": listing({"id": "other", "quantization": "x"}, own),
    }
    with serving(routes) as server:
        facts = ask(server.url)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.window, facts.quantization) == ("lmstudio", window, "Q4_K_M")
    assert (facts.images, facts.loaded) == (True, True)


OLLAMA_TAGS = {"models": [{"name": "qwen3:latest", "model": "qwen3:latest", "digest": "abc", "size": 1}]}


@pytest.mark.parametrize("provider", ["auto", "ollama"])
@pytest.mark.parametrize("facade", [(200, {"data": [{"id": "qwen3:latest"}]}), (404, {})])
def test_ollama(provider: str, facade: Route) -> None:
    shown = {
        "model_info": {"qwen3.context_length": 40960},
        "template": "t",
        "capabilities": ["completion", "vision"],
        "details": {"quantization_level": "Q4_0"},
    }
    routes = {
        "/v1/models": facade,
        "/api/version": (200, {"version": "0.12.3"}),
        "/api/show": (200, shown),
        "/api/tags": (200, OLLAMA_TAGS),
        "/api/ps": (200, {"models": [{"name": "qwen3:latest"}, {"name": ["odd"]}, 7]}),
    }
    with serving(routes) as server:
        facts = ask(server.url, "qwen3", provider=provider)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.capacity, facts.window, facts.trained_window) == ("ollama", 1, None, 40960)
    assert (facts.build, facts.images, facts.quantization, facts.served_id) == (
        "0.12.3",
        True,
        "Q4_0",
        "qwen3",
    )
    assert (facts.listing, facts.digest, facts.loaded) == (("qwen3:latest",), "abc", True)
    assert facts.notes == []


def test_ollama_that_tells_nothing_natively() -> None:
    routes = {
        "/v1/models": listing({"id": "qwen3:latest", "owned_by": "library", "context_length": 4096}),
        "/api/version": (200, {"version": "0.12.3"}),
    }
    with serving(routes) as server:
        facts = ask(server.url, "qwen3")
    assert (facts.flavour, facts.loaded, facts.trained_window, facts.digest) == ("ollama", None, None, None)
    assert facts.window is None  # what a listing says is not what the next request asks for
    assert facts.unload == "/api/generate"


def test_ollama_names_are_its_own() -> None:
    routes = {"/api/version": (200, {"version": "0.12.3"}), "/api/tags": (200, OLLAMA_TAGS)}
    with serving(routes) as server, pytest.raises(ModelError, match="did you mean 'qwen3:latest'"):
        ask(server.url, "qwen4")


def test_m11_a_plain_server_tells_no_capacity() -> None:
    with serving({"/v1/models": listing({"id": "m"})}) as server:
        facts = ask(server.url)
        assert len(server.seen) <= 5
    assert (facts.flavour, facts.capacity, facts.window, facts.tokenize) == ("openai", None, None, None)


def test_hints_in_the_listing() -> None:
    entry = {
        "id": "m",
        "context_length": 1000,
        "max_concurrency": 12,
        "n_parallel": 6,
        "slots": True,
        "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["decisions"]},
    }
    with serving({"/v1/models": listing(entry)}) as server:
        facts = ask(server.url)
    assert (facts.window, facts.capacity, facts.images, facts.decision) == (1000, 6, True, True)
    assert facts.sources["capacity"] == "listing n_parallel"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (4, 4),
        (4.0, 4),
        ("4", 4),
        (0, None),
        (-1, None),
        (True, None),
        (4.5, None),
        ("four", None),
        ("", None),
        ([4], None),
        ({}, None),
        (10**40, None),
    ],
)
def test_m9_numbers_from_servers(value: object, expected: int | None) -> None:
    with serving({"/v1/models": listing({"id": "m", "owned_by": "vllm", "max_model_len": value})}) as server:
        facts = ask(server.url)
    assert facts.window == expected
    assert any("max_model_len" in note for note in facts.notes) == (expected is None)


def test_m3_dead_port() -> None:
    url = dead_url()
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        ask(url + "/v1")
    assert time.monotonic() - began < 3.0
    words = str(caught.value)
    assert url.rpartition(":")[2] in words
    assert "127.0.0.1" in words
    assert "Connection refused" in words
    assert "GET /v1/models" in words
    assert "GET /api/version" in words


def test_m3_waiting_is_shown_and_ends_when_the_server_comes() -> None:
    said: list[str] = []
    with serving({"/v1/models": (503, {"error": {"message": "Loading model"}})}) as server:
        timer = threading.Timer(0.5, server.routes.update, [{"/v1/models": listing({"id": "m"})}])
        timer.start()
        facts = ask(server.url, said=said, wait=20.0)
        timer.join()
    assert facts.listing == ("m",)
    assert said
    assert "starting" in said[0]
    with pytest.raises(ModelError):
        ask(dead_url(), said=said, wait=0.2)
    assert "Connection refused" in said[-1]


def test_m4_a_name_that_is_not_listed() -> None:
    with serving({"/v1/models": listing(*[{"id": f"model-{n}"} for n in range(30)])}) as server:
        with pytest.raises(ModelError) as caught:
            ask(server.url, "Modle-27")
        assert len(server.seen) == 2
    words = str(caught.value)
    assert "did you mean 'model-27'?" in words
    assert sum(f"model-{n}," in words or f"model-{n} and" in words for n in range(30)) <= 20
    assert words.count("model-") <= 21
    assert "and 10 more" in words


def test_m4_an_empty_listing() -> None:
    with serving({"/v1/models": listing()}) as server, pytest.raises(ModelError, match="lists no model"):
        ask(server.url)


@pytest.mark.parametrize(
    "route",
    [
        (404, {}),
        (405, b""),
        (401, {"error": "key"}),
        (500, b"oops"),
        (200, b"<html>"),
        (200, {"data": 1}),
        (302, b""),
    ],
)
def test_m4_m10_without_a_listing_the_name_is_taken_as_given(route: Route) -> None:
    with serving({"/v1/models": route}) as server:
        facts = ask(server.url, "whatever")
    assert (facts.served_id, facts.flavour) == ("whatever", "openai")
    assert any("listing: unavailable" in note for note in facts.notes)


def test_m10_errors_on_every_native_route() -> None:
    broken = (500, b"\xff\x00" * 10)
    routes = dict.fromkeys(("/props", "/slots", "/api/version", "/api/v0/models", "/version"), broken)
    for owner in ("llamacpp", "vllm", "sglang", "me"):
        with serving({**routes, "/v1/models": listing({"id": "m", "owned_by": owner})}) as server:
            facts = ask(server.url)
        assert facts.capacity is None


def test_answers_are_capped() -> None:
    with serving({"/v1/models": (200, b"[" + b"1," * (3 * 1024 * 1024) + b"1]")}) as server:
        facts = ask(server.url)
    assert facts.listing is None
    assert any("4 MiB" in note for note in facts.notes)


def test_c7_headers_go_to_every_route_and_into_no_fact() -> None:
    with serving({"/v1/models": listing({"id": "m"})}) as server:
        facts = ask(server.url, headers={"Authorization": "Bearer canary-key"})
        assert all(headers["authorization"] == "Bearer canary-key" for _, _, headers in server.seen)
        assert all(headers["accept-encoding"] == "identity" for _, _, headers in server.seen)
    assert "canary-key" not in repr(facts)


def test_h6_loopback_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", dead_url())
    monkeypatch.setenv("ALL_PROXY", dead_url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving({"/v1/models": listing({"id": "m"})}) as server:
        assert ask(server.url).listing == ("m",)
    assert [
        is_loopback(f"http://{host}/") for host in ("localhost", "127.9.9.9", "[::1]", "10.0.0.1", "a.b")
    ] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_h6_other_hosts_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"http://models.invalid/v1/models": listing({"id": "m"})}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert ask("http://models.invalid").listing == ("m",)


def test_h2_no_tls_context_for_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a TLS context was made")

    monkeypatch.setattr(ssl, "create_default_context", refuse)
    monkeypatch.setattr(ssl.SSLContext, "__new__", refuse)
    with serving({"/v1/models": listing({"id": "m"})}) as server:
        assert ask(server.url).listing == ("m",)


def test_an_explicit_provider_is_not_doubted() -> None:
    with serving({"/v1/models": listing({"id": "m", "owned_by": "vllm"})}) as server:
        facts = ask(server.url, provider="openai")
        assert server.paths == ["/v1/models"]
    assert facts.flavour == "openai"


def test_without_a_model_only_the_listing_is_read() -> None:
    with serving({"/v1/models": listing({"id": "a", "owned_by": "vllm"}, {"id": "b"})}) as server:
        facts = ask(server.url, "")
    assert (facts.listing, facts.flavour) == (("a", "b"), "vllm")
