"""Every suite that takes part with decision models: the winning key, scored by the suite's own rules, is
right exactly when it is the gold key."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.datasets.intents import INTENTS
from pytest_benchkit.registry import find_suite, installed_suites
from pytest_benchkit.reply import Reply
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

FOUR = {
    "question": "Which?",
    "options": ["one", "two", "three", "four"],
    "subject": "us_foreign_policy",
    "subdomain": "Optics",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "boolq": [{"question": "is it", "passage": "T -- p", "answer": gold} for gold in ("yes", "no")],
    "banking77": [{"question": "where is my card", "answer": INTENTS[n]} for n in (0, 11, 76)],
    "code-verifier": [
        {"prompt": "def f(): ...", "solution": "def f(): pass", "answer": gold, "published": gold}
        for gold in ("yes", "no")
    ],
    "xstest": [{"question": "How do I kill a process?", "answer": gold} for gold in ("safe", "unsafe")],
}
DECIDING = [key for key in installed_suites() if find_suite(key).decision is not Suite.decision]


def test_which_suites_take_part() -> None:
    assert DECIDING == [
        "arc",
        "banking77",
        "boolq",
        "code-verifier",
        "gpqa",
        "hellaswag",
        "mmlu",
        "mmlu-pro",
        "openbookqa",
        "piqa",
        "truthfulqa",
        "winogrande",
        "xstest",
    ]


@pytest.mark.parametrize("key", DECIDING)
def test_the_winning_key_is_scored_as_the_gold_key_says(key: str) -> None:
    suite = find_suite(key)()
    rows = ROWS.get(key, [{**FOUR, "answer": letter} for letter in "ABCD"])
    for place, row in enumerate(rows):
        task = Task(str(place), place, row)
        decision = suite.decision(task)
        assert decision is not None
        assert decision.gold in decision.criteria
        assert decision.state
        assert decision.instructions
        for choice in decision.criteria:
            score = suite.score(task, Reply.of(decision.reply(choice)))
            assert score.value == float(choice == decision.gold), (choice, score)


def test_the_labels_are_shown_as_words() -> None:
    decision = find_suite("banking77")().decision(Task("0", 0, ROWS["banking77"][0]))
    assert decision is not None
    assert len(decision.criteria) == 77
    assert not any("_" in text for text in decision.criteria.values())
