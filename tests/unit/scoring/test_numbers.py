from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.scoring.numbers import final_answer, parse, show, value
from tests.conformance import parts

if TYPE_CHECKING:
    from decimal import Decimal

VECTORS = [
    ("so\n#### 18", "18", "hash-number"),
    ("#### $18.00.", "18", "hash-number"),
    ("#### **1,234** dollars per day.", "1234", "hash-number"),
    ("#### \u22125", "-5", "hash-number"),
    ("#### \u20135", "-5", "hash-number"),
    ("#### \ufe635", "-5", "hash-number"),
    ("#### \uff0d5", "-5", "hash-number"),
    ("#### $-5", "-5", "hash-number"),
    ("#### -$5", "-5", "hash-number"),
    ("#### +5", "5", "hash-number"),
    ("#### \u20ac 5", "5", "hash-number"),
    ("#### 1\u202f234", "1234", "hash-number"),
    ("#### 1\u00a0234\u00a0567", "1234567", "hash-number"),
    ("#### 1\u2009234", "1234", "hash-number"),
    ("#### 1'234", "1234", "hash-number"),
    ("#### 12.", "12", "hash-number"),
    ("#### 18%", "18", "hash-number"),
    ("#### : **18**", "18", "hash-number"),
    ("#### \\boxed{18}", "18", "hash-number"),
    ("#### \\(18\\)", "18", "hash-number"),
    ("#### $18$", "18", "hash-number"),
    ("#### 25 km/h", "25", "hash-number"),
    ("####18", "18", "hash-number"),
    ("####  \uff11\uff18", "18", "hash-number"),
    ("#### .5", "0.5", "hash-number"),
    ("#### 1.5e3", "1500", "hash-number"),
    ("#### 2. Check\nfoo\n#### 18", "18", "hash-number"),
    ("#### 18\n#### 2. Check 7", "18", "hash-number"),
    ("#### Step 3\n#### 18", "18", "hash-number"),
    ("#### 3/4", "3", "hash-first"),
    ("#### 3-4", "3", "hash-first"),
    ("#### 18 or 20", "18", "hash-first"),
    ("#### 1,00", "100", "hash-first"),
    ("#### in total 6 \u00d7 7 = 42", "42", "hash-loose"),
    ("#### Total: 18 of 20 apples", "20", "hash-loose"),
    ("\\boxed{1} so \\boxed{\\$1{,}234}", "1234", "boxed"),
    ("\\boxed{\\text{18 dollars}}", "18", "boxed"),
    ("\\boxed{x = 18}", "18", "boxed"),
    ("\\boxed{1\\,000}", "1000", "boxed"),
    ("The answer is **$18**. There are 3", "18", "answer-phrase"),
    ("**Final Answer**: 18, from 3", "18", "answer-phrase"),
    ("Answer: -18", "-18", "answer-phrase"),
    ("answer = 18 (not 20)", "18", "answer-phrase"),
    ("so 18 apples", "18", "last-number"),
    ("total is 10-3=7", "7", "last-number"),
    ("- 18 apples", "18", "last-number"),
]


@pytest.mark.parametrize(("text", "gold", "rule"), VECTORS)
def test_rule_and_value(text: str, gold: str, rule: str) -> None:
    score = final_answer(text, gold)
    assert (score.value, score.rule, score.extracted) == (1.0, rule, show(value(gold)))
    assert score.span is not None
    assert any(char.isdigit() for char in text[slice(*score.span)])


@pytest.mark.parametrize(
    "text", ["", "no number", "1/2", "I think 3-4", "x2 H2O", "#### " + "1" * 5000, "\ud800"]
)
def test_nothing_to_read(text: str) -> None:
    score = final_answer(text, "1")
    assert (score.value, score.rule, score.extracted, score.span) == (0.0, "none", None, None)


@pytest.mark.parametrize("text", ["#### 1e999", "#### -1e-999", "#### 10\u00b2", "12", "#### 1.0000001"])
def test_other_values_miss(text: str) -> None:
    assert final_answer(text, "1").value == 0.0


def test_cut_reply_is_not_guessed() -> None:
    assert final_answer("first 3 apples, then 18", "18", cut=True).rule == "none"
    assert final_answer("#### 18", "18", cut=True).value == 1.0


def test_span_points_into_the_original_answer() -> None:
    text = "\ufb01ne \\$ \\text{so}\n#### \uff11\uff18 \\$"
    score = final_answer(text, "18")
    assert score.span is not None
    assert text[slice(*score.span)] == "\uff11\uff18"


def test_declared_deviation_from_upstream() -> None:
    score = final_answer("#### 12.", "12")
    readings = {reading.rule: reading.score for reading in score.also}
    assert score.value == 1.0
    assert readings == {"official": 0.0, "lmeval-strict": 1.0, "lmeval-flexible": 1.0}


@given(st.text(st.characters(codec=None)), st.booleans())
def test_total_over_any_text(text: str, cut: bool) -> None:
    check(text, cut)


@given(
    st.lists(
        st.sampled_from([*parts.NUMBERS, "1e999", "\u2212", "{", "}", "\\text{", "\ud800", "\u00bd"]),
        max_size=30,
    )
)
@settings(max_examples=300)
def test_total_over_likely_text(parts: list[str]) -> None:
    check("".join(parts), False)


def check(text: str, cut: bool) -> None:
    score = final_answer(text, "18", cut=cut)
    assert score.value in (0.0, 1.0)
    assert (score.rule == "none") == (score.extracted is None) == (score.span is None)
    if score.span is not None:
        start, end = score.span
        assert 0 <= start < end <= len(text)


M = (1 << 20) - 8


@pytest.mark.parametrize(
    "part",
    ["#### ", "\\boxed{", "1,", "answer is ", "1", "-", "1'000", "\\text{", "$ ", "#### a ", "\u00e9", " "],
)
def test_a_mebibyte_is_read_in_linear_time(part: str) -> None:
    start = time.process_time()
    final_answer(part * (M // len(part)), "1")
    assert time.process_time() - start < 15


def test_text_beyond_a_mebibyte_is_read_at_both_ends() -> None:
    score = final_answer("x" * (2 << 20) + "\n#### 18", "18")
    assert score.flags == ("clipped",)
    assert score.value == 1.0
    assert score.span == ((2 << 20) + 6, (2 << 20) + 8)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_show_and_parse_are_inverse(number: Decimal) -> None:
    assert parse(show(number)) == number


@pytest.mark.parametrize("gold", ["", "twelve", "1 2", "1" * 65])
def test_gold_must_be_a_number(gold: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        final_answer("1", gold)
