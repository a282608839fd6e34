"""Suites about tool calling: what is sent, what counts, and servers that take no tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import Exchange, FakeServer, replying

SUITE = '''
from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import Rows
from pytest_benchkit.reply import ToolCall


class Adding(Suite):
    """Adding: calls a function."""

    key = "adding"
    data = Rows([{"n": n} for n in range(COUNT)])
    needs = frozenset({"tools"})
    totals = frozenset({"sum"})

    def prompt(self, task: Task) -> str:
        return f"Add {task['n']}."

    def tools(self, task: Task):
        if task["n"] == 0:
            return []
        return [{"type": "function", "function": {"name": "add", "parameters": {"n": task["n"]}}}]

    def score(self, task: Task, reply: Reply) -> Score:
        given = [call.arguments for call in reply.tool_calls]
        return Score(float(given == [{"n": task["n"]}]), str(given) if given else None, task["n"], "call")

    def sample_replies(self, task: Task):
        call = ToolCall("add", {"n": task["n"]}, "{}")
        return Reply(tool_calls=[call], finish_reason="tool_calls"), Reply.of("no")

    def metrics(self, rows):
        return {"sum": float(len(rows))}
'''


@pytest.fixture
def adding(project: Project) -> Project:
    project.suite(12, SUITE)
    return project


async def calls(exchange: Exchange) -> None:
    """Calls ``add`` with the number that its definition names, in two fragments."""
    tools = exchange.request.json.get("tools")
    if not tools:
        await replying("OK")(exchange)
        return
    arguments = json.dumps(tools[0]["function"]["parameters"])
    await exchange.open_stream()
    for part in (
        {"index": 0, "id": "c1", "function": {"name": "add", "arguments": arguments[:3]}},
        {"index": 0, "function": {"arguments": arguments[3:]}},
    ):
        await exchange.event({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]})
    await exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    await exchange.chunk(b"data: [DONE]\n\n")
    await exchange.end_stream()


def refusing(body: dict[str, Any], *, only: int | None = None) -> Any:
    """Refuses requests with tools, or only those about the number ``only``."""

    async def handle(exchange: Exchange) -> None:
        tools = exchange.request.json.get("tools")
        if tools and (only is None or tools[0]["function"]["parameters"]["n"] == only):
            await exchange.json(body, 400)
        else:
            await calls(exchange)

    return handle


def outcomes(project: Project) -> list[str]:
    return [record["outcome"] for record in sorted(project.records(), key=lambda record: record["index"])]


def test_tool_calls_reach_the_scorer(adding: Project) -> None:
    with FakeServer(calls) as server:
        adding.run(f"--bench-model=m@{server.url}", "bench_sums.py")
    assert outcomes(adding) == ["no_answer", *["correct"] * 11]
    record = max(adding.records(), key=lambda record: record["index"])
    assert record["reply"]["tool_calls"][0]["arguments"] == {"n": 11}


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "m does not support tools", "type": "api_error"}},
        {"error": {"message": "bad", "param": "tools"}},
        {"error": {"message": "automatic choice needs a parser to be set"}},
    ],
)
def test_server_without_tools_skips_the_rows(adding: Project, body: dict[str, Any]) -> None:
    with FakeServer(refusing(body)) as server:
        result = adding.run(f"--bench-model=m@{server.url}", "--bench-inflight=1", "bench_sums.py", "-rs")
    found = outcomes(adding)
    # the row that offers nothing may have been asked before the refusal was known
    assert set(found[1:]) == {"skipped"}
    assert {record.get("detail") for record in adding.records() if record["outcome"] == "skipped"} == {
        "no_tools"
    }
    assert result.parseoutcomes()["skipped"] == found.count("skipped")
    told = [line for line in result.outlines if "rows are skipped, no_tools" in line]
    assert len(told) == 1
    assert adding.info()["models"][0]["dropped_fields"] == ["tools"]


def test_definitions_of_one_row_refused_are_that_row_s_error(adding: Project) -> None:
    body = {"error": {"message": "tools: cannot be converted"}}
    with FakeServer(refusing(body, only=7)) as server:
        adding.run(f"--bench-model=m@{server.url}", "--bench-inflight=1", "bench_sums.py")
    found = outcomes(adding)
    others = [outcome for place, outcome in enumerate(found) if place not in (0, 7)]
    assert set(others) == {"correct"}
    assert found[7] in ("harness_error", "skipped")  # skipped where it was the first row of all


def test_demo_answers_with_tool_calls(adding: Project) -> None:
    adding.run("--bench-model=demo:1", "bench_sums.py")
    records = adding.records()
    assert {record["outcome"] for record in records} == {"correct"}
    assert records[0]["reply"]["tool_calls"][0]["name"] == "add"
    assert records[0]["usage"]["source"] == "simulated"


def test_totals_are_of_the_whole_only(adding: Project) -> None:
    adding.run("--bench-model=demo:1", "bench_sums.py")
    (whole,) = adding.results()["results"]
    assert (whole["metrics"]["sum"], whole["metrics"]["transport_errors"]) == (12.0, 0)
    adding.run("--bench=adding:5", "--bench-model=demo:1", "bench_sums.py")
    (part,) = adding.results()["results"]
    assert "sum" not in part["metrics"]
    assert part["absent"]["sum"] == "a total of all 12 rows; a part was asked"
