"""``--bench-repair-attempts``: a missed task is asked again; the score stays that of the first answers."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.integration.conftest import SUITE, Project
from tests.integration.test_killed import start, wait_until
from tests.support.fakeserver import Exchange, FakeServer, Request, replying

WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]


def rounds_of(request: Request) -> int:
    """Repair rounds before this request: it has a turn of the model's in each."""
    return sum(message["role"] == "assistant" for message in request.json["messages"])


def right_in_round(number: int) -> Any:
    """Answers ``What is n+n?`` wrongly at first; even ones are right in the repair round of that number."""
    asked: dict[int, int] = {}

    def answer(request: Request) -> str:
        question = request.json["messages"][0]["content"]
        n = int(question.split("+")[-1].rstrip("?"))
        asked[n] = asked.get(n, 0) + 1
        return str(2 * n) if n % 2 == 0 and asked[n] > number else f"wrong {asked[n]}"

    return replying(answer)


def line(server: FakeServer, *words: str) -> tuple[str, ...]:
    return ("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-warmup=0", *words)


@pytest.mark.parametrize("workers", WAYS)
def test_rounds_stand_beside_the_score(project: Project, workers: tuple[str, ...]) -> None:
    with FakeServer(right_in_round(2)) as server:
        words = line(server, "--bench-repair-attempts=3", *workers)
        result = project.run(*words, process=bool(workers))
        assert server.counts.chat == 12 + 6 * 2 + 6 * 3
    assert result.parseoutcomes() == {"missed": 12}
    records = {record["index"]: record for record in project.records()}
    assert len(records) == 12
    even, odd = records[4], records[5]
    assert (even["score"], even["outcome"], even["reply"]["answer"]) == (0.0, "incorrect", "wrong 1")
    assert [a["reply"]["answer"] for a in even["attempts"]] == ["wrong 1", "wrong 2", "8"]
    assert [a["score"] for a in even["attempts"]] == [0.0, 0.0, 1.0]
    assert [a.get("feedback") for a in even["attempts"]] == ["Your answer was marked wrong."] * 2 + [None]
    assert [a["number"] for a in odd["attempts"]] == [0, 1, 2, 3]
    assert all("repair_unfinished" not in record["flags"] for record in records.values())
    metrics = project.results()["results"][0]["metrics"]
    assert (metrics["score"], metrics["repaired_score"]) == (0.0, 0.5)
    assert (metrics["repair_turns"], metrics["requests"]) == (30, 42)
    assert "score after each repair round 0.0 → 0.0 → 50.0 → 50.0" in result.stdout.str()


def test_the_setting_never_moves_the_score(project: Project) -> None:
    tables = []
    for rounds in ("0", "3"):
        project.run("bench_sums.py", "--bench-model=demo:0.5", f"--bench-repair-attempts={rounds}")
        tables.append(project.results()["results"][0]["metrics"])
    assert tables[0]["score"] == tables[1]["score"]
    assert tables[1]["repaired_score"] > tables[1]["score"]
    assert "repaired_score" not in tables[0]


def test_an_error_in_a_round_keeps_the_first_answer(project: Project) -> None:
    async def answer(exchange: Exchange) -> None:
        if rounds_of(exchange.request):
            await exchange.json({"error": {"message": "too long"}}, 400)
        else:
            await replying("wrong")(exchange)

    project.suite(3)
    with FakeServer(answer) as server:
        result = project.run(*line(server, "--bench-repair-attempts=2"))
    assert result.parseoutcomes() == {"missed": 3}
    for record in project.records():
        assert record["outcome"] == "incorrect"
        assert "error" not in record
        assert [a["outcome"] for a in record["attempts"]] == ["incorrect", "harness_error"]
        assert "repair_unfinished" in record["flags"]
    metrics = project.results()["results"][0]["metrics"]
    assert (metrics["repaired_score"], metrics["repair_unfinished"]) == (0.0, 3)
    assert "3 ended early" in result.stdout.str()


def test_an_interrupted_round_keeps_the_first_answer(project: Project) -> None:
    async def answer(exchange: Exchange) -> None:
        if rounds_of(exchange.request):
            await exchange.open_stream()  # never ends
        else:
            await replying("wrong")(exchange)

    project.suite(2)
    with FakeServer(answer) as server:
        process = start(project, *line(server, "--bench-repair-attempts=1", "--bench-run-dir=r"))
        wait_until(lambda: server.counts.chat == 4)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    records = project.records(project.pytester.path / "r")
    assert len(records) == 2, output
    assert all(record["outcome"] == "incorrect" for record in records)
    assert all("repair_unfinished" in record["flags"] for record in records)


def test_a_replay_reads_the_rounds_again(project: Project) -> None:
    with FakeServer(right_in_round(1)) as server:
        project.run(*line(server, "--bench-repair-attempts=2", "--bench-run-dir=r"))
    first = project.results(project.pytester.path / "r")["results"][0]["metrics"]
    project.run("bench_sums.py", "--bench-replay=r", "--bench-repair-attempts=2")
    again = project.results()["results"][0]["metrics"]
    for name in ("score", "repaired_score", "repair_turns", "repair_successes", "output_tokens"):
        assert again[name] == first[name], name


def test_the_deadline_of_a_task_spans_its_rounds_but_not_its_scoring(project: Project) -> None:
    slow = SUITE.replace("found = reply", "import time; time.sleep(0.7)\n        found = reply")
    project.suite(1, slow)
    with FakeServer(replying("wrong", delay=0.2)) as server:
        words = line(server, "--bench-repair-attempts=10", "--bench-task-timeout=0.9")
        project.run(*words)
    [record] = project.records()
    assert record["outcome"] == "incorrect"
    assert record["attempts"][-1]["detail"] == "task"
    assert 3 <= len(record["attempts"]) <= 7
    assert "--bench-task-timeout=0.9" in record["attempts"][-1]["error"]["message"]


def test_a_task_deadline_alone(project: Project) -> None:
    project.suite(1)
    with FakeServer(replying("2", delay=0.5, chunks=4)) as server:
        project.run(*line(server, "--bench-task-timeout=0.3"))
    [record] = project.records()
    assert (record["outcome"], record["detail"]) == ("timed_out", "task")


def test_models_of_one_server_still_take_turns(project: Project) -> None:
    order: list[str] = []

    def answer(request: Request) -> str:
        order.append(request.json["model"])
        return "wrong"

    project.suite(4)
    with FakeServer(replying(answer), models=["a", "b"]) as server:
        names = [f"--bench-model={name}@{server.url}" for name in "ab"]
        project.run("bench_sums.py", *names, "--bench-warmup=0", "--bench-repair-attempts=2")
    assert order == ["a"] * 12 + ["b"] * 12


@pytest.mark.parametrize("value", ["-1", "11", "many"])
def test_bad_numbers(project: Project, value: str) -> None:
    result = project.run("bench_sums.py", "--bench-model=demo", f"--bench-repair-attempts={value}")
    assert result.ret == 4
    assert "a number from 0 to 10" in result.stderr.str()


def test_a_run_of_before_there_were_rounds_can_be_resumed(project: Project) -> None:
    project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-run-dir=r")
    path = project.pytester.path / "r" / "run.json"
    info = json.loads(path.read_text())
    del info["models"][0]["repair"]
    path.write_text(json.dumps(info))
    result = project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-resume=r")
    assert result.ret == 0
    assert result.parseoutcomes() == project.run("bench_sums.py", "--bench-model=demo:0.5").parseoutcomes()


def test_a_changed_number_of_rounds_is_another_measurement(project: Project) -> None:
    project.run("bench_sums.py", "--bench-model=demo:0.5", "--bench-run-dir=r")
    words = ("bench_sums.py", "--bench-model=demo:0.5", "--bench-resume=r", "--bench-repair-attempts=1")
    result = project.run(*words)
    assert result.ret == 4
    assert "repair was 0, is 1" in result.stderr.str()
