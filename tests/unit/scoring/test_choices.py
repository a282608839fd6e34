from __future__ import annotations

import time
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.scoring.choices import LETTERS, letter, score
from tests.conformance import parts

FOUR = ["foo", "bar", "baz qux", "Bar"]
TEN = [f"option text {number}" for number in range(10)]

VECTORS = [
    ("(b).", "B", "bare-letter"),
    ("```text\nB\n```", "B", "bare-letter"),
    ("\uff22", "B", "bare-letter"),
    ("**C**", "C", "bare-letter"),
    ("The answer is (B), not A", "B", "answer-is"),
    ("answer is Amsterdam. The answer is B", "B", "answer-is"),
    ("Answer: A or answer: B\nAnswer: C", "B", "answer-colon"),
    ("**Answer:** C", "C", "answer-colon"),
    ("Answer:\n(D)", "D", "answer-colon"),
    ("\\boxed{A} or \\boxed{\\text{D}}", "D", "boxed"),
    ("so \\boxed{\\mathrm{(C)}}", "C", "boxed"),
    ("<answer>B</answer>", "B", "tagged"),
    ('<Final_Answer id="x"> (C) </Final_Answer> A', "C", "tagged"),
    ('{"answer": "C"}', "C", "tagged"),
    ("I'd pick **C**.", "C", "answer-wide"),
    ("The answer is **B**.", "B", "answer-wide"),
    ("Option B is correct, A is not", "B", "answer-wide"),
    ("B is the correct answer", "B", "answer-wide"),
    ("ANSWER: B", "B", "answer-wide"),
    ("The correct option would be (C)", "C", "answer-wide"),
    ("the final answer is\n\nC", "C", "answer-wide"),
    ("I choose option D over A", "D", "answer-wide"),
    ("B)\nA is tempting but fails", "B", "line-label"),
    ("**B) bar**", "B", "line-label"),
    ("Some words about A\n\nC. baz", "C", "line-label"),
    ("bar", "B", "option-text"),
    ("Bar", "D", "option-text"),
    ("I think\nBAZ   QUX!", "C", "option-text"),
    ("so (c)", "C", "lower-marker"),
    ("The answer is b.", "B", "lower-marker"),
    ("The answer: d", "D", "lower-marker"),
    ("A. foo\nB. bar\nhence B", "B", "last-capital"),
    ("choice C looks tempting", "C", "last-capital"),
    ("alternative (D) ignores friction", "D", "last-capital"),
    ("The best choice is A dog. B", "B", "last-capital"),
    ("I think it is foo.", "A", "contained-option"),
]


@pytest.mark.parametrize(("text", "wanted", "rule"), VECTORS)
def test_rule_and_letter(text: str, wanted: str, rule: str) -> None:
    read = letter(text, FOUR)
    assert (read.letter, read.rule) == (wanted, rule)
    assert read.span is not None
    assert text[slice(*read.span)]


@pytest.mark.parametrize(
    "text", ["", "E", "A dog barks.", "f(a) = 3", "I do not know", "bar and foo", "vitamin", "\ud800"]
)
def test_nothing_to_read(text: str) -> None:
    assert letter(text, ["foo", "bar", "baz", "qux"]).rule == "none"


def test_alphabet_is_what_is_shown() -> None:
    assert letter("The answer is (C)", ["x1", "y1"]).letter is None
    assert letter("C, I guess", TEN).letter == "C"
    assert letter("J", TEN).letter == "J"


def test_pronoun_and_article_are_no_letters() -> None:
    assert letter("C. I'm sure. I am.", TEN).letter == "C"
    assert letter("It must be I.", TEN).letter == "I"
    assert letter("Hmm. A because it fits", FOUR).letter == "A"
    assert letter("B, hm. A cat is not it", FOUR).letter == "B"


def test_cut_reply_is_not_guessed() -> None:
    assert letter("so far A and B", FOUR, cut=True).rule == "none"
    assert letter("the answer is B", FOUR, cut=True).letter == "B"


def test_two_statements_are_flagged() -> None:
    assert letter("The answer is A. No, the answer is B.", FOUR).flags == ("ambiguous",)
    assert letter("The answer is A. Yes, the answer is A.", FOUR).flags == ()
    assert letter("so A or B", FOUR).flags == ()


def test_longer_option_hides_the_shorter_inside() -> None:
    options = ["iron", "iron oxide", "carbon", "gold"]
    assert letter("it is iron oxide", options).letter == "B"
    assert letter("it is iron oxide or iron", options).letter is None
    assert letter("ironing", options).letter is None


def test_score_carries_gold_and_number_of_options() -> None:
    judged = score("B", FOUR, "B")
    assert (judged.value, judged.extracted, judged.expected, judged.labels) == (1.0, "B", "B", {"options": 4})
    assert score("C", FOUR, "B").value == 0.0
    assert score("", FOUR, "B").value == 0.0


@pytest.mark.parametrize(("count", "wanted"), [(2, "B"), (4, "D"), (9, "G"), (10, "G")])
def test_fixed_guess_of_mmlu_pro(count: int, wanted: str) -> None:
    readings = {reading.rule: reading for reading in score("?", TEN[:count], "A", profile="mmlu-pro").also}
    assert readings["official"].extracted is None
    assert readings["official-guess"].extracted == wanted


@given(st.text(st.characters(codec=None)), st.integers(2, 13), st.sampled_from(["plain", "gpqa", "mmlu-pro"]))
def test_total_over_any_text(text: str, count: int, profile: Literal["plain", "gpqa", "mmlu-pro"]) -> None:
    check(text, LETTERS[:count], profile)


@given(
    st.lists(
        st.sampled_from([*parts.LETTERS, "\\boxed{", "}", "<answer>", "</", '"answer": ', "```\n", "\ud800"]),
        max_size=30,
    ),
    st.sampled_from(["plain", "gpqa", "mmlu-pro"]),
)
@settings(max_examples=300)
def test_total_over_likely_text(parts: list[str], profile: str) -> None:
    check("".join(parts), "ABCD", profile)


def check(text: str, alphabet: str, profile: str) -> None:
    read = letter(text, [f"text {name}" for name in alphabet], profile=profile)
    assert (read.rule == "none") == (read.letter is None) == (read.span is None)
    if read.letter is not None and read.span is not None:
        assert read.letter in alphabet
        start, end = read.span
        assert 0 <= start < end <= len(text)


@given(st.lists(st.text(max_size=8), min_size=2, max_size=6), st.text(max_size=40))
def test_total_over_any_options(options: list[str], text: str) -> None:
    assert letter(text, options).letter in (None, *LETTERS[: len(options)])


M = (1 << 20) - 16


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "A ",
        "answer is ",
        "Answer:",
        "(",
        " ",
        "\n",
        "B) x\n",
        "\\boxed{",
        "<answer>",
        '"answer":',
        "choose ",
        "```\n",
    ],
)
def test_a_mebibyte_is_read_in_linear_time(part: str) -> None:
    start = time.process_time()
    score(part * (M // len(part)), TEN, "A", profile="mmlu-pro")
    assert time.process_time() - start < 15
