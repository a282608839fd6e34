"""Tables at every width: no number is ever cut, wrapped or lost."""

from __future__ import annotations

import re

import pytest

from pytest_benchkit.reports.scores import overall_lines, score_columns
from pytest_benchkit.reports.table import Column, layout, middle_cut
from pytest_benchkit.runs.results import build
from tests.support.rows import Row, cell, info, row, timed

LONG = "qwen3-coder-30b-a3b-instruct-2507-q4-k-m"
OUTCOMES = ["correct"] * 6 + ["incorrect", "truncated", "no_answer", "harness_error", "skipped"]


def sweep() -> Row:
    rows, cells = [], []
    for model in ("m", LONG + "-one", LONG + "-two"):
        for suite, n in (("gsm8k", 400), ("arc", 60)):
            cells.append(cell(n + 3, suite, model))
            for place in range(n):
                outcome = OUTCOMES[place % len(OUTCOMES)]
                fields: Row = {"suite": suite, "model": model, "outcome": outcome}
                if outcome in ("harness_error", "skipped"):
                    rows.append(row(place, **fields))
                else:
                    rows.append(timed(place, 100 + place, 3 + place % 5, **fields))
    return build(info(cells), rows, {})


RESULTS = sweep()
COLUMNS = score_columns(RESULTS["results"])


@pytest.mark.parametrize("width", [None, 200, 120, 80, 60, 40, 20])
def test_every_number_is_whole_at_every_width(width: int | None) -> None:
    text = "\n".join(layout(COLUMNS, width))
    for column in COLUMNS:
        if column.kind == "name":
            continue
        for place, value in enumerate(column.cells):
            for part in re.split(r", (?![^\[]*\])", value):
                assert part in text, (column.heading, place)


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40, 20])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for line in layout(COLUMNS, width):
        assert len(line) <= width


def test_natural_width_without_a_terminal() -> None:
    lines = layout(COLUMNS, None)
    assert len(lines) == 1 + len(RESULTS["results"])
    assert lines[0].split()[:5] == ["suite", "model", "score", "[95", "%]"]
    assert LONG + "-two" in lines[-1]


def test_numbers_stand_under_their_heading() -> None:
    head, *rows = layout(COLUMNS, None)
    end = head.index(" n ") + 2
    for line in rows:
        assert re.search(r"\d+ of \d+$", line[:end])


def test_names_are_cut_only_while_they_differ() -> None:
    narrow = layout(COLUMNS, 60)
    models = {re.split(r"\s{2,}", line)[1] for line in narrow[1:] if not line.startswith(" ")}
    assert len(models) == 3
    alike = [Column("model", "name", ["aaaaaaaaaaaaaaaaaa1zzzzzzzzz", "aaaaaaaaaaaaaaaaaa2zzzzzzzzz"])]
    assert layout([*alike, Column("n", "core", ["1", "2"])], 25)[0].startswith("model: ") is False


def test_middle_cut() -> None:
    assert middle_cut("short", 9) == "short"
    assert middle_cut("abcdefghij", 7) == "abc…hij"
    assert len(middle_cut("abcdefghij", 6)) == 6


def test_unknown_is_a_dash_and_empty_columns_are_left_out() -> None:
    headings = [column.heading for column in score_columns(build(info([cell(1)]), [row(0)], {})["results"])]
    assert headings == ["suite", "model", "score", "[95 %]", "n", "time"]
    columns = score_columns(
        build(info([cell(1), cell(1, "t")]), [timed(0, 1, 5), row(0, suite="t")], {})["results"]
    )
    (tokens,) = [column for column in columns if column.heading == "output tokens"]
    assert tokens.cells == ["101", "–"]


@pytest.mark.parametrize(
    ("outcome", "word"),
    [("harness_error", "errors only"), ("skipped", "all skipped"), (None, "not asked")],
)
def test_no_score_is_a_dash_with_a_word(outcome: str | None, word: str) -> None:
    rows = [row(n, outcome) for n in range(3)] if outcome else []
    lines = layout(score_columns(build(info([cell(3)]), rows, {})["results"]))
    assert re.search(rf"– {word}\s+0 of 3", lines[1])
    assert not re.search(r"(?<!\d)0\.0", lines[1])


def test_more_columns_from_plugins() -> None:
    entries = build(info([cell(1), cell(1, "t")]), [row(0), row(0, suite="t")], {})["results"]
    (column,) = [c for c in score_columns(entries, [{"mine": "7"}, {}]) if c.heading == "mine"]
    assert column.cells == ["7", ""]


def test_hostile_names_stay_text() -> None:
    entries = build(info([cell(1, "a\x1b[31m:\u202eb")]), [], {})["results"]
    assert score_columns(entries)[0].cells == ["a\\x1b[31m:\\u202eb"]


def test_overall_line() -> None:
    cells = [cell(100, "a"), cell(300, "b"), cell(2, "c")]
    rows = [row(n, "correct" if n < 50 else "incorrect", suite="a") for n in range(100)]
    rows += [row(n, "correct", suite="b") for n in range(300)]
    (line,) = overall_lines(build(info(cells), rows, {})["overall"])
    assert line.startswith("overall m: macro 75.0 [70.1, 79.9], micro 87.5 [85.1, 89.9], n 400, 2 suites")
    assert line.endswith("(a, b; without c: not finished by m)")
    assert overall_lines(build(info([cell(1)]), [row(0)], {})["overall"]) == []
