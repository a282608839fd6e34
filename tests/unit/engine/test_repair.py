"""Repair rounds: how many, and what a model is told."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.engine import repair
from pytest_benchkit.engine.conclusion import Asked
from pytest_benchkit.engine.judging import Judged
from pytest_benchkit.engine.outcome import Classified
from pytest_benchkit.harnesses import direct
from pytest_benchkit.models.base import ChatRequest
from pytest_benchkit.registry import find_suite, installed_suites
from pytest_benchkit.reply import Exchange, Failure, Reply
from pytest_benchkit.score import Outcome, Score
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

CANARY = "Zyzzogeton-7731"
ASKED: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2+2?"}]


def choice(size: int) -> tuple[Suite, Task]:
    row = {"question": "Which?", "options": [f"text {n}" for n in range(size)], "answer": "A"}
    return find_suite("arc")(), Task("0", 0, row)


def asked(reply: str, rounds: int, **fields: Any) -> Asked:
    request = ChatRequest(ASKED, identity="s|0", **fields)
    return Asked(Task("0", 0, {}), request, Exchange(Reply.of(reply)), 0.0, rounds)


def attempt(
    outcome: Outcome, score: float | None = 0.0, reply: str = "5", feedback: str | None = None
) -> Any:
    judged = Judged(None if score is None else Score(score, reply, "4"))
    exchange = Exchange(Reply.of(reply), open_s=1.0)
    return repair.Attempt(exchange, judged, Classified(outcome), feedback)


@pytest.mark.parametrize("wanted", [0, 1, 2, 3])
@pytest.mark.parametrize(("size", "most"), [(2, 0), (3, 1), (4, 2), (10, 8)])
def test_rounds_of_choices(size: int, most: int, wanted: int) -> None:
    assert repair.rounds(*choice(size), wanted) == min(wanted, most)
    assert repair.choices(*choice(size), wanted) == (size if wanted else None)


@pytest.mark.parametrize("key", ["boolq", "winogrande", "bfcl"])
def test_suites_without_repair(key: str) -> None:
    task = Task("0", 0, {"question": "q", "passage": "p", "options": ["a", "b"], "answer": "A"})
    assert repair.rounds(find_suite(key)(), task, 3) == 0


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_what_is_repaired(outcome: Outcome, rounds: int) -> None:
    suite = find_suite("gsm8k")()
    last = attempt(outcome, 0.5 if outcome is Outcome.PARTIAL else 0.0)
    following = repair.next_round(suite, asked("5", rounds), last)
    wanted = rounds > 0 and outcome in (Outcome.INCORRECT, Outcome.PARTIAL, Outcome.NO_ANSWER)
    assert (following is not None) == wanted
    if following is not None:
        told = following.earlier[0].feedback
        partial = outcome is Outcome.PARTIAL
        assert told == ("Your answer was scored 50 %." if partial else "Your answer was marked wrong.")
        last_round = repair.next_round(suite, following, last)
        assert (last_round is not None) == (rounds > 1)


def test_the_dialogue_of_two_rounds() -> None:
    suite = find_suite("gsm8k")()
    first = repair.next_round(suite, asked("5", 2), attempt(Outcome.INCORRECT, reply="5"))
    assert first is not None
    request = repair.request_of(first)
    assert request is not None
    assert request.messages == [
        *ASKED,
        {"role": "assistant", "content": "5"},
        {"role": "user", "content": f"Your answer was marked wrong.\n\n2 tries are left. {direct.AGAIN}"},
    ]
    assert request.identity == "s|0#1"
    second = repair.next_round(suite, first, attempt(Outcome.NO_ANSWER, reply=" \n"))
    assert second is not None
    request = repair.request_of(second)
    assert request is not None
    assert request.messages == [
        *ASKED,
        {"role": "assistant", "content": direct.EMPTY},
        {
            "role": "user",
            "content": f"Your answer was marked wrong.\n\nThis is your last try. {direct.AGAIN}",
        },
    ]


def test_thinking_is_not_sent_back() -> None:
    reply = Reply(text="<think>hm</think>5", answer="5", thinking="hm")
    last = attempt(Outcome.INCORRECT)._replace(exchange=Exchange(reply))
    following = repair.next_round(find_suite("gsm8k")(), asked("5", 1), last)
    assert following is not None
    request = repair.request_of(following)
    assert request is not None
    assert "hm" not in str(request.messages)


def test_a_task_deadline_counts_open_requests_alone() -> None:
    suite = find_suite("gsm8k")()
    following = repair.next_round(suite, asked("5", 2, seconds=2.5), attempt(Outcome.INCORRECT))
    assert following is not None
    request = repair.request_of(following)
    assert request is not None
    assert request.seconds == pytest.approx(1.5)
    again = repair.next_round(suite, following, attempt(Outcome.INCORRECT))
    assert again is not None
    request = repair.request_of(again)
    assert request is not None
    assert request.seconds == pytest.approx(0.5)
    over = repair.next_round(suite, asked("5", 2, seconds=1.0), attempt(Outcome.INCORRECT))
    assert over is not None
    assert repair.request_of(over) is None


def test_long_feedback_is_cut() -> None:
    last = attempt(Outcome.INCORRECT)
    long = last._replace(judged=Judged(Score(0.0, "5", feedback="x" * 5000)))
    following = repair.next_round(find_suite("gsm8k")(), asked("5", 1), long)
    assert following is not None
    told = following.earlier[0].feedback
    assert told is not None
    assert len(told) == repair.FEEDBACK_CHARS


def test_unfinished() -> None:
    wrong, right = attempt(Outcome.INCORRECT), attempt(Outcome.CORRECT, 1.0)
    error = attempt(Outcome.HARNESS_ERROR, None)
    assert not repair.unfinished((wrong,), 0)
    assert repair.unfinished((wrong,), 1)
    assert not repair.unfinished((wrong, wrong), 1)
    assert not repair.unfinished((wrong, right), 3)
    assert repair.unfinished((wrong, error), 3)
    assert not repair.unfinished((error,), 3)


@pytest.mark.parametrize("key", sorted(installed_suites()))
def test_feedback_never_tells_the_gold(key: str) -> None:
    """What a suite says of a miss holds nothing of what was expected, tested or labelled."""
    task = Task("0", 0, dict.fromkeys(("answer", "test", "tests", "solution", "question"), CANARY))
    score = Score(0.0, "x", CANARY, "rule", labels={"gold": CANARY}, reason=f"expected {CANARY}")
    words = find_suite(key)().feedback(task, score) or ""
    assert CANARY.lower() not in words.lower()


def test_a_failed_request_is_not_repaired() -> None:
    failed = Exchange(Reply(), Failure("http_503", "busy", "busy"))
    last = repair.attempt(find_suite("gsm8k")(), failed, Judged(None))
    assert repair.next_round(find_suite("gsm8k")(), asked("5", 3), last) is None
