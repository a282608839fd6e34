"""What counts as a distribution, and what a scorer then sees."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.decisions import YES_NO, Decision
from pytest_benchkit.models.decision import decide
from pytest_benchkit.reply import Reply

LETTERS = Decision("Which?", "Choose.", {"A": "ape", "B": "bee", "C": "cow"}, "A")
TRUTH = Decision("Water is wet.", "Is it?", YES_NO, "yes")


def answer(value: Any) -> Reply:
    return Reply(text=json.dumps({"answers": {"answer": value}}))


def choice(**shares: Any) -> Reply:
    return answer({"probabilities": shares})


def test_the_most_likely_key_is_the_answer() -> None:
    reply = choice(A=0.7, B=0.2, C=0.1)
    assert decide(LETTERS, reply) is None
    assert reply.answer == "A"
    assert reply.decision == {
        "probabilities": {"A": pytest.approx(0.7), "B": pytest.approx(0.2), "C": pytest.approx(0.1)},
        "choice": "A",
        "confidence": pytest.approx(0.7),
        "p_gold": pytest.approx(0.7),
        "correct": True,
        "gold": "A",
        "brier": pytest.approx(0.14),
    }


def test_sums_near_one_are_scaled() -> None:
    reply = choice(A=0.5, B=0.3, C=0.185)
    assert decide(LETTERS, reply) is None
    assert reply.decision is not None
    assert sum(reply.decision["probabilities"].values()) == pytest.approx(1)


def test_ties_go_to_the_first_and_are_flagged() -> None:
    reply = choice(C=0.5, B=0.5, A=0.0)
    assert decide(LETTERS, reply) is None
    assert reply.answer == "B"
    assert "tie" in reply.flags


def test_yes_or_no_has_one_probability() -> None:
    reply = answer({"noul": 0.8})
    assert decide(TRUTH, reply) is None
    assert reply.answer == "yes"
    assert reply.decision is not None
    assert reply.decision["brier"] == pytest.approx(0.08)
    both = answer({"probabilities": {"yes": 0.3, "no": 0.7}})
    assert decide(TRUTH, both) is None
    assert both.answer == "no"


def test_a_reply_of_its_own_stands_for_a_key() -> None:
    refusing = Decision("x", "Refuse?", YES_NO, "yes", {"yes": "I cannot help.", "no": "Sure."})
    reply = answer({"noul": 0.9})
    assert decide(refusing, reply) is None
    assert reply.answer == "I cannot help."


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (choice(A=0.9, B=0.1), "no probability of 'C'"),
        (choice(A=0.5, B=0.2, C=0.2, D=0.1), "'D', which was not asked"),
        (choice(A=0.5, B=0.2, C=0.2), "add up to 0.9"),
        (choice(A=1.2, B=-0.1, C=-0.1), "the probability of 'A' is 1.2"),
        (choice(A="0.5", B=0.2, C=0.3), "the probability of 'A' is 0.5"),
        (choice(A=True, B=0, C=0), "the probability of 'A' is True"),
        (answer({"probabilities": {"A": float("nan"), "B": 0, "C": 0}}), "nan"),
        (answer({"noul": 0.5}), "no probabilities"),
        (answer([1, 2]), "no answers.answer"),
        (Reply(text="not JSON"), "no JSON document"),
        (Reply(text="[]"), "no answers.answer"),
        (Reply(text=""), "no JSON document"),
    ],
)
def test_anything_else_is_an_error(reply: Reply, words: str) -> None:
    failure = decide(LETTERS, reply)
    assert failure is not None
    assert failure.kind == "invalid_distribution"
    assert words in failure.message
    assert reply.decision is None


@pytest.mark.parametrize(
    "value", [{}, {"noul": None}, {"noul": 1.5}, {"noul": "yes"}, {"probabilities": {"yes": 1}}]
)
def test_yes_or_no_without_p(value: Any) -> None:
    assert decide(TRUTH, answer(value)) is not None


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_an_answer_or_an_error(data: bytes) -> None:
    assert decide(LETTERS, Reply(text=data.decode("utf-8", "replace"))) is not None


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        (7, 7),
        (0, 0),
        (2**53, 2**53),
        (2**53 + 1, None),
        (10**30, None),
        (-1, None),
        (1.5, None),
        (True, None),
    ],
)
def test_what_counts_as_a_token_count(told: Any, tokens: int | None) -> None:
    reply = Reply(
        text=json.dumps({"answers": {"answer": {"noul": 0.9}}, "usage": {"input_tokens": told}}),
    )
    assert decide(TRUTH, reply) is None
    assert reply.usage.input_tokens == tokens
    assert reply.usage.source == (None if tokens is None else "usage")
