"""``choice-order``: the options of a row in another order, every other order equally likely.

The right option may keep its letter. A perturbation that always moved it would make "never the old
letter" a winning answer and bias the difference. Options that speak of other options stay in place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_benchkit.datasets.shuffle import generator, permutation
from pytest_benchkit.perturbations.base import NotPerturbable, PerturbedTask
from pytest_benchkit.task import Task

NAME = "choice-order"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FEW_WORDS = 10
"""An option that speaks of others is a short one; longer texts only happen to hold such words."""
HOW_MANY = r"all|none|both|neither|either"
MANY = (
    r"(?:(?:at least|exactly|only|not|just)\s+)?"
    rf"(?:{HOW_MANY}|any|each|some|most|several|more than one|(?:a\s+)?combinations?"
    r"|one|two|three|four|five|\d)"
)
THESE = r"(?:above|below|these|those|them|options|choices|answers|statements|alternatives)"
IS_SO = (
    r"(?:appl(?:y|ies)|(?:is|are|was|were|(?:may|can|could)\s+be)\s+(?:(?:all|both|equally|not)\s+){0,2}"
    r"(?:correct|true|right|valid|possible|wrong|false|incorrect))"
)
OPTION = r"(?i:options?|choices?|answers?|statements?|alternatives?)"
GROUP = re.compile(
    rf"\W*{MANY}\b(?:[\s\w]{{0,20}}?\b{THESE}\b|\s+{IS_SO}\W*$)|\W*(?:{HOW_MANY})\W*$"
    rf"|.*\bof\s+(?:the\s+)?{THESE}\W*$|.*\b{OPTION}\s+(?:above|below)\b",
    re.IGNORECASE,
)
"""``All of the above``, ``both are correct``: about the other options together, whatever their letters."""
LABEL = re.compile(r"\W*[A-Za-z][.):]\s+")
"""An option's own letter before its text; it stays true where the option stays."""
LETTER = r"[(\[\"']?([A-Za-z])[.)\]\"']{0,2}"
NUMBER = r"\(?(\d{1,2})[.)]?"
ROMAN = r"\(?(?:I{1,3}|IV|VI{0,3})[.)]?"
JOIN = r"(?:\s*,\s*(?:(?:and|or|but not)\s+)?|\s*&\s*|\s+(?:and|or|nor|and/or|but not)\s+)"
LEAD = rf"\W*(?:(?:(?i:both|either|neither|only|all but|all except|none but|not)|{OPTION})\s+){{0,3}}"
TAIL = rf"(?:\s+(?i:only|alone|both|together|but not both|{IS_SO})){{0,2}}\W*$"
LISTS = re.compile(
    rf"{LEAD}{LETTER}(?:{JOIN}(?:{OPTION}\s+)?{LETTER}){{0,9}}{TAIL}"
    rf"|{LEAD}{NUMBER}(?:{JOIN}{NUMBER}){{1,9}}{TAIL}"
)
"""``A``, ``a) and c) only``, ``1 and 2``: letters or numbers of options are all that it says. One number
alone is a quantity."""
ALONE = re.compile(r"\b(?:[A-Za-z]|\d{1,2})\b")
NAMED = re.compile(
    rf".*\b(?i:both|either|neither)\s+{LETTER}{JOIN}{LETTER}(?![\w'])|.*\b{OPTION}\s+"
    rf"(?:\(?([A-Z])(?![\w'])|\(([a-z])\)|([a-z])(?=\W*$|\)|\s+(?:and|or|is|are)\b)|{NUMBER}(?![\w'.]))"
)
"""``Both A and B``, ``option C``, among other words."""
BY_PLACE = re.compile(
    rf"{LEAD}{ROMAN}(?:{JOIN}{ROMAN}){{1,9}}{TAIL}|.*\b{OPTION}\s+{ROMAN}(?![\w'])"
    rf"|.*\b(?i:first|second|third|fourth|last|previous|preceding|next)"
    rf"(?:\s+(?i:two|three|four))?(?:\s+{OPTION}\b|(?<=two|our)\W*$|(?<=three)\W*$)"
)
"""``I and III only``, ``the first two``."""


def choice_order(key: str, task: Task, seed: int) -> PerturbedTask:
    """The twin of a row with ``options`` (texts) and ``answer`` (the letter of the right one).

    Its facts: ``order`` (the original position of each option shown), ``gold_before``, ``gold_after``.
    Raises :class:`NotPerturbable` when an option names another by its letter, number or place, or when fewer
    than two options may move.
    """
    options: Sequence[str] = task["options"]
    for text in options:
        if _names_another(text, len(options)):
            raise NotPerturbable(f"the option {text[:40]!r} names another option")
    free = [place for place, text in enumerate(options) if not _is_about_all(text)]
    if len(free) < 2:
        raise NotPerturbable(f"{len(free)} of {len(options)} options may move")
    order = list(range(len(options)))
    bits = generator(seed, key, task.id, NAME)
    while order == sorted(order):
        moved = permutation(len(free), bits)
        for place, source in zip(free, moved, strict=True):
            order[place] = free[source]
    before = LETTERS.index(task["answer"])
    after = LETTERS[order.index(before)]
    return PerturbedTask(
        task,
        {"options": [options[place] for place in order], "answer": after},
        {"name": NAME, "seed": seed, "order": order, "gold_before": task["answer"], "gold_after": after},
    )


def _is_about_all(text: str) -> bool:
    return len(text.split()) <= FEW_WORDS and any(GROUP.match(read) for read in _readings(text))


def _names_another(text: str, count: int) -> bool:
    """Whether an option points at one of ``count`` by letter, number or place."""
    if len(text.split()) > FEW_WORDS:
        return False
    known = {*LETTERS[:count], *(str(number) for number in range(1, count + 1))}
    for read in _readings(text):
        named = [ref for ref in hit.groups() if ref] if (hit := NAMED.match(read)) else []
        for refs in (ALONE.findall(read) if LISTS.match(read) else [], named):
            if refs and all(ref.upper() in known for ref in refs):
                return True
        if BY_PLACE.match(read):
            return True
    return False


def _readings(text: str) -> list[str]:
    """An option as it is, on one line, and without its own label."""
    text = " ".join(text.split())
    label = LABEL.match(text)
    return [text, text[label.end() :]] if label else [text]
