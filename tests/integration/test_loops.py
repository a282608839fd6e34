"""Replies that go round in circles: ended early, counted as 0, told in records, tables and metrics."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from typing import Any

import pytest

from tests.integration.conftest import SUITE, Project, answering
from tests.support.fakeserver import Exchange, FakeServer, Handler, delta, replying
from tests.support.loop_texts import SENTENCE
from tests.support.screen import run_in_terminal

CHUNKS = 20_000
"""More than any limit: a loop is over because the client closed it."""


def circling(
    *questions: str, field: str = "content", times: int = CHUNKS, wait: float = 0.0, always: bool = False
) -> Handler:
    """Goes in circles at these questions (at all, if none is given), and answers the others rightly."""

    async def chat(exchange: Exchange) -> None:
        prompt = exchange.request.prompt
        asked = "+" in prompt and (not questions or any(question in prompt for question in questions))
        if not asked and not always:
            await answering()(exchange)
            return
        await exchange.open_stream()
        for _ in range(times):
            await exchange.event({"choices": [{"index": 0, "delta": {field: SENTENCE}}]})
            await asyncio.sleep(wait)
        await exchange.event(delta("", finish_reason="stop"))
        await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    return chat


def run(project: Project, server: FakeServer, *args: str) -> pytest.RunResult:
    return project.run(f"--bench-model=m@{server.url}", "--bench-inflight=4", *args, "bench_sums.py")


def metrics(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = project.results()["results"][0]["metrics"]
    return found


def closed(server: FakeServer) -> int:
    """Requests whose close the server has seen; it may take a moment to write into it."""
    deadline = time.monotonic() + 5
    while server.counts.open_chats and time.monotonic() < deadline:
        time.sleep(0.01)
    return server.counts.closed_early


@pytest.mark.parametrize(("field", "channel"), [("content", "answer"), ("reasoning_content", "thinking")])
def test_a_loop_is_ended_and_counts_as_a_miss(project: Project, field: str, channel: str) -> None:
    with FakeServer(circling("5+5", field=field)) as server:
        result = run(project, server)
        assert closed(server) == 1
    assert result.ret == pytest.ExitCode.OK
    (record,) = (r for r in project.records() if r["outcome"] == "loop_killed")
    assert (record["detail"], record["score"]) == ("exact_cycle", 0.0)
    words = f"16 words and marks came 71 times on end in the {channel}"
    assert record["reason"] == f"exact_cycle: {words}"
    assert record["error"] == {
        "kind": "exact_cycle",
        "message": words,
        "retryable": False,
        "where": "/v1/chat/completions",
    }
    loop = record["loop"]
    assert (loop["state"], loop["killed"], loop["channel"]) == ("looping", True, channel)
    assert (loop["period"], loop["repetitions"], loop["onset"], loop["killed_at"]) == (16, 71, 0, 1149)
    assert record["reply"][channel].startswith(SENTENCE * 71)
    assert record["ask"]["tries"] == 1
    others = [r for r in project.records() if r is not record and r["outcome"] == "correct"]
    assert len(others) == 11
    assert {r["loop"]["state"] for r in others} == {"observing"}
    found = metrics(project)
    assert found["score"] == pytest.approx(11 / 12)
    assert (found["n_loop_killed"], found["loop_rate"]) == (1, pytest.approx(1 / 12))
    assert found["loop_kill_rate"] == pytest.approx(1 / 12)
    assert (found["recovered"], found["suspected"]) == (0, 0)
    assert found["trace_coverage"] == pytest.approx((channel == "thinking") / 12)
    assert found["speed_samples"] == 11
    result.stdout.fnmatch_lines(["*suite*  loop  *"])


@pytest.mark.parametrize("how", ["option", "environment", "suite", "longer"])
def test_a_loop_may_be_let_go_on(project: Project, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    words = {"option": "--bench-loop-kill=off", "longer": "--bench-loop-kill=9000"}.get(how)
    if how == "environment":
        monkeypatch.setenv("BENCHKIT_LOOP_KILL", "off")
    if how == "suite":
        project.suite(12, SUITE.replace('key = "sums"', 'key = "sums"\n    loop_kill = False'))
    with FakeServer(circling("5+5", times=200)) as server:
        result = run(project, server, *([words] if words else []))
        assert closed(server) == 0
    assert result.ret == pytest.ExitCode.OK
    (record,) = (r for r in project.records() if r["loop"]["state"] == "looping")
    assert (record["outcome"], record["loop"]["killed"]) == ("incorrect", False)
    assert record["loop"]["repetitions"] == 200
    assert "killed_at" not in record["loop"]
    found = metrics(project)
    assert (found["n_loop_killed"], found["loop_kill_rate"]) == (0, 0.0)
    assert found["loop_rate"] == pytest.approx(1 / 12)


def test_a_wrong_value_is_refused(project: Project, server: FakeServer) -> None:
    result = run(project, server, "--bench-loop-kill=maybe")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench-loop-kill is 'maybe'; it takes on, off, or a number*"])


def test_many_loops_in_a_row_stop_nothing(project: Project) -> None:
    with FakeServer(circling()) as server:
        result = run(project, server)
        assert closed(server) == 12
    assert result.ret == pytest.ExitCode.OK
    assert [r["outcome"] for r in project.records()] == ["loop_killed"] * 12
    assert metrics(project)["score"] == 0.0


def test_a_resume_asks_no_loop_again(project: Project) -> None:
    with FakeServer(circling("5+5")) as server:
        run(project, server)
        asked, before = server.counts.chat, project.results()["results"]
        result = run(project, server, f"--bench-resume={project.newest.name}", "--bench-warmup=0")
        assert server.counts.chat == asked
        assert result.ret == pytest.ExitCode.OK
        assert project.results()["results"] == before
        result = run(project, server, f"--bench-resume={project.newest.name}", "--bench-loop-kill=off")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*loop_kill was 1024, is 0*"])


def test_a_replay_keeps_the_kill(project: Project) -> None:
    with FakeServer(circling()) as server:
        run(project, server)
    before, source = project.records(), project.newest
    result = project.run("--bench-model=m", f"--bench-replay={source.name}", "bench_sums.py")
    assert result.ret == pytest.ExitCode.OK
    after = project.records()
    assert project.newest != source
    for name in ("outcome", "detail", "loop", "reason"):
        assert sorted(str(r[name]) for r in after) == sorted(str(r[name]) for r in before)


def test_a_repair_round_is_watched_too(project: Project) -> None:
    async def answers(exchange: Exchange) -> None:
        again = len(exchange.request.json["messages"]) > 1
        await (circling_always if again else replying("3"))(exchange)

    circling_always = circling(always=True)
    with FakeServer(answers) as server:
        result = run(project, server, "--bench-repair-attempts=3")
        assert closed(server) == 12
    assert result.ret == pytest.ExitCode.OK
    for record in project.records():
        assert (record["outcome"], record["loop"]["state"]) == ("incorrect", "observing")
        first, second = record["attempts"]
        assert (first["loop"]["state"], first["outcome"]) == ("observing", "incorrect")
        assert (second["loop"]["killed"], second["outcome"]) == (True, "loop_killed")


def test_under_xdist(project: Project) -> None:
    with FakeServer(circling("5+5", "8+8")) as server:
        result = run(project, server, "-n2")
        assert closed(server) == 2
    assert result.ret == pytest.ExitCode.OK
    killed = [r["task_id"] for r in project.records() if r["outcome"] == "loop_killed"]
    assert sorted(killed) == ["05", "08"]
    assert metrics(project)["loop_kill_rate"] == pytest.approx(2 / 12)


def test_without_streaming_the_loop_is_told(project: Project) -> None:
    async def chat(exchange: Exchange) -> None:
        message = {"role": "assistant", "content": SENTENCE * 200}
        await exchange.json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    with FakeServer(chat) as server:
        run(project, server, "--bench-stream=off")
    assert {r["outcome"] for r in project.records()} == {"incorrect"}
    assert {r["loop"]["state"] for r in project.records()} == {"looping"}


def test_the_live_line_counts_down(project: Project) -> None:
    with FakeServer(circling("5+5", wait=0.02)) as server:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "bench_sums.py"]
        words = (f"--bench-model=m@{server.url}", "--bench-inflight=4")
        found = run_in_terminal([*command, *words], project.pytester.path, columns=100, rows=24)
    assert found.ret == 0, found.raw
    told = [
        int(match[1])
        for display in found.seen
        for line in display
        if (match := re.search(r"loop ends in (\d+)", line))
    ]
    assert len(set(told)) > 1
    assert told == sorted(told, reverse=True)
    assert max(told) <= 1024
