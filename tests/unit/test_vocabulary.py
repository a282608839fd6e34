"""Floor 0: tasks, replies, scores, suites."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import Rows
from pytest_benchkit.errors import SuiteError
from pytest_benchkit.score import COUNTED, Outcome


class Echo(Suite):
    """Echo: says the word again."""

    key = "echo"
    data = Rows([{"word": "a"}, {"word": "b"}])
    variants = {"short": Rows([{"word": "c"}])}

    def prompt(self, task: Task) -> str:
        return str(task["word"])

    def score(self, task: Task, reply: Reply) -> Score:
        return Score(float(reply.answer == task["word"]), reply.answer, task["word"], "whole")


def test_a_suite_works_without_pytest() -> None:
    suite = Echo()
    task = suite.tasks[0]
    assert suite.prompt(task) == "a"
    assert suite.score(task, Reply.of("a")).value == 1.0
    assert [t["word"] for t in Echo("short").tasks] == ["c"]
    assert suite.describe() == "Echo: says the word again."
    with pytest.raises(SuiteError, match="no variant 'long'"):
        Echo("long")


def test_a_misspelt_hook_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(SuiteError, match="misspelt 'score'"):

        class Wrong(Echo):
            def scrore(self, task: Task, reply: Reply) -> Score:
                return Score(1.0)


def test_a_missing_method_is_refused_when_the_suite_is_made() -> None:
    class Half(Suite):
        key = "half"
        data = Rows([{}])

        def prompt(self, task: Task) -> str:
            return ""

    with pytest.raises(TypeError, match="score"):
        Half()  # type: ignore[abstract]


@pytest.mark.parametrize("key", ["Bad", "a_b", "", "a--b", "-a"])
def test_keys_are_words_and_dashes(key: str) -> None:
    with pytest.raises(SuiteError, match="key"):
        type("Bad", (Echo,), {"key": key})


def test_own_helpers_are_allowed() -> None:
    class Helped(Echo):
        def normalise(self, text: str) -> str:
            return text.strip()

    assert Helped().normalise(" a ") == "a"


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_scores_stay_within_0_and_1(value: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Score(value)


def test_task_names_its_fields_when_one_is_missing() -> None:
    task = Task("07", 7, {"question": "?"})
    assert dict(task) == {"question": "?"}
    with pytest.raises(KeyError, match="task 07 has no field 'answer'; it has: question"):
        task["answer"]


def test_outcomes_are_counted_as_the_table_says() -> None:
    out = [o for o in Outcome if not o.counted]
    assert out == [Outcome.CONTAMINATED, Outcome.HARNESS_ERROR, Outcome.SKIPPED]
    assert len(COUNTED) == 7
    assert [o for o in Outcome if o.counted and not o.missed] == [Outcome.CORRECT]
    asked_again: Sequence[Outcome] = [o for o in Outcome if not o.finished]
    assert asked_again == [Outcome.HARNESS_ERROR, Outcome.SKIPPED]
