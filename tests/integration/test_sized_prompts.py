"""Prompts sized for their model: by the server's tokenizer, by its prompt counts, by neither."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import Exchange, FakeServer, Handler

SUITE = '''
from benchsuites.bench_ruler import RulerSuite
from pytest_benchkit.datasets.ruler.source import Ruler
from tests.support.ruler_texts import corpora

ROWS = Ruler("sized", 1, corpora(missing=("ruler/squad",)))


class Sized(RulerSuite):
    """Sized: RULER over texts of ours."""

    key = "sized"
    data = ROWS
    rows = ROWS
'''
TEMPLATE, CHARACTERS = 21, 3.9
LENGTHS = {"4k": 4096, "8k": 8192}


def tokens(text: str) -> int:
    return int(len(text) / CHARACTERS) + 1


def chat(*, usage: bool, reply: str = "I cannot find it.") -> Handler:
    async def handle(exchange: Exchange) -> None:
        body: dict[str, Any] = {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
            ]
        }
        if usage:
            prompt = TEMPLATE + tokens(exchange.request.prompt)
            body["usage"] = {"prompt_tokens": prompt, "completion_tokens": 5}
        await exchange.json(body)

    return handle


async def props(exchange: Exchange) -> None:
    await exchange.json({"total_slots": 4, "default_generation_settings": {"n_ctx": 8192}})


async def tokenize(exchange: Exchange) -> None:
    await exchange.json({"tokens": [0] * tokens(exchange.request.json["content"])})


ROUTES: dict[str, Handler] = {"/props": props, "/tokenize": tokenize}


@pytest.fixture
def sized(project: Project) -> Project:
    project.suite(0, SUITE)
    return project


def run(project: Project, server: FakeServer, *args: str) -> list[dict[str, Any]]:
    result = project.run(f"--bench-model=m@{server.url}", "--bench-stream=off", "bench_sums.py", *args)
    assert result.ret == 0
    return project.records()


def asked(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of rows that were asked: those of 4k and 8k, without qa_1, whose texts are missing."""
    found = [record for record in records if record["outcome"] != "skipped"]
    assert len(records) == 78
    assert len(found) == 24
    details = [record["detail"] for record in records if record["outcome"] == "skipped"]
    assert (details.count("context_too_small"), details.count("no_corpus")) == (52, 2)
    return found


def fills(records: list[dict[str, Any]]) -> list[float]:
    return [
        record["usage"]["input_tokens"] / LENGTHS[record["labels"]["length"]]
        for record in records
        if record["category"] != "qa_2"
    ]


def methods(records: list[dict[str, Any]]) -> set[str]:
    return {record["labels"]["sized"] for record in records}


def test_server_with_a_tokenizer(sized: Project) -> None:
    with FakeServer(chat(usage=True), routes=ROUTES) as server:
        records = asked(run(sized, server))
        counted = server.counts.other["/tokenize"]
    assert methods(records) == {"exact"}
    assert sized.info()["models"][0]["sizing"] == {"allowance": TEMPLATE}
    assert all(0.9 < share <= 1 for share in fills(records))
    for record in records:
        budget = LENGTHS[record["labels"]["length"]] - TEMPLATE - record["ask"]["max_tokens"]
        assert record["usage"]["input_tokens"] - TEMPLATE == record["labels"]["tokens"] <= budget
    assert counted <= 1 + 24 * 8
    metrics = sized.results()["results"][0]["metrics"]
    assert metrics["samples.length.4k"] == metrics["samples.length.8k"] == 12
    assert metrics["sized.exact"] == 24


def test_server_with_prompt_counts_only_in_all_processes_alike(sized: Project) -> None:
    with FakeServer(chat(usage=True)) as server:
        records = asked(run(sized, server, "--bench-context=8192", "-n", "2"))
        first = server.counts.chat
        assert first == 1 + 1 + 8 + 24  # warm-up, template, kinds of content, rows
        sizing = sized.info()["models"][0]["sizing"]
        assert run(sized, server, "--bench-context=8192", "--bench-resume") == sized.records()
        assert server.counts.chat == first
    assert sized.info()["models"][0]["sizing"] == sizing
    assert sizing["allowance"] == pytest.approx(TEMPLATE, abs=1)
    assert sizing["essay"] == pytest.approx(0.95 * CHARACTERS, rel=0.01)
    assert methods(records) == {"calibrated"}
    assert all(0.85 < share <= 1 for share in fills(records))


def test_server_that_counts_nothing(sized: Project) -> None:
    with FakeServer(chat(usage=False)) as server:
        records = asked(run(sized, server, "--bench-context=8192"))
        prompts = [record["prompt"]["chars"] for record in records]
    assert methods(records) == {"estimated"}
    assert "sizing" not in sized.info()["models"][0]
    assert min(prompts) > 3000
    assert {record["ask"]["max_tokens"] for record in records} == {128, 120, 50, 32, 30}


def test_prompts_that_came_out_too_long_are_told(sized: Project) -> None:
    async def overcounting(exchange: Exchange) -> None:
        reply = {"index": 0, "message": {"role": "assistant", "content": "?"}, "finish_reason": "stop"}
        long = len(exchange.request.body) > 3000
        counts = {"prompt_tokens": 9000 if long else 30, "completion_tokens": 1}
        await exchange.json({"choices": [reply], "usage": counts})

    with FakeServer(overcounting) as server:
        result = sized.run(
            f"--bench-model=m@{server.url}", "--bench-stream=off", "--bench-context=16000", "bench_sums.py"
        )
    records = [record for record in sized.records() if record["outcome"] != "skipped"]
    assert all("over_length" in record["flags"] for record in records)
    assert len([line for line in result.outlines if "longer than their row says" in line]) == 1
    result.stdout.fnmatch_lines(["*prompts sized *filled 4k*8k*"])


def test_missing_texts_are_told_before_the_run(sized: Project) -> None:
    result = sized.run("--bench-model=demo:1", "--bench=sized:13", "bench_sums.py")
    told = [line for line in result.outlines if "benchkit datasets install ruler/squad" in line]
    assert told
    assert result.outlines.index(told[0]) < next(
        place for place, line in enumerate(result.outlines) if line.startswith("bench_sums.py")
    )
    outcomes = {record["task_id"]: record["outcome"] for record in sized.records()}
    assert outcomes.pop("4k-qa-1-000") == "skipped"
    assert set(outcomes.values()) == {"correct"}


def test_sample_is_the_first_rows_in_their_order(sized: Project) -> None:
    sized.run("--bench-model=demo:1", "--bench=sized:14", "bench_sums.py")
    ids = {record["task_id"] for record in sized.records()}
    assert len(ids) == 14
    assert sum(name.startswith("4k") for name in ids) == 13
