from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.commands.table import megabytes, table

HEAD = ("key", "tasks", "licence", "description")
ROWS = [["gsm8k", "1,319", "MIT", "word problems"], ["mmlu", "14,042", "-", "many subjects"]]


def test_natural_width_without_a_terminal() -> None:
    assert table(HEAD, ROWS, keep=2) == [
        "key    tasks   licence  description",
        "gsm8k  1,319   MIT      word problems",
        "mmlu   14,042  -        many subjects",
    ]


def test_narrow_terminal_moves_columns_to_a_second_line() -> None:
    assert table(HEAD, [["gsm8k", "1,319", "MIT", "w" * 40], ROWS[1]], keep=2, width=50) == [
        "key    tasks",
        "gsm8k  1,319",
        "    licence: MIT",
        "    description: " + "w" * 40,
        "mmlu   14,042",
        "    description: many subjects",
    ]


def test_below_forty_columns_every_value_has_a_line() -> None:
    assert table(HEAD, ROWS[:1], keep=2, width=39)[:2] == ["key: gsm8k", "tasks: 1,319"]


@given(st.sampled_from([20, 40, 60, 80, 120, 200, None]))
def test_numbers_are_whole_at_any_width(width: int | None) -> None:
    text = "\n".join(table(HEAD, ROWS, keep=2, width=width))
    assert re.findall(r"\d+,\d+", text) == ["1,319", "14,042"]


@pytest.mark.parametrize(
    ("size", "told"), [(None, "-"), (0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2 * 10**9, "2.0 GB")]
)
def test_sizes(size: int | None, told: str) -> None:
    assert megabytes(size) == told


def test_declared_size_is_marked() -> None:
    assert megabytes(1500, declared=True) == "~1.5 kB"
