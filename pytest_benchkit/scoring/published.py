"""Letters as published evaluators read them, for ``also``: re-stated in linear time, guess apart."""

from __future__ import annotations

import random
import re
from collections import deque
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

GPQA_PATTERNS = tuple(
    re.compile(before + r"\((.)\)") for before in ("answer is ", "Answer: ", "answer: ", "answer ", "")
)
"""idavidrein/gpqa ``parse_sampled_answer``: the first match of each in turn; a letter A to D counts."""

ANSWER_IS = re.compile(r"answer is \(?([A-J])\)?")
# The letter is only looked at, because it may be the first of the next "Answer:".
ANSWER_COLON = re.compile(r"[aA]nswer:(?=\s*([A-J]))")
ALONE = re.compile(r"\b[A-J]\b")


def readings(text: str, profile: str, count: int) -> Iterator[tuple[str, str | None]]:
    """The published readings of a profile: rule and letter. ``plain`` has none."""
    if profile == "gpqa":
        yield "official", gpqa(text)
    if profile == "mmlu-pro":
        found = mmlu_pro(text)
        yield "official", found
        yield "official-guess", found or guess(count)


def gpqa(text: str) -> str | None:
    """The letter by idavidrein/gpqa's patterns."""
    for pattern in GPQA_PATTERNS:
        if (match := pattern.search(text)) and match[1] in "ABCD":
            return match[1]
    return None


def mmlu_pro(text: str) -> str | None:
    """TIGER-AI-Lab/MMLU-Pro ``evaluate_from_api.py`` @ 007ab5c2b1b1271303db9f92bbd9fe0e173db18c.

    First ``answer is X``; else on the first line that has it the rightmost ``Answer: X``; else the last
    capital A to J that stands as a word. Upstream's second pattern starts with ``.*``, which takes
    quadratic time on a long line; grouping the hits by line gives the same.
    """
    if first := ANSWER_IS.search(text):
        return first[1]
    stated = list(ANSWER_COLON.finditer(text))
    if stated:
        end = text.find("\n", stated[0].start())
        return [match for match in stated if end < 0 or match.start() < end][-1][1]
    last = deque(ALONE.finditer(text), maxlen=1)
    return last[0][0] if last else None


@cache
def guess(count: int) -> str:
    """MMLU-Pro's letter for a reply that names none: it seeds Python's generator with 12345 for each row,
    so the guess is the same for all rows with equally many options."""
    return LETTERS[random.Random(12345).randint(0, count - 1)]
