"""The real llama.cpp server in its subprocess, with a tiny random model: wire, counts, slots, ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")

import httpx

from pytest_benchkit.errors import ModelError
from pytest_benchkit.models import local
from pytest_benchkit.models.chat import ChatStream, failure_of_body
from pytest_benchkit.models.discovery import discover
from tests.tiny_gguf import write_tiny_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_benchkit.reply import Failure, Reply

SLOTS, WINDOW = 2, 512


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[local.LocalServer]:
    with local.start(
        model,
        slots=SLOTS,
        context=WINDOW,
        threads=1,
        log=model.with_name("log"),
        say=lambda line: None,
        alias="tiny",
    ) as running:
        yield running


def ask(server: local.LocalServer, **fields: Any) -> tuple[Reply, Failure | None]:
    body = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 12,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        **fields,
    }
    stream = ChatStream()
    t0 = time.monotonic()
    with httpx.stream(
        "POST", f"{server.base_url}/v1/chat/completions", json=body, timeout=30, verify=False, trust_env=False
    ) as response:
        assert response.status_code == 200
        for data in response.iter_raw():
            stream.feed(data, time.monotonic())
        kind = response.headers["content-type"]
    return stream.close(time.monotonic(), content_type=kind, t0=t0)


def test_a_streamed_reply(server: local.LocalServer) -> None:
    reply, failure = ask(server)
    assert failure is None
    assert (reply.finish_reason, reply.usage.output_tokens, reply.usage.source) == ("length", 12, "usage")
    assert (reply.usage.input_tokens or 0) > len("hello")
    assert 0 < (reply.timing.ttft_ms or 0) <= (reply.timing.e2e_ms or 0) <= (reply.timing.end_ms or 0)
    assert set(reply.timing.server) == {
        "prompt_ms",
        "prompt_per_second",
        "predicted_ms",
        "predicted_per_second",
    }
    assert reply.system_fingerprint


def test_a_whole_reply(server: local.LocalServer) -> None:
    streamed, _ = ask(server)
    reply, failure = ask(server, stream=False, stream_options=None)
    assert failure is None
    assert "not_streamed" in reply.flags
    assert (reply.text, reply.usage.output_tokens) == (streamed.text, 12)


def test_temperature_zero_repeats_itself(server: local.LocalServer) -> None:
    texts = [
        ask(server, messages=[{"role": "user", "content": word}])[0].text for word in ("a", "bcd", "a", "bcd")
    ]
    assert texts[:2] == texts[2:]
    assert texts[0] != texts[1]


def test_discovery(server: local.LocalServer) -> None:
    facts = asyncio.run(
        discover(
            server.base_url,
            "tiny",
            headers={},
            connect_timeout=5.0,
            wait=0.0,
            verify=True,
            say=lambda line: None,
        )
    )
    assert (facts.flavour, facts.listing, facts.capacity, facts.window) == (
        "llamacpp",
        ("tiny",),
        SLOTS,
        WINDOW,
    )
    assert (facts.tokenize, facts.images, facts.trained_window) == ("/tokenize", False, 512)
    assert facts.model_file == "tiny.gguf"
    assert facts.requests <= 5


def test_the_prompt_above_the_window(server: local.LocalServer) -> None:
    body = {"model": "tiny", "messages": [{"role": "user", "content": "x" * 3 * WINDOW}]}
    answer = httpx.post(f"{server.base_url}/v1/chat/completions", json=body, verify=False, trust_env=False)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "exceed_context_size_error"
    failure = failure_of_body(400, answer.content, answer.headers["content-type"])
    assert (failure.kind, failure.window_tokens) == ("context_too_small", WINDOW)
    assert (failure.need_tokens or 0) > 3 * WINDOW


def test_it_listens_on_this_machine_only(server: local.LocalServer) -> None:
    assert server.base_url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("content", [b"", b"no model at all", None])
def test_a_bad_file(content: bytes | None, model: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(model.read_bytes()[:200_000] if content is None else content)
    with pytest.raises(ModelError) as caught:
        local.start(bad, log=tmp_path / "log", say=lambda line: None)
    assert str(bad) in str(caught.value)
    assert "error" in str(caught.value) or "fail" in str(caught.value)
    assert (tmp_path / "log").stat().st_size > 0


def _gone(pid: int, within: float) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_it_ends_with_its_parent_however_that_one_ends(model: Path, tmp_path: Path) -> None:
    program = (
        "import json, sys, time\n"
        "from pathlib import Path\n"
        "from pytest_benchkit.models import local\n"
        "s = local.start(Path(sys.argv[1]), context=512, threads=1, log=Path(sys.argv[2]), say=len)\n"
        "print(json.dumps(s.pid), flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(model), str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    pid = json.loads(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert _gone(pid, 10.0)


def test_stopping(model: Path, tmp_path: Path) -> None:
    server = local.start(model, context=512, threads=1, log=tmp_path / "log", say=lambda line: None)
    began = time.monotonic()
    server.stop()
    assert not server.alive
    assert time.monotonic() - began < local.STOP_TIMEOUT_S
