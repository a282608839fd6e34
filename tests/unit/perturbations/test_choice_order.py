"""``choice-order``: uniform over every other order, the same everywhere, and honest about what may move."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.perturbations import NotPerturbable, axis_values, perturb
from pytest_benchkit.perturbations.choice_order import LETTERS
from pytest_benchkit.task import Task

OPTIONS = ["an ape", "a bee", "a cow", "a dog"]


def row(options: list[str], answer: str = "A", task_id: str = "0001") -> Task:
    return Task(task_id, 0, {"question": "Which?", "options": options, "answer": answer}, "c", "g")


def order_of(task: Task, axis: str = "choice-order") -> list[int]:
    order: list[int] = perturb("arc", task, axis).facts["order"]
    return order


def test_the_twin_of_a_row() -> None:
    task = row(list(OPTIONS), "C")
    twin = perturb("arc", task, "choice-order")
    order = twin.facts["order"]
    assert order != [0, 1, 2, 3]
    assert twin["options"] == [OPTIONS[place] for place in order]
    assert twin["options"][LETTERS.index(twin["answer"])] == "a cow"
    assert twin.facts == {
        "name": "choice-order",
        "seed": 42,
        "order": order,
        "gold_before": "C",
        "gold_after": twin["answer"],
    }
    assert (twin.id, twin.index, twin.category, twin.group) == ("0001", 0, "c", "g")
    assert (twin["question"], task["options"], task["answer"]) == ("Which?", OPTIONS, "C")


def test_golden_orders() -> None:
    """Equal on every Python: they come from sha256 and the bit stream alone."""
    found = [order_of(row(list(OPTIONS), task_id=f"{n:04}")) for n in range(4)]
    other = [order_of(row(list(OPTIONS), task_id=f"{n:04}"), "choice-order.43") for n in range(4)]
    assert found == GOLDEN
    assert other == GOLDEN_43


def test_the_same_under_any_hash_seed() -> None:
    code = (
        "from pytest_benchkit.perturbations import perturb; from pytest_benchkit.task import Task;"
        "print(perturb('k', Task('7', 0, {'options': list('wxyz'), 'answer': 'B'}), 'choice-order').facts)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": s}, capture_output=True, check=True
        )
        for s in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout != b""


def test_every_other_order_is_equally_likely() -> None:
    orders = Counter(tuple(order_of(row(["x", "y", "z"], task_id=str(n)))) for n in range(5000))
    assert len(orders) == 5
    assert (0, 1, 2) not in orders
    assert all(abs(count - 1000) < 4 * (1000 * 0.8) ** 0.5 for count in orders.values())


def test_where_the_right_option_goes() -> None:
    """Over 10,000 tasks within 2 points of the exact expectation: 5/23 to stay, 6/23 to each other place."""
    places = Counter(
        perturb("arc", row(list(OPTIONS), task_id=str(n)), "choice-order")["answer"] for n in range(10_000)
    )
    assert abs(places["A"] / 10_000 - 5 / 23) < 0.02
    for letter in "BCD":
        assert abs(places[letter] / 10_000 - 6 / 23) < 0.02


def test_two_options_are_swapped() -> None:
    assert {tuple(order_of(row(["yes", "no"], task_id=str(n)))) for n in range(50)} == {(1, 0)}


@pytest.mark.parametrize(
    "text",
    [
        "All of the above",
        "all of these",
        "None of these.",
        "None of the above are correct",
        "Both of the above",
        "neither of these",
        "Either of these",
        "all the above",
        "None of the other options",
        "More than one of the above",
        "Two of the above",
        "2 of the above",
        "Exactly two of these",
        "Only one of them",
        "A combination of the above",
        "Not all of these",
        "The options above",
        "all choices",
        "All are correct",
        "both are correct",
        "Neither is correct",
        "All apply",
        "Both",
        "None",
        "D. none of the above",
        "(d) All of these",
    ],
)
def test_options_about_the_others_stay(text: str) -> None:
    for n in range(30):
        order = order_of(row(["x", "y", "z", text], task_id=str(n)))
        assert order[3] == 3
        assert order != [0, 1, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "Both A and B",
        "A and C only",
        "A, B, and C",
        "B",
        "options 1 and 2",
        "Option C",
        "either a or b",
        "(A) and (B)",
        "I and II only",
        "neither (a) nor, well, statement B",
        "a",
        "d",
        "(C)",
        "a and b",
        "a) and c)",
        "A & C",
        "A, B and D",
        "A or B but not both",
        "A and B are both correct",
        "Only B",
        "B is correct",
        "Not A",
        "All but C",
        "Both (A) and (C) are true",
        "D. A and B",
        "answers a and c",
        "A and option C",
        "1 and 2",
        "1) and 3)",
        "1, 2 and 3",
        "statement 2",
        "Statement I",
        "the first two",
        "the second option",
    ],
)
def test_options_that_name_others_cannot_move(text: str) -> None:
    with pytest.raises(NotPerturbable, match="names another option"):
        order_of(row(["x", "y", "z", text]))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "vitamin A",
            "Texas A&M",
            "both hands and feet",
            "type O",
            "K",
            "water, soap",
            "an option to buy",
            "I",
        ),
        *(
            "hepatitis A and B",
            "vitamins A and D",
            "a right",
            "answer a question",
            "a bee and a dog",
            "grade A",
            "A, K and B",
        ),
        *(
            "1",
            "2.5",
            "1/2",
            "3 and 5",
            "2, 5, 1 and 3",
            "1 or 7",
            "two weeks",
            "first two weeks",
            "both parents",
            "all day",
        ),
    ],
)
def test_other_letters_mean_nothing(text: str) -> None:
    orders = [order_of(row(["x", "y", "z", text], task_id=str(n))) for n in range(30)]
    assert {order[3] for order in orders} == {0, 1, 2, 3}


def test_nothing_left_to_move() -> None:
    with pytest.raises(NotPerturbable, match="1 of 2 options may move"):
        order_of(row(["an ape", "none of these"]))


def test_equal_texts_are_told_apart_by_place() -> None:
    orders = {tuple(order_of(row(["same", "same"], task_id=str(n)))) for n in range(5)}
    assert orders == {(1, 0)}


@given(st.lists(st.text(max_size=40), min_size=2, max_size=13), st.data())
def test_any_options(options: list[str], data: st.DataObject) -> None:
    answer = LETTERS[data.draw(st.integers(0, len(options) - 1))]
    try:
        twin = perturb("arc", row(options, answer), f"choice-order.{data.draw(st.integers(0, 99))}")
    except NotPerturbable:
        return
    assert sorted(twin["options"]) == sorted(options)
    assert twin["options"][LETTERS.index(twin["answer"])] == options[LETTERS.index(answer)]


def test_axis_values() -> None:
    assert axis_values(["choice-order"], [42, 43, 42]) == ("choice-order", "choice-order.43")
    with pytest.raises(UsageProblem, match="did you mean choice-order"):
        axis_values(["choice_order"], [42])


GOLDEN = [[0, 2, 1, 3], [2, 1, 3, 0], [2, 1, 3, 0], [1, 3, 0, 2]]
GOLDEN_43 = [[2, 3, 0, 1], [3, 0, 2, 1], [2, 3, 0, 1], [3, 2, 1, 0]]
