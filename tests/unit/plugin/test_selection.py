"""What ``--bench`` slices and ``-k`` mean before anything is read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.plugin.selection import NameFilter, Slice, parse_slice, rows_of
from pytest_benchkit.task import TaskIndex


@pytest.mark.parametrize(
    ("text", "slice_"),
    [
        ("gsm8k", Slice("gsm8k")),
        ("gsm8k:20", Slice("gsm8k", "sample", 20)),
        ("gsm8k:head:20", Slice("gsm8k", "head", 20)),
        ("hellaswag:activitynet-1000", Slice("hellaswag", "all", None, "activitynet-1000")),
        ("hellaswag:activitynet-1000:5", Slice("hellaswag", "sample", 5, "activitynet-1000")),
        ("hellaswag:activitynet-1000:head:5", Slice("hellaswag", "head", 5, "activitynet-1000")),
    ],
)
def test_slices(text: str, slice_: Slice) -> None:
    assert parse_slice(text) == slice_


@pytest.mark.parametrize(
    "text", ["", ":", "a:", "a:0", "a:-1", "a:head", "a:1:1", "a:B", "a:x:y", "a:1.5", "a:٣"]
)
def test_bad_slices(text: str) -> None:
    with pytest.raises(UsageProblem, match="write KEY"):
        parse_slice(text)


def test_rows_that_are_in_order_by_design_stay_so() -> None:
    ids = [f"{place:03d}" for place in range(40)]
    index = TaskIndex(ids, [None] * 40, [None] * 40, "", planned=True)
    assert rows_of(Slice("s", "sample", 7), index, "s") == list(range(7))
    assert rows_of(None, index, "s") == list(range(40))
    assert rows_of(None, replace(index, planned=False), "s") != list(range(40))


FIXED = ["gsm8k", "bench_gsm8k.py", "bench", "benchsuites"]
PIECES = ["gsm8k", "qwen3.8b", "direct", "none"]


@pytest.mark.parametrize(
    ("expression", "may"),
    [
        ("gsm8k", True),
        ("GSM8K", True),
        ("arc", False),
        ("not gsm8k", False),
        ("not arc", True),
        ("gsm8k and 0042", True),
        ("gsm8k and not 0042", True),
        ("arc or 0042", True),
        ("arc and 0042", False),
        ("qwen3.8b", True),
        ("direct-00", True),
        ("piqa or truthfulqa", False),
        ("bench_gsm8k.py and (arc or 42)", True),
    ],
)
def test_k_rules_out_what_cannot_match(expression: str, may: bool) -> None:
    assert NameFilter(expression).may_match(FIXED, PIECES, ()) is may


def test_unknown_ids_are_never_ruled_out() -> None:
    assert NameFilter("algebra").may_match(FIXED, PIECES, None)
    assert NameFilter("algebra").may_match(FIXED, PIECES, ("abstract-algebra",))
    assert not NameFilter("algebra").may_match(FIXED, PIECES, ("virology",))


@given(
    st.sampled_from(["0042", "gsm8k", "direct", "arc", "42]", "b-direct", "k[qwen3", "007"]),
    st.integers(0, 9999),
    st.booleans(),
)
def test_a_ruled_out_suite_never_held_a_matching_item(word: str, row: int, negated: bool) -> None:
    name = f"gsm8k[qwen3.8b-direct-{row:04d}]"
    expression = f"not {word}" if negated else word
    may = NameFilter(expression).may_match(FIXED, PIECES, ())
    matches = any(word in text for text in (name, *FIXED)) is not negated
    assert may or not matches
