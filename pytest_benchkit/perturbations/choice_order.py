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
GROUP = re.compile(
    r"\W*(?:all|none|both|neither|either|any|each|some|most|more than one)\b[\s\w]{0,20}?"
    r"\b(?:above|below|these|those|them|(?:the|other|listed)\s+(?:options|choices|answers|statements))\b",
    re.IGNORECASE,
)
"""``All of the above``, ``neither of these``: about the other options together, whatever their letters."""
JOIN = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+)"
ONE = r"\(?([A-Za-z])\)?"
BY_LETTER = re.compile(
    rf"\b([A-Z]){JOIN}([A-Z])\b|\b(?:both|either|neither)\s+{ONE}{JOIN}{ONE}(?![\w'])"
    rf"|\b(?i:options?|choices?|answers?|statements?)\s+{ONE}(?![\w'])|\({ONE}\){JOIN}\({ONE}\)|^\W*([A-Z])\W*$"
)
"""``Both A and B``, ``option C``, a letter alone: about options that another order renames."""
BY_NUMBER = re.compile(
    r"\b(?i:options?|choices?|answers?|statements?)\s+(?:\d{1,2}|I{1,3}|IV|V)\b"
    rf"|^\W*[IV]+(?:{JOIN}[IV]+)+(?:\s+only)?\W*$"
)


def choice_order(key: str, task: Task, seed: int) -> PerturbedTask:
    """The twin of a row with ``options`` (texts) and ``answer`` (the letter of the right one).

    Its facts: ``order`` (the original position of each option shown), ``gold_before``, ``gold_after``.
    Raises :class:`NotPerturbable` when an option names another by its letter or number, or when fewer than
    two options may move.
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
    return len(text.split()) <= FEW_WORDS and GROUP.match(text) is not None


def _names_another(text: str, count: int) -> bool:
    """Whether an option points at one of ``count`` by letter or number."""
    if len(text.split()) > FEW_WORDS:
        return False
    known = LETTERS[:count]
    for match in BY_LETTER.finditer(text):
        if all(letter.upper() in known for letter in match.groups() if letter):
            return True
    return BY_NUMBER.search(text) is not None
