from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.scoring.yesno import score, verdict

VECTORS = [
    ("Yes.", "yes", "bare"),
    ("**no**", "no", "bare"),
    ("TRUE", "yes", "bare"),
    ("\uff39\uff25\uff33", "yes", "bare"),
    ("Yes. But the answer is no.", "no", "answer-marker"),
    ("Answer: **YES**", "yes", "answer-marker"),
    ("verdict = no; conclusion: true", "yes", "answer-marker"),
    ("The answer to the question is yes, not no.", "yes", "answer-marker"),
    ("Yes, although no one knows", "yes", "leading-verdict"),
    ("yes it does, no doubt", "yes", "leading-verdict"),
    ("No, because yes would be odd", "no", "leading-verdict"),
    ("No \u2014 yes would be odd", "no", "leading-verdict"),
    ("No it does not, yes", "no", "leading-verdict"),
    ("\u201cNo\u201d\nyes is wrong", "no", "leading-verdict"),
    ("False. Yes is wrong", "no", "leading-verdict"),
    ("yes and no\nso\n**No.**", "yes", "leading-verdict"),
    ("It says yes and no.\nNo.", "no", "final-line"),
    ("No evidence shows it", "no", "unanimous"),
    ("I would say yes, yes", "yes", "unanimous"),
]


@pytest.mark.parametrize(("text", "word", "rule"), VECTORS)
def test_rule_and_verdict(text: str, word: str, rule: str) -> None:
    read = verdict(text)
    assert (read.word, read.rule) == (word, rule)
    assert read.span is not None


@pytest.mark.parametrize("text", ["", "nothing", "yesterday", "know", "\ud800"])
def test_nothing_to_read(text: str) -> None:
    read = verdict(text)
    assert (read.word, read.rule, read.flags) == (None, "none", ())


def test_both_words_without_a_verdict_are_ambiguous() -> None:
    assert verdict("it is yes or no").flags == ("ambiguous",)


def test_cut_reply_is_not_guessed() -> None:
    assert verdict("I would say yes", cut=True).word is None
    assert verdict("Yes, because", cut=True).word == "yes"


def test_score() -> None:
    assert score("yes", "yes").value == 1.0
    judged = score("No.", "yes")
    assert (judged.value, judged.extracted, judged.expected, judged.rule) == (0.0, "no", "yes", "bare")


@given(st.one_of(st.text(st.characters(codec=None)), st.lists(st.sampled_from(PARTS := [
    "yes", "no", " ", "\n", "No ", "answer", " is ", ": ", "**", ".", "evidence ", "true", "false", "\ud800"
]), max_size=20).map("".join)))  # fmt: skip
@settings(max_examples=300)
def test_total(text: str) -> None:
    read = verdict(text)
    assert (read.rule == "none") == (read.word is None) == (read.span is None)
    if read.span is not None:
        assert text[slice(*read.span)]


@pytest.mark.parametrize("part", ["yes no ", "answer ", "(", " ", "\n", "answer is ", "no"])
def test_a_mebibyte_is_read_in_linear_time(part: str) -> None:
    start = time.process_time()
    verdict(part * (1_048_000 // len(part)))
    assert time.process_time() - start < 10
