"""Published readings, re-stated for comparison: the patterns and steps as upstream documents them.

Quadratic patterns are fine here, because generated replies are short.
"""

from __future__ import annotations

import random
import re


def mmlu_pro(text: str) -> tuple[str | None, int]:
    """TIGER-AI-Lab/MMLU-Pro @ 007ab5c2: the letter and the step that found it."""
    if found := re.search(r"answer is \(?([A-J])\)?", text):
        return found.group(1), 1
    if found := re.search(r".*[aA]nswer:\s*([A-J])", text):
        return found.group(1), 2
    if found := re.search(r"\b[A-J]\b(?!.*\b[A-J]\b)", text, re.DOTALL):
        return found.group(0), 3
    return None, 0


def gpqa(text: str) -> tuple[str | None, int]:
    """idavidrein/gpqa: the letter and the number of the pattern."""
    patterns = [r"answer is \((.)\)", r"Answer: \((.)\)", r"answer: \((.)\)", r"answer \((.)\)", r"\((.)\)"]
    for number, pattern in enumerate(patterns, 1):
        found = re.search(pattern, text)
        if found and found.group(1) in ("A", "B", "C", "D"):
            return found.group(1), number
    return None, 0


def gsm8k_official(text: str) -> str | None:
    """openai/grade-school-math @ 3101c7d."""
    found = re.search(r"#### (\-?[0-9\.\,]+)", text)
    return found.group(1).strip().replace(",", "") if found else None


def _lmeval_equal(read: str, gold: str) -> bool:
    for ignored in (",", r"\$", r"(?s).*#### ", r"\.$"):
        read, gold = re.sub(ignored, "", read), re.sub(ignored, "", gold)
    return read.lower() == gold.lower()


def lmeval_strict(text: str, gold: str) -> bool:
    """lm-evaluation-harness 0.4.13, gsm8k, strict-match: the first match."""
    found = re.findall(r"#### (\-?[0-9\.\,]+)", text)
    return _lmeval_equal(found[0].strip() if found else "[invalid]", gold)


def lmeval_flexible(text: str, gold: str) -> bool:
    """lm-evaluation-harness 0.4.13, gsm8k, flexible-extract: the last match, its group that took part."""
    found = re.findall(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", text)
    read = next((group for group in found[-1] if group), "[invalid]") if found else "[invalid]"
    return _lmeval_equal(read.strip(), gold)


def made_up(seed: int, parts: list[str], most: int) -> str:
    """A reply put together from parts by chance, the same for the same seed."""
    chance = random.Random(seed)
    return "".join(chance.choice(parts) for _ in range(chance.randint(1, most)))
