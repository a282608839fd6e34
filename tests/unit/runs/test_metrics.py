"""Score and counts of one cell."""

from __future__ import annotations

import pytest

from pytest_benchkit.runs.metrics import cell_numbers, left_out_words
from pytest_benchkit.score import Outcome
from tests.support.rows import row


def test_every_outcome_is_counted_once() -> None:
    rows = [row(n, outcome.value) for n, outcome in enumerate(Outcome)]
    values = cell_numbers(rows, 13).values
    assert all(values[f"n_{outcome.value}"] == 1 for outcome in Outcome)
    assert (values["planned"], values["samples"], values["excluded"], values["not_asked"]) == (13, 7, 3, 3)
    assert values["coverage"] == pytest.approx(7 / 13)
    assert values["score"] == pytest.approx(1.5 / 7)
    assert values["accuracy"] == pytest.approx(1 / 7)
    assert values["score_answered"] == pytest.approx(1.5 / 3)
    assert (
        values["truncation_rate"]
        == values["no_answer_rate"]
        == values["timeout_rate"]
        == pytest.approx(1 / 7)
    )
    assert values["error_rate"] == pytest.approx(1 / 10)


def test_no_counted_row_means_no_score_but_a_reason() -> None:
    rows = [row(n, "harness_error") for n in range(9)]
    numbers = cell_numbers(rows, 12)
    for name in ("score", "stderr", "accuracy", "truncation_rate", "score_ci_low"):
        assert name not in numbers.values
        assert numbers.absent[name] == "all 12 rows left out: 9 errors, 3 not asked"
    assert numbers.values["error_rate"] == 1.0


def test_nothing_planned() -> None:
    numbers = cell_numbers([], 0)
    assert numbers.absent["score"] == "no rows"
    assert numbers.absent["coverage"]


def test_rows_beyond_the_plan_keep_the_identity() -> None:
    values = cell_numbers([row(n) for n in range(5)], 2).values
    assert (values["planned"], values["samples"], values["not_asked"]) == (5, 5, 0)


def test_a_task_counts_once_however_often_it_was_repeated() -> None:
    rows = [row(0, "correct"), row(0, "incorrect", repeat=1), row(1, "correct")]
    numbers = cell_numbers(rows, 3)
    assert numbers.values["score"] == pytest.approx(0.75)
    assert numbers.values["ci_method"] == "wilson-clustered"


def test_groups_are_clusters() -> None:
    names = ["a"] * 3 + ["b"] * 2 + ["c"] * 4 + ["d"]
    outcomes = ["correct"] * 2 + ["incorrect"] * 3 + ["correct"] * 4 + ["incorrect"]
    rows = [row(n, o, group=g) for n, (o, g) in enumerate(zip(outcomes, names, strict=True))]
    assert cell_numbers(rows, 10).values["stderr"] == pytest.approx(0.2422, abs=5e-5)


def test_best_other_reading_shows_a_format_gap() -> None:
    def also(strict: float, loose: float) -> list[dict[str, object]]:
        return [{"rule": "strict", "score": strict}, {"rule": "loose", "score": loose}]

    rows = [row(0, "correct", also=also(0, 1)), row(1, "incorrect", also=also(0, 1)), row(2, "no_answer")]
    values = cell_numbers(rows, 3).values
    assert values["lenient_score"] == pytest.approx(2 / 3)
    assert values["format_gap_pp"] == pytest.approx(100 / 3)
    numbers = cell_numbers([row(0)], 1)
    assert numbers.absent["lenient_score"] == "the suite reads replies in one way only"


def test_lenient_score_is_never_below_the_score() -> None:
    """The headline is one of the readings; repeats weigh the same in both."""

    def read(score: float) -> list[dict[str, object]]:
        return [{"rule": "official", "score": score}]

    values = cell_numbers([row(0, also=read(0)), row(1, "incorrect", also=read(0))], 2).values
    assert (values["score"], values["lenient_score"], values["format_gap_pp"]) == (0.5, 0.5, 0.0)
    rows = [
        row(0, also=read(1)),
        row(1, "incorrect", also=read(0)),
        row(1, "incorrect", repeat=1, also=read(1)),
    ]
    values = cell_numbers(rows, 3).values
    assert (values["score"], values["lenient_score"]) == (0.5, 0.75)


def test_tokens_are_summed_over_those_that_told() -> None:
    rows = [row(0, usage={"output_tokens": 10}), row(1, usage={"output_tokens": 30}), row(2), row(3)]
    numbers = cell_numbers(rows, 4)
    assert numbers.values["output_tokens"] == 40
    assert numbers.values["output_tokens_coverage"] == 0.5
    assert numbers.values["output_tokens_p50"] == 20
    assert numbers.absent["output_tokens_p95"] == "needs 20 values, has 2"
    for name in ("input_tokens", "cost_usd", "reasoning_tokens"):
        assert name not in numbers.values
        assert name in numbers.absent


def test_categories_have_scores_of_their_own() -> None:
    rows = [row(0, category="x"), row(1, "incorrect", category="x"), row(2, category="y"), row(3)]
    values = cell_numbers(rows, 4).values
    assert (values["score.x"], values["samples.x"]) == (0.5, 2)
    assert (values["score.y"], values["samples.y"]) == (1.0, 1)


def test_words_for_what_was_left_out() -> None:
    outcomes = {outcome.value: 0 for outcome in Outcome}
    assert left_out_words(outcomes, 0) == ""
    outcomes.update(harness_error=1, skipped=2)
    assert left_out_words(outcomes, 3) == "1 error, 2 skipped, 3 not asked"
