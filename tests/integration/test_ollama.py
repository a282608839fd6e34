"""Ollama by its own API: one window for a whole run, and models that leave when their tasks are done."""

from __future__ import annotations

import itertools
import statistics
import time

import pytest

from tests.integration.conftest import SUITE, Project
from tests.support.fakeserver import FakeServer
from tests.support.ollama import FakeOllama


def double(prompt: str) -> str:
    number = prompt.rsplit("+", maxsplit=1)[-1].rstrip("?")
    return str(2 * int(number)) if number.isdigit() else "OK"


def run(project: Project, server: FakeServer, *args: str) -> pytest.RunResult:
    return project.run(f"--bench-model=m@{server.url}", *args, "bench_sums.py")


def test_found_by_itself_and_asked_natively(project: Project) -> None:
    with FakeOllama(double) as server:
        result = run(project, server)
    assert result.ret == 0
    assert server.counts.chat == 0  # nothing went to the façade
    assert len(server.chats) == 13  # twelve rows and the warm-up
    assert len(server.log) == 14  # and the model was loaded once
    asked = ("/v1/models", "/api/version", "/api/tags", "/api/ps", "/api/show")
    assert {path: server.counts.other.get(path) for path in asked} == dict.fromkeys(asked, 1)
    for record in project.records():
        assert record["outcome"] == "correct"
        assert record["usage"]["source"] == "usage"
        assert record["timing"]["server"]["eval_duration"] == 2e9
        assert record["timing"]["ttft_ms"] > 0
    model = project.info()["models"][0]
    assert (model["flavour"], model["digest"], model["trained_window"]) == ("ollama", "sha-m:latest", 40960)


def test_one_request_at_a_time_leaves_no_pause_between_two(project: Project) -> None:
    project.suite(40)
    times: list[float] = []

    def timed(prompt: str) -> str:
        times.append(time.monotonic())
        return double(prompt)

    with FakeOllama(timed) as server:
        assert run(project, server, "--bench-warmup=0").ret == 0
    assert statistics.median(b - a for a, b in itertools.pairwise(times)) < 0.05


def test_one_window_a_run_large_enough_and_in_run_json(project: Project) -> None:
    long = SUITE.replace('f"What is {task[', 'f"{str() if task.index else chr(97) * 9000}What is {task[')
    project.suite(12, long)
    with FakeOllama(double) as server:
        assert run(project, server, "--bench-max-tokens=1000").ret == 0
        assert server.windows == {8192}  # 9,000 letters may be 4,500 tokens, and 1,000 for the reply
        model = project.info()["models"][0]
        assert (model["num_ctx"], model["window"]) == (8192, 8192)
        again = run(project, server, "--bench-max-tokens=1000", "-k", "not 00", "--bench-inflight=3")
        assert again.ret == 0
    assert server.windows == {8192, 4096}  # rows that are not asked need no room
    assert {chat["options"]["num_predict"] for chat in server.chats} == {8, 1000}
    assert {chat["keep_alive"] for chat in server.chats} == {"30m"}


def test_every_worker_sends_the_same_window(project: Project) -> None:
    with FakeOllama(double) as server:
        assert run(project, server, "-n2", "--bench-inflight=4").ret == 0
    assert server.windows == {20480}
    assert sum(entry.startswith("load") for entry in server.log) == 1


def test_the_window_is_at_most_the_models_own(project: Project) -> None:
    with FakeOllama(double, window=2048) as server:
        result = run(project, server, "--bench-context=99999")
    assert server.windows == {2048}
    result.stdout.fnmatch_lines(["*m: its window is 2048 tokens, not the 99999 asked for*"])
    # a reply past the window would push the prompt out of it
    assert max(chat["options"]["num_predict"] for chat in server.chats) < 2048


def test_a_resumed_run_keeps_its_window(project: Project) -> None:
    with FakeOllama(double) as server:
        run(project, server, "--bench-context=3000", "-k", "01 or 02")
        assert len(server.chats) == 3
        run(project, server, f"--bench-resume={project.newest}")
        assert len(server.chats) == 13
    assert server.windows == {3000}
    assert len(project.records()) == 12


def test_a_window_in_extra_body_is_refused(project: Project) -> None:
    with FakeOllama(double) as server:
        result = run(project, server, '--bench-extra-body={"options": {"num_ctx": 512}}')
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert server.chats == []
    result.stderr.fnmatch_lines(["*options.num_ctx*context*"])


def test_an_answer_that_only_loads_is_asked_again(project: Project) -> None:
    with FakeOllama(double, loads_first=True) as server:
        assert run(project, server, "--bench-warmup=0").ret == 0
    assert len(server.chats) == 13
    retried = [record["ask"]["retries"] for record in project.records() if record["ask"].get("retries")]
    assert [retry["cause"] for retries in retried for retry in retries] == ["empty_body"]


def test_provider_openai_reaches_the_facade(project: Project, server: FakeServer) -> None:
    ollama = FakeOllama(double)
    server.models = ["m:latest"]
    server.routes = ollama.routes
    assert run(project, server, "--bench-provider=openai").ret == 0
    assert server.counts.chat == 13
    assert ollama.chats == []
    assert "/api/version" not in server.counts.other


def test_an_unknown_model_is_told_with_the_names(project: Project) -> None:
    with FakeOllama(double, names=["qwen3:8b", "llama3:8b"]) as server:
        server.models = ["qwen3:8b", "llama3:8b"]
        result = project.run(f"--bench-model=qwen3@{server.url}", "--bench-provider=ollama", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*did you mean 'qwen3:8b'*"])


# ---------------------------------------------------------------------- leaving


def two(project: Project, server: FakeOllama, *args: str) -> list[str]:
    """The log of a run of the models a and b after their warm-ups."""
    models = [f"--bench-model={name}@{server.url}" for name in ("a", "b")]
    result = project.run(*models, "--bench-warmup=0", *args, "bench_sums.py")
    assert result.ret == 0
    return server.log


def fake_two() -> FakeOllama:
    return FakeOllama(double, names=["a:latest", "b:latest"])


def test_a_model_leaves_before_the_next_is_loaded(project: Project) -> None:
    with fake_two() as server:
        log = two(project, server)
    a = ["load a:latest 20480", *["chat a:latest"] * 12, "unload a:latest"]
    b = ["load b:latest 20480", *["chat b:latest"] * 12]
    assert log == [*a, *b]


def test_never_and_always(project: Project) -> None:
    with fake_two() as server:
        assert not [entry for entry in two(project, server, "--bench-unload=never") if "unload" in entry]
    with fake_two() as server:
        log = two(project, server, "--bench-unload=always")
    assert [entry for entry in log if "unload" in entry] == ["unload a:latest", "unload b:latest"]
    assert log[-1] == "unload b:latest"


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_always_holds_for_a_single_model_and_is_shown(project: Project, workers: str) -> None:
    with FakeOllama(double) as server:
        words = ("--bench-unload=always", "--bench-inflight=4", workers)
        result = run(project, server, *words)
        assert server.log.count("unload m:latest") == 1
        assert server.log[-1] == "unload m:latest"
        result.stdout.fnmatch_lines(["*m: unloaded*"])
        if workers == "-n0":
            run(project, server, *words, f"--bench-resume={project.newest}")
            assert server.log.count("unload m:latest") == 1  # nothing was asked, nothing is sent


def test_a_model_that_stays_is_a_warning(project: Project) -> None:
    with FakeOllama(double, keeps=True) as server:
        result = run(project, server, "--bench-unload=always")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*m: could not be unloaded: HTTP 500 at /api/generate*cannot unload*"])


def test_the_same_model_under_two_names_stays(project: Project) -> None:
    table = '[tool.pytest-benchkit.models.{0}]\nmodel = "m"\nbase_url = "{1}"\n'
    with FakeOllama(double) as server:
        text = "".join(table.format(name, server.url) for name in ("a", "b"))
        (project.pytester.path / "pyproject.toml").write_text(text)
        assert project.run("--bench-model=a", "--bench-model=b", "bench_sums.py").ret == 0
    assert not [entry for entry in server.log if "unload" in entry]
