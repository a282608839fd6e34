from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets.sources import Dataset
from pytest_benchkit.registry import find_suite, installed_suites, load_suites
from pytest_benchkit.reply import Reply
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from pytest_benchkit.score import Score
    from pytest_benchkit.suite import Suite

KEYS = [
    "arc",
    "boolq",
    "gpqa",
    "gsm8k",
    "hellaswag",
    "mmlu",
    "mmlu-pro",
    "openbookqa",
    "piqa",
    "truthfulqa",
    "winogrande",
]

ROWS: dict[str, list[dict[str, Any]]] = {
    "gsm8k": [{"question": "q", "answer": gold} for gold in ("18", "-5", "1234", "0", "0.5")],
    "boolq": [{"question": "is it so?", "passage": "T -- p", "answer": gold} for gold in ("yes", "no")],
}
CHOICES = [
    {
        "question": "Which one?",
        "options": [f"text {number}" for number in range(size)],
        "answer": "ABCDEFGHIJKLM"[gold],
        "subject": "us_foreign_policy",
        "subdomain": "Optics",
    }
    for size in (2, 3, 4, 10, 13)
    for gold in range(size)
]


def tasks(key: str) -> list[Task]:
    return [Task(f"{place:04}", place, row, "cat") for place, row in enumerate(ROWS.get(key, CHOICES))]


def suite(key: str) -> Suite:
    return find_suite(key)()


def record(score: Score, task: Task) -> dict[str, Any]:
    """A task record as far as metrics read it."""
    return {
        "score": score.value,
        "extracted": score.extracted,
        "expected": score.expected,
        "rule": score.rule,
        "also": [{"rule": a.rule, "extracted": a.extracted, "score": a.score} for a in score.also],
        "category": task.category,
        "labels": score.labels,
        "flags": list(score.flags),
    }


def test_all_suites_of_this_issue_are_there() -> None:
    assert set(KEYS) <= set(installed_suites())


@pytest.mark.parametrize("key", KEYS)
def test_right_and_wrong_sample_replies_score_one_and_zero(key: str) -> None:
    made = suite(key)
    for task in tasks(key):
        samples = made.sample_replies(task)
        assert samples is not None
        right, wrong = samples
        assert isinstance(right, str)
        assert isinstance(wrong, str)
        good, bad = made.score(task, Reply.of(right)), made.score(task, Reply.of(wrong))
        assert (good.value, bad.value) == (1.0, 0.0)
        assert bad.extracted is not None
        silent = made.score(task, Reply.of(""))
        assert (silent.value, silent.extracted, silent.rule) == (0.0, None, "none")
        cut = made.score(task, Reply.of(f"so 3 and {task['answer']} or", finish_reason="length"))
        assert cut.extracted is None


@pytest.mark.parametrize("key", KEYS)
def test_suite_says_what_it_is(key: str) -> None:
    made = suite(key)
    assert made.key == key
    assert made.describe().endswith(").")
    assert made.not_comparable
    assert isinstance(made.data, Dataset)
    assert made.data.name == key
    assert made.harnesses == ("direct",)
    assert made.in_overall


@pytest.mark.parametrize("key", [key for key in KEYS if key not in ROWS])
def test_prompt_names_exactly_the_letters_shown(key: str) -> None:
    made = suite(key)
    assert isinstance(made, ChoiceSuite)
    for task in tasks(key):
        prompt = made.prompt(task)
        named = re.search(r"Reply with one letter only: ([A-Z](?:, [A-Z])*) or ([A-Z])\.", prompt)
        assert named is not None
        letters = [*named[1].split(", "), named[2]]
        assert letters == list("ABCDEFGHIJKLM"[: len(task["options"])])
        assert re.findall(r"^([A-Z])\) text \d+$", prompt, re.M) == letters
        assert task["question"] in prompt


@pytest.mark.parametrize("key", KEYS)
def test_prompt_does_not_depend_on_the_gold(key: str) -> None:
    made = suite(key)
    for task in tasks(key):
        other = Task(task.id, task.index, {**task.data, "answer": "?"}, task.category)
        assert made.prompt(task) == made.prompt(other)


def test_prompts_name_subject_and_goal() -> None:
    task = tasks("mmlu")[0]
    assert "us foreign policy" in str(suite("mmlu").prompt(task))
    assert "Goal: Which one?" in str(suite("piqa").prompt(task))
    assert str(suite("boolq").prompt(tasks("boolq")[0])).endswith("Question: is it so?")


def test_gpqa_keeps_its_text_out_of_records() -> None:
    made = suite("gpqa")
    assert made.store_prompts is False
    assert made.score(tasks("gpqa")[0], Reply.of("A")).labels["subdomain"] == "Optics"


def test_hellaswag_subset_has_a_name_of_its_own() -> None:
    made = find_suite("hellaswag")
    assert {name: source.name for name, source in made.variants.items()} == {
        "activitynet-1000": "hellaswag/activitynet-1000"
    }


def test_metrics_of_choice_suites() -> None:
    made = suite("mmlu-pro")
    rows = [
        record(made.score(task, Reply.of("The answer is (A).")), task)
        for task in tasks("mmlu-pro")
        if len(task["options"]) in (2, 4)
    ]
    found = made.metrics(rows)
    assert found["rule.answer-is"] == 6
    assert found["letter.A"] == 1.0
    assert found["letter.gold.A"] == pytest.approx(2 / 6)
    assert found["chance"] == pytest.approx((2 * 0.5 + 4 * 0.25) / 6)
    assert found["score_official"] == pytest.approx(2 / 6)
    assert found["official_gap_pp"] == pytest.approx(0.0)
    assert found["also.official-guess"] == pytest.approx(2 / 6)
    assert found["ambiguous_rate"] == 0.0
    assert made.metrics([]) == {}
    torn = record(
        made.score(tasks("mmlu-pro")[0], Reply.of("The answer is A. The answer is B.")), tasks("arc")[0]
    )
    assert made.metrics([torn])["ambiguous_rate"] == 1.0


def test_metrics_of_gsm8k_count_the_official_reading() -> None:
    made = suite("gsm8k")
    task = tasks("gsm8k")[0]
    replies = ["#### 18", "#### 18.", "so 18", "no idea"]
    found = made.metrics([record(made.score(task, Reply.of(reply)), task) for reply in replies])
    assert found["score_official"] == 0.25
    assert found["official_gap_pp"] == pytest.approx(50.0)
    assert found["rule.hash-number"] == 2
    assert found["rule.none"] == 1
    assert found["also.lmeval-flexible"] == 0.75


def test_metrics_of_mmlu_and_boolq_have_their_means() -> None:
    def row(category: str, score: float, expected: str = "A") -> dict[str, Any]:
        return {
            "category": category,
            "score": score,
            "expected": expected,
            "extracted": "A",
            "rule": "bare-letter",
        }

    mmlu = suite("mmlu").metrics(
        [row("anatomy", 1), row("virology", 0), row("astronomy", 1), row("astronomy", 1)]
    )
    assert mmlu["score_macro"] == pytest.approx(2 / 3)
    assert (mmlu["score.area.other"], mmlu["score.area.stem"]) == (0.5, 1.0)
    assert "score.area.humanities" not in mmlu
    boolq = suite("boolq").metrics([row("yes", 1, "yes"), row("yes", 1, "yes"), row("no", 0, "no")])
    assert boolq["score_macro"] == 0.5
    assert boolq["baseline_constant"] == pytest.approx(2 / 3)


def test_every_suite_is_found_by_its_file() -> None:
    for key, ref in installed_suites().items():
        assert [found.key for found in load_suites(ref.path)] == [key]
