"""RULER as a suite: both sizes, prompts, samples, labels, metrics."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets.ruler.cells import FAMILIES
from pytest_benchkit.datasets.ruler.source import Ruler
from pytest_benchkit.gates.metrics import SuiteFacts, spec_of
from pytest_benchkit.registry import find_suite, installed_suites, load_suites
from pytest_benchkit.reply import Reply, Usage
from pytest_benchkit.sizing import PlainSizer
from tests.support.ruler_texts import corpora

if TYPE_CHECKING:
    from pytest_benchkit.suite import Suite


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Suite:
    """The suite over corpora of ours."""
    suite_class = find_suite("ruler")
    monkeypatch.setattr(suite_class, "rows", Ruler("ruler", 3, corpora()))
    return suite_class()


def record(suite: Suite, task: Any, reply: Reply) -> dict[str, Any]:
    score = suite.score(task, reply)
    return {
        "task_id": task.id,
        "score": score.value,
        "rule": score.rule,
        "also": [{"rule": a.rule, "extracted": a.extracted, "score": a.score} for a in score.also],
        "category": task.category,
        "labels": score.labels,
        "flags": list(score.flags),
        "usage": {"input_tokens": reply.usage.input_tokens},
    }


@pytest.mark.parametrize(("key", "rows"), [("ruler", 234), ("ruler-full", 39_000)])
def test_suite_says_what_it_is(key: str, rows: int) -> None:
    (found,) = load_suites(installed_suites()[key].path)
    assert found.key == key
    suite = find_suite(key)()
    assert suite.source.name == key
    assert suite.source.count == rows
    assert suite.describe().endswith(").")
    assert (suite.in_overall, suite.scoring, suite.harnesses) == (False, "graded", ("direct",))
    assert "pg-49" in (suite.not_comparable or "")


@pytest.mark.parametrize("place", range(13))
def test_oracle_scores_one_and_silence_nothing(made: Suite, place: int) -> None:
    bare = made.source.load()[place]
    assert bare.category == bare["family"]
    task = made.fit(bare, PlainSizer())
    assert (task.id, task.index, task.category) == (bare.id, bare.index, bare.category)
    assert made.prompt(task) == task["prompt"]
    samples = made.sample_replies(task)
    assert samples is not None
    right, wrong = samples
    assert isinstance(right, str)
    assert isinstance(wrong, str)
    assert made.score(task, Reply.of(right)).value == 1.0
    bad, silent = made.score(task, Reply.of(wrong)), made.score(task, Reply.of(""))
    assert (bad.value, silent.value, silent.extracted) == (0.0, 0.0, None)
    assert bad.extracted is not None
    assert bad.labels["sized"] == "estimated"
    assert bad.labels["golds"] == len(task["golds"])
    assert made.max_tokens_for(task) == FAMILIES[bare["family"]].answer_tokens
    assert made.prompt_tokens(task) == task["tokens"] + 64
    assert made.prompt_tokens(bare) is None


def test_row_that_nobody_fitted_has_its_shortest_prompt(made: Suite) -> None:
    task = made.source.load()[0]
    prompt = made.prompt(task)
    assert isinstance(prompt, str)
    assert len(prompt) < 1000
    samples = made.sample_replies(task)
    assert samples is not None
    assert made.score(task, Reply.of(str(samples[0]))).value == 1.0


def test_metrics_are_declared(made: Suite) -> None:
    facts = SuiteFacts("ruler", own=made.metric_kinds)
    rows = []
    for place, told in ((0, 5000), (1, 100), (13, 8000)):
        task = made.fit(made.source.load()[place], PlainSizer())
        rows.append(record(made, task, Reply.of(task["golds"][0], usage=Usage(input_tokens=told))))
    found = made.metrics(rows)
    assert (found["over_length"], found["short"], found["sized.estimated"]) == (1, 1, 3)
    assert found["score.length.4k"] == 1.0
    assert found["fill.8k"] == pytest.approx(8000 / 8192)
    assert found["also.words"] == 1.0
    assert [name for name in found if spec_of(name, facts) is None] == []
    assert all(any(fnmatchcase(name, pattern) for name in found) for pattern in made.metric_kinds)
    assert made.metrics([]) == {}


def test_texts_for_calibration_come_from_the_corpora(made: Suite) -> None:
    assert "uuids" in made.size_samples()
