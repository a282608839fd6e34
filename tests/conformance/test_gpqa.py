"""The letter of a reply held against GPQA's published patterns."""

from __future__ import annotations

from pytest_benchkit.scoring.choices import score
from tests.conformance import parts, references
from tests.conformance.comparison import Comparison

OPTIONS = ["foo", "bar", "baz qux", "Bar"]
REPLIES = 6000


def replies() -> list[str]:
    pieces = [part for part in parts.LETTERS if part != "J"]
    return [references.made_up(seed, pieces, 10) for seed in range(REPLIES)]


def compare() -> Comparison:
    """The official reading on every reply; the headline where one of the first four patterns fires."""
    held = Comparison(
        "gpqa",
        "published patterns (idavidrein/gpqa parse_sampled_answer)",
        note="the lone-bracket pattern, which takes the first bracket of a discussion; bare letters",
    )
    for text in replies():
        wanted, number = references.gpqa(text)
        judged = score(text, OPTIONS, "A", profile="gpqa")
        held.hold([reading.extracted for reading in judged.also], [wanted], f"official reading of {text!r}")
        declared = not 1 <= number <= 4 or judged.rule == "bare-letter"
        held.hold(judged.extracted, wanted, f"headline of {text!r}", declared=declared)
    return held


def test_gpqa() -> None:
    compare().demand(at_least=2 * REPLIES)


def test_every_pattern_is_met() -> None:
    patterns = [0] * 6
    for text in replies():
        patterns[references.gpqa(text)[1]] += 1
    assert min(patterns) > 20
