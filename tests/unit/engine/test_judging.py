"""Whose fault it is that a scorer raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_benchkit import Reply, Score, Suite, Task
from pytest_benchkit.datasets import Rows
from pytest_benchkit.engine.judging import HARMLESS, judge
from pytest_benchkit.errors import SandboxError
from pytest_benchkit.reply import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator


class Scripted(Suite):
    """Scripted: raises what it is told to, call by call, then scores 1 for ``right``."""

    key = "scripted"
    data = Rows([{"q": "x"}])

    def __init__(self, *raised: BaseException | None) -> None:
        super().__init__()
        self.script: Iterator[BaseException | None] = iter(raised)
        self.seen: list[str] = []

    def prompt(self, task: Task) -> str:
        return "x"

    def score(self, task: Task, reply: Reply) -> Score:
        self.seen.append(reply.answer)
        if (error := next(self.script, None)) is not None:
            raise error
        return Score(float(reply.answer == "right"), reply.answer, "right", "whole")


def exchange(answer: str = "right") -> Exchange:
    return Exchange(Reply.of(answer))


TASK = Task("1", 0, {"q": "x"})


@pytest.mark.parametrize(
    "error",
    [
        ImportError("cannot import name 'x' from partially initialized module 'y'"),
        AttributeError("partially initialized module 'y' has no attribute 'x'"),
        RuntimeError("deadlock detected"),
    ],
)
def test_a_scorer_that_was_not_ready_is_asked_again(error: Exception) -> None:
    suite = Scripted(error)
    judged = judge(suite, TASK, exchange())
    assert judged.score is not None
    assert (judged.score.value, judged.flags, judged.crash) == (1.0, (), None)
    assert suite.seen == ["right", HARMLESS, "right"]


def test_a_reply_that_breaks_the_scorer_twice_is_a_miss() -> None:
    judged = judge(Scripted(ValueError("odd"), None, ValueError("odd")), TASK, exchange())
    assert judged.score is not None
    assert (judged.score.value, judged.score.expected, judged.flags) == (0.0, "right", ("scorer_raised",))
    assert judged.score.reason == "the reply broke the scorer: ValueError: odd"


def test_a_scorer_that_raises_on_harmless_text_is_our_fault() -> None:
    suite = Scripted(ImportError("no nltk"), ImportError("no nltk"))
    judged = judge(suite, TASK, exchange())
    assert (judged.score, judged.crash) == (None, "the scorer of scripted raised ImportError: no nltk")
    assert len(suite.seen) == 2


def test_a_sandbox_that_fails_the_second_time_is_no_miss() -> None:
    judged = judge(Scripted(ValueError("x"), None, SandboxError("gone")), TASK, exchange())
    assert (judged.score, judged.crash, judged.detail) == (None, "gone", "sandbox_failed")
