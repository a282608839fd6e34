"""Servers that refuse, stumble, stall or lie: what the run says, stores and exits with."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from tests.integration.conftest import SUITE, Project, answering
from tests.support.fakeserver import Exchange, FakeServer, delta, replying


def run(project: Project, server: FakeServer, *args: str) -> pytest.RunResult:
    return project.run(f"--bench-model=m@{server.url}", "--bench-inflight=4", *args, "bench_sums.py")


def test_dead_port_is_told_soon_with_host_and_port(project: Project) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    started = time.monotonic()
    result = project.run(f"--bench-model=m@http://127.0.0.1:{port}", "bench_sums.py")
    assert time.monotonic() - started < 7
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*127.0.0.1 port {port}*"])
    assert project.runs == []


def test_unknown_model_names_the_closest(project: Project) -> None:
    with FakeServer(models=["qwen3:8b", "llama3"]) as server:
        result = project.run(f"--bench-model=qwen3:8@{server.url}", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*did you mean 'qwen3:8b'*"])
    assert server.counts.chat == 0


async def _refuse(exchange: Exchange) -> None:
    await exchange.json({"error": {"message": "Incorrect API key provided: sk-bad"}}, 401)


def test_refused_key_stops_at_once_with_the_servers_words(project: Project) -> None:
    project.suite(1000)
    with FakeServer(_refuse) as server:
        started = time.monotonic()
        result = run(project, server)
        seconds = time.monotonic() - started
    assert server.counts.chat <= 4
    assert seconds < 8
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*HTTP 401*Incorrect API key provided*"])
    assert project.records() == []
    info = project.info()
    assert info["complete"] is False
    assert sum(info["not_asked"].values()) == 1000


def test_one_moderated_prompt_does_not_end_the_run(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        if "5+5" in exchange.request.prompt:
            await exchange.json({"error": {"message": "flagged"}}, 403)
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server)
    outcomes = [r["outcome"] for r in project.records()]
    assert outcomes.count("correct") == 11
    assert outcomes.count("harness_error") == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("status", [500, 503, 429])
def test_busy_answers_are_tried_again_and_told(project: Project, status: int) -> None:
    async def chat(exchange: Exchange) -> None:
        if exchange.request.number % 2 == 0:
            await exchange.json({"error": {"message": "busy"}}, status)
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-retries=6")
    assert result.ret == 0
    records = project.records()
    assert {r["outcome"] for r in records} == {"correct"}
    retries = [retry for r in records for retry in r["ask"].get("retries", [])]
    assert len(retries) == server.counts.chat - 13
    assert {retry["cause"] for retry in retries} == {f"http_{status}"}


def test_no_retries_means_one_request_each(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "down"}}, 503)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-retries=0", "--bench-warmup=0", "--bench-max-errors=100")
    assert server.counts.chat <= 12
    assert {r["detail"] for r in project.records()} == {"http_503"}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_retry_after_holds_everyone_back(project: Project) -> None:
    times: list[float] = []

    async def chat(exchange: Exchange) -> None:
        times.append(time.monotonic())
        if exchange.request.number == 1:
            await exchange.json({"error": {"message": "slow down"}}, 429, ["Retry-After: 2"])
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-warmup=0")
    assert result.ret == 0
    in_between = [t for t in times if times[0] + 0.2 < t < times[0] + 1.9]
    assert in_between == []


def test_a_wait_beyond_the_limit_ends_the_models_part(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "quota"}}, 429, ["Retry-After: 7200"])

    with FakeServer(chat) as server:
        started = time.monotonic()
        result = run(project, server, "--bench-warmup=0")
        assert time.monotonic() - started < 6
    assert server.counts.chat <= 4
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert {r["detail"] for r in project.records()} == {"rate_limited"}


def test_dropped_streams_are_errors_never_answers(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        if exchange.request.number % 2 == 0:
            await exchange.open_stream()
            await exchange.event(delta("14"))
            await exchange.drop()
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-max-errors=100")
    dropped = [r for r in project.records() if r["outcome"] == "harness_error"]
    assert dropped
    assert {r["detail"] for r in dropped} == {"stream_dropped"}
    assert all("score" not in r for r in dropped)
    assert all(r["ask"]["tries"] == 1 for r in dropped)  # output had begun: never replayed
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_cut_reply_is_truncated(project: Project) -> None:
    with FakeServer(replying("I think that", finish="length")) as server:
        result = run(project, server)
    assert {(r["outcome"], r["detail"]) for r in project.records()} == {("truncated", "max_tokens")}
    assert result.ret == 0


def test_a_slow_reply_times_out_and_stays_in_the_denominator(project: Project) -> None:
    project.suite(2)
    with FakeServer(answering(delay=30)) as server:
        result = run(project, server, "--bench-timeout=0.5", "--bench-warmup=0")
    assert {(r["outcome"], r["detail"]) for r in project.records()} == {("timed_out", "request")}
    assert result.ret == 0
    assert all(r["score"] == 0.0 for r in project.records())


def test_our_own_lag_is_not_charged_to_the_model(project: Project) -> None:
    """The event loop is blocked for 1.5 s by a prompt of ours while a reply of 0.3 s is on its way."""
    slow = SUITE.replace(
        'return f"What',
        'if task.id == "1":\n            import time; time.sleep(1.5)\n        return f"What',
    )
    project.suite(2, slow)
    with FakeServer(answering(delay=0.3)) as server:
        run(project, server, "--bench-timeout=1", "--bench-warmup=0", "--bench-order=collection")
    assert [r["outcome"] for r in project.records()] == ["correct", "correct"]


def test_a_refused_field_costs_one_request_and_is_told(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        if "stream_options" in exchange.request.json:
            error = {"message": "Unknown parameter: stream_options", "param": "stream_options"}
            await exchange.json({"error": error}, 400)
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server)
    assert result.ret == 0
    assert server.counts.chat == 12 + 2
    assert project.info()["models"][0]["dropped_fields"] == ["stream_options"]


def test_a_400_without_a_name_gets_one_smallest_request(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "no"}}, 400)

    project.suite(6)
    with FakeServer(chat) as server:
        result = run(project, server, "--bench-warmup=0", "--bench-max-errors=100")
    assert server.counts.chat == 7
    assert {r["detail"] for r in project.records()} == {"http_400"}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_passing_400_costs_no_field(project: Project) -> None:
    """A server that stumbles once refuses no field: seed and temperature are still sent afterwards."""

    async def chat(exchange: Exchange) -> None:
        if exchange.request.number == 1:
            await exchange.json({"error": {"message": "broken"}}, 400)
        else:
            assert exchange.request.number == 2 or "seed" in exchange.request.json
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-warmup=0", "--bench-inflight=1")
    assert result.ret == 0
    assert server.counts.chat == 12 + 3  # the stumble, the smallest body, the whole body looked at once more
    assert project.info()["models"][0]["dropped_fields"] == []


def test_context_errors_skip_the_row_and_are_told_once(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        error = {
            "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 5000,
            "n_ctx": 2048,
        }
        await exchange.json({"error": error}, 400)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-warmup=0")
    assert {(r["outcome"], r["detail"]) for r in project.records()} == {("skipped", "context_too_small")}
    assert result.parseoutcomes() == {"skipped": 12}
    told = [line for line in result.outlines if line.startswith("bench:") and "context_too_small" in line]
    assert len(told) == 1


def test_a_prompt_above_the_known_window_is_not_sent(project: Project) -> None:
    long = SUITE.replace('return f"What', 'return "word " * 400 + f"What')
    project.suite(3, long)
    with FakeServer(answering()) as server:
        result = run(project, server, "--bench-context=256", "--bench-warmup=0")
    assert server.counts.chat == 0
    assert result.parseoutcomes() == {"skipped": 3}


def test_eight_equal_errors_in_a_row_stop_the_suite(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "bad prompt"}}, 418)

    project.suite(60)
    with FakeServer(chat) as server:
        result = run(project, server, "--bench-max-errors=100%", "--bench-warmup=0")
    assert 8 <= server.counts.chat <= 8 + 5
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*8 tasks in a row ended with http_418*"])


def test_connections_are_kept_and_few(project: Project) -> None:
    project.suite(100)
    with FakeServer(answering(delay=0.005)) as server:
        run(project, server)
    chat_connections = server.counts.connections - 4  # discovery and warm-up have their own
    assert chat_connections <= 4 + 1
    assert server.counts.peak <= 4


def test_slots_are_never_exceeded_with_more_workers_than_slots(project: Project) -> None:
    project.suite(24)
    with FakeServer(answering(delay=0.05)) as server:
        model = f"--bench-model=m@{server.url}"
        result = project.run(model, "--bench-inflight=2", "-n", "4", "bench_sums.py", process=True)
    assert result.ret == 0
    assert server.counts.peak <= 2
    assert len(project.records()) == 24


def test_a_scorer_that_sleeps_does_not_starve_the_server(project: Project) -> None:
    slow = SUITE.replace("found = reply", "import time; time.sleep(0.5)\n        found = reply")
    project.suite(32, slow)
    with FakeServer(answering(delay=0.2)) as server:
        started = time.monotonic()
        run(project, server)
        seconds = time.monotonic() - started
    # 32 x 0.2 s over 4 slots is 1.6 s; scoring one after the other would add 16 s
    assert seconds < 6
    assert server.counts.peak == 4


def test_keys_never_reach_disk_or_screen(
    project: Project, monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    canary = "sk-canary-7f3a91"
    monkeypatch.setenv("LAB_KEY", canary)
    (project.pytester.path / "pyproject.toml").write_text(
        f"[tool.pytest-benchkit.models.m]\nbase_url = '{server.url}'\napi_key_env = 'LAB_KEY'\n"
    )
    result = project.run("--bench-model=m", "bench_sums.py", "-v")
    assert result.ret == 0
    assert {h.get("authorization") for h in server.counts.headers} == {f"Bearer {canary}"}
    stored = b"".join(p.read_bytes() for p in project.newest.rglob("*") if p.is_file())
    assert canary.encode() not in stored
    assert canary not in result.stdout.str() + result.stderr.str()
    assert "set (from environment LAB_KEY)" in (project.newest / "run.json").read_text()


def test_openai_key_goes_to_its_own_endpoint_only(
    project: Project, monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    run(project, server)
    assert all("authorization" not in h for h in server.counts.headers)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    project.run("--bench-model=m", "bench_sums.py")
    assert server.counts.headers[-1]["authorization"] == "Bearer sk-mine"


def test_a_reset_before_any_byte_is_tried_again(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        if exchange.request.number == 3:
            await exchange.drop()
            await asyncio.sleep(0)
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        result = run(project, server, "--bench-warmup=0")
    assert result.ret == 0
    assert {r["outcome"] for r in project.records()} == {"correct"}


def test_a_kept_connection_that_the_server_closed_is_no_retry(project: Project) -> None:
    """llama.cpp closes idle connections after some seconds; the next request must not pay for it."""

    async def chat(exchange: Exchange) -> None:
        await answering()(exchange)
        await asyncio.sleep(0.01)
        exchange.writer.close()

    with FakeServer(chat) as server:
        run(project, server, "--bench-inflight=1", "--bench-warmup=0")
    records = project.records()
    assert {r["outcome"] for r in records} == {"correct"}
    assert all("retries" not in r["ask"] for r in records)


def test_a_hold_seen_by_one_worker_holds_all(project: Project) -> None:
    project.suite(40)
    times: list[float] = []
    refused: list[float] = []

    async def chat(exchange: Exchange) -> None:
        now = time.monotonic()
        times.append(now)
        if len(times) == 8:
            refused.append(now)
            await exchange.json({"error": {"message": "slow down"}}, 429, ["Retry-After: 2"])
        else:
            await answering(delay=0.05)(exchange)

    with FakeServer(chat) as server:
        words = ["--bench-warmup=0", "--bench-inflight=4", "-n", "4", "bench_sums.py"]
        result = project.run(f"--bench-model=m@{server.url}", *words, process=True)
    assert result.ret == 0
    # what was already on its way may still arrive
    assert [t for t in times if refused[0] + 0.3 < t < refused[0] + 1.8] == []
    assert server.counts.chat == 41


def test_first_token_time_is_that_of_the_first_text(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        await exchange.open_stream()
        await exchange.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        await asyncio.sleep(0.4)
        await exchange.event(delta("14"))
        await asyncio.sleep(0.2)
        await exchange.event(delta(" apples", finish_reason="stop"))
        await exchange.event({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 3}})
        await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    project.suite(4)
    with FakeServer(chat) as server:
        run(project, server)
    for record in project.records():
        timing = record["timing"]
        assert 395 <= timing["ttft_ms"] <= 500
        assert 595 <= timing["e2e_ms"] <= 750
        assert 8 <= timing["decode_tok_s"] <= 10.2
