from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.datasets import catalog
from pytest_benchkit.gates.suites import facts_of
from pytest_benchkit.harnesses.direct import build
from pytest_benchkit.registry import find_suite
from pytest_benchkit.reply import Reply
from pytest_benchkit.settings import Settings
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task
from tests.unit.scoring.bfcl.rows import WEATHER, gold

ASK = [{"role": "user", "content": "Weather in Rome?"}]


def row(subset: str, *golds: dict[str, Any], functions: list[dict[str, Any]] | None = None) -> Task:
    data = {
        "messages": ASK,
        "functions": [WEATHER] if functions is None else functions,
        "golds": list(golds),
        "subset": subset,
    }
    return Task(f"{subset.replace('_', '-')}-0", 0, data, subset)


ROWS = [
    row("simple_python", gold(city=["Rome"])),
    row("parallel", gold(city=["Rome"]), gold(city=["Oslo"])),
    row("irrelevance"),
    row("live_irrelevance", functions=[]),
    row("live_relevance"),
]


def suite(variant: str | None = None) -> Suite:
    return find_suite("bfcl")(variant)


@pytest.mark.parametrize("variant", [None, "mini", "prompt", "golden-prompt"])
@pytest.mark.parametrize("task", ROWS, ids=lambda task: task.id)
def test_sample_replies_score_one_and_zero(variant: str | None, task: Task) -> None:
    made = suite(variant)
    samples = made.sample_replies(task)
    assert samples is not None
    replies = [Reply.of(sample) if isinstance(sample, str) else sample for sample in samples]
    assert [made.score(task, reply).value for reply in replies] == [1.0, 0.0]


def test_native_rows_are_asked_with_tools_as_they_are() -> None:
    request = build(suite(), ROWS[0], Settings(), {"temperature": "default"}, "id")
    assert request.messages == ASK
    assert request.sampling == {"temperature": 0.0}
    assert [tool["function"]["name"] for tool in request.tools or ()] == ["weather_today"]
    assert request.needs_tools


def test_row_without_functions_is_about_tools_too() -> None:
    request = build(suite(), ROWS[3], Settings(), {}, "id")
    assert list(request.tools or ()) == []
    assert request.needs_tools


def test_prompt_mode_needs_no_tools() -> None:
    made = suite("mini-prompt")
    request = build(made, ROWS[0], Settings(), {}, "id")
    assert request.tools is None
    assert not request.needs_tools
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert made.prompt(ROWS[3]) == ASK  # nothing to call, nothing to say about it


def test_variants_share_their_rows() -> None:
    variants = find_suite("bfcl").variants
    assert {name: source.count for name, source in variants.items()} == {
        "golden": 995,
        "echolp": 1004,
        "mini": 192,
        "live-relevance": 16,
        "prompt": 3625,
        "golden-prompt": 995,
        "echolp-prompt": 1004,
        "mini-prompt": 192,
    }
    assert variants["prompt"] is catalog.BFCL
    assert variants["mini-prompt"] is variants["mini"]


def test_every_own_metric_is_declared() -> None:
    made = suite("mini")
    found = {
        **made.metrics([{"category": "parallel", "score": 1.0, "flags": [], "rule": "call"}]),
        **dict.fromkeys(made.totals, 0.0),
    }
    facts = facts_of(type(made))
    from pytest_benchkit.gates.metrics import spec_of

    assert [name for name in found if spec_of(name, facts) is None] == []
