"""``benchkit doctor``: each line in each of its states, on real servers and made-up machines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_benchkit.cli import main
from pytest_benchkit.engine import checkup
from pytest_benchkit.sandbox import probe
from tests.integration.test_decision_models import perfect, serving
from tests.support.fakeserver import Exchange, FakeServer, replying
from tests.support.ollama import FakeOllama


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def checks(
    capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, dict[tuple[str, str], dict[str, str]]]:
    code = main(["doctor", "--json", *words])
    found = json.loads(capsys.readouterr().out)["checks"]
    return code, {(check["section"], check["name"]): check for check in found}


def llama(*, turns: bool = True, clock: bool = False) -> FakeServer:
    """A server that answers like llama.cpp, whose template is good, loses the system turn, or has a clock."""
    count = {"n": 0}

    async def props(exchange: Exchange) -> None:
        await exchange.json({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 3})

    async def render(exchange: Exchange) -> None:
        count["n"] += 1
        body = exchange.request.json
        shown = body["messages"] if turns else body["messages"][1:]
        text = "".join(f"<{m['role']}>{m['content']}" for m in shown)
        thinking = (body.get("chat_template_kwargs") or {}).get("enable_thinking")
        opener = "<assistant>" + ("<think>" if thinking else "")
        await exchange.json({"prompt": text + opener + (str(count["n"]) if clock else "")})

    return FakeServer(replying("OK"), routes={"/props": props, "/apply-template": render})


def test_a_good_server(capsys: pytest.CaptureFixture[str]) -> None:
    with llama() as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
        assert server.counts.chat == 1
    assert code == 0
    assert "llamacpp" in found["endpoint", "m"]["seen"]
    assert found["endpoint", "capacity"]["seen"] == "3 (/props total_slots)"
    assert found["reply", "8 tokens"]["state"] == "pass"
    assert found["reply", "usage"]["state"] == "pass"
    assert found["template", "turns"]["state"] == "pass"
    assert found["template", "stable"]["state"] == "pass"
    assert found["template", "thinking switch"]["seen"] == "changes the rendering"


def test_templates_with_faults(capsys: pytest.CaptureFixture[str]) -> None:
    with llama(turns=False) as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
    assert code == 1
    assert found["template", "turns"]["seen"] == "the system turn is missing"
    with llama(clock=True) as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
    assert code == 0
    assert found["template", "stable"]["state"] == "warn"


def test_a_plain_server_and_a_dead_one(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(replying("OK", usage=False)) as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
    assert code == 0
    assert found["reply", "usage"]["state"] == "warn"
    assert found["endpoint", "window"]["state"] == "warn"
    assert found["template", "m"]["state"] == "n/a"
    code, found = checks(capsys, f"--bench-model=m@{server.url}")
    assert code == 1
    assert "no model server at 127.0.0.1" in found["endpoint", "m"]["seen"]
    assert ("reply", "m") not in found


def test_a_server_that_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(lambda exchange: exchange.json({"error": "no key"}, 401)) as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
    assert code == 1
    assert found["reply", "m"]["state"] == "fail"


def test_settings_and_their_origins(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHKIT_TEMPERATURE", "0.5")
    monkeypatch.setenv("BENCHKIT_TEMPRATURE", "0.5")
    _, found = checks(capsys, "--bench-model=demo")
    assert found["settings", "demo temperature"]["seen"] == "0.5 from BENCHKIT_TEMPERATURE"
    assert found["settings", "BENCHKIT_TEMPRATURE"]["todo"] == "did you mean BENCHKIT_TEMPERATURE?"
    assert found["endpoint", "demo"]["state"] == "n/a"
    _, everything = checks(capsys, "--bench-model=demo", "--settings")
    assert len(everything) > len(found) + 10


def test_a_suite_that_a_decision_model_cannot_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(perfect) as server:
        word = f"--bench-model=m@{server.url}"
        code, found = checks(capsys, word, "--suite=gsm8k")
        assert code == 1
        assert "m is a decision model, and the suite has nothing to decide" in found["data", "m"]["seen"]
        _, found = checks(capsys, word, "--suite=boolq")
        assert ("data", "m") not in found


def test_advice_is_of_options_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(replying("OK")) as server:
        url = server.url
    _, found = checks(capsys, f"--bench-model=m@{url}")
    check = found["endpoint", "m"]
    assert "run with --bench-wait=S" in check["seen"]  # an option of the run, not of doctor
    assert check["todo"] == "for another server: --bench-model=NAME@URL"


def test_rows_that_will_be_skipped_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_benchkit.datasets.ruler.source import Ruler
    from pytest_benchkit.task import DataState

    state = DataState("installed", "generated", 1, gaps=["squad is missing; rows that need it are skipped"])
    monkeypatch.setattr(Ruler, "state", lambda self: state)
    _, found = checks(capsys, "--suite=ruler")
    assert found["data", "ruler"]["state"] == "pass"
    assert found["data", "ruler gap"]["state"] == "warn"
    assert "rows that need it are skipped" in found["data", "ruler gap"]["seen"]


def test_data_and_isolation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path / "cache"))
    code, found = checks(capsys, "--suite", "humaneval", "--suite", "arc")
    assert code == 1
    assert "benchkit datasets install humaneval" in found["data", "humaneval"]["seen"]
    monkeypatch.setattr(probe, "isolation", lambda: probe.Isolation(None, "none works here"))
    code, found = checks(capsys, "--suite", "humaneval")
    assert found["sandbox", "isolation"]["state"] == "fail"
    assert "rows of humaneval will be skipped" in found["sandbox", "isolation"]["seen"]
    _, found = checks(capsys)
    assert found["sandbox", "isolation"]["state"] == "warn"
    assert main(["doctor", "--suite", "nope"]) == 2


def test_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def machine() -> dict[str, Any]:
        return {check.name: check.state for check in checkup.machine_checks(tmp_path)}

    assert machine()["disk"] == "pass"
    monkeypatch.setattr(checkup, "LEAST_FREE", 1 << 60)
    assert machine()["disk"] == "fail"
    monkeypatch.setattr(os, "getloadavg", lambda: (999.0, 0.0, 0.0))
    assert machine()["cores"] == "warn"


def test_it_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--bench-model=demo"]) in (0, 1)
    text = capsys.readouterr().out
    assert text.startswith("settings\n  pass  settings")
    assert "\nmachine\n  " in text
    assert text.splitlines()[-1].split(" ")[1].startswith("pass")


def test_ollama_tells_the_window_that_it_will_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOllama(lambda prompt: "OK") as server:
        code, found = checks(capsys, f"--bench-model=m@{server.url}")
        assert server.windows == {20480}
    assert code == 0
    assert found["endpoint", "window"]["seen"] == "20480 (num_ctx of each request)"
    assert found["reply", "server's own timings"]["state"] == "pass"
