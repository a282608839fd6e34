"""The number of a reply held against GSM8K's official reading and lm-eval's two."""

from __future__ import annotations

import re

from pytest_benchkit.scoring.numbers import final_answer, parse, value
from tests.conformance import parts, references
from tests.conformance.comparison import Comparison, installed, needs

GOLDS = ("18", "1234", "-7")
REPLIES = 3000
LM_EVAL = ("lm-eval", "0.4.13")


def compare() -> Comparison:
    """The three readings on every reply, and the headline by value wherever our second rule, which is
    upstream's, fired."""
    held = Comparison(
        "gsm8k",
        "published patterns (grade-school-math @ 3101c7d; lm-eval 0.4.13 strict and flexible)",
        note="equality is numeric, so `12.` is 12; a number-only `####` line wins over an earlier one",
    )
    for gold in GOLDS:
        for seed in range(REPLIES):
            text = references.made_up(seed, parts.NUMBERS, 12)
            score = final_answer(text, gold)
            readings = {reading.rule: reading for reading in score.also}
            official = references.gsm8k_official(text)
            held.hold(readings["official"].extracted, official, f"official reading of {text!r}")
            held.hold(readings["official"].score, float(official == gold), f"official score of {text!r}")
            strict, flexible = references.lmeval_strict(text, gold), references.lmeval_flexible(text, gold)
            held.hold(readings["lmeval-strict"].score, float(strict), f"strict of {text!r}")
            held.hold(readings["lmeval-flexible"].score, float(flexible), f"flexible of {text!r}")
            if official is None:
                continue
            if score.rule == "hash-first":
                right = parse(official.removesuffix(".")) == value(gold)
                held.hold(score.value, float(right), f"headline by hash-first of {text!r}")
            else:
                held.hold(score.value, float(official == gold), f"headline of {text!r}", declared=True)
    return held


def test_gsm8k() -> None:
    compare().demand(at_least=4 * len(GOLDS) * REPLIES)


@needs(*LM_EVAL)
def test_the_patterns_are_those_of_lm_eval() -> None:
    """The patterns restated in ``references`` stand in lm-eval's own task file."""
    found = installed(*LM_EVAL).locate_file("lm_eval/tasks/gsm8k/gsm8k.yaml")
    with open(str(found), encoding="utf-8") as file:  # noqa: PTH123 (a path of importlib.metadata)
        patterns = re.findall(r"regex_pattern: (.+)", file.read())
    assert patterns == ['"#### (\\\\-?[0-9\\\\.\\\\,]+)"', '"(-?[$0-9.,]{2,})|(-?[0-9]+)"']
