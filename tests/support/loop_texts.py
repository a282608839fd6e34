"""Texts for the loop detector, made here: true loops, and repetition that is nobody's fault."""

from __future__ import annotations

import base64
import json
import random
from itertools import islice

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu", "wa")


def words(count: int, seed: int = 0) -> list[str]:
    """Pronounceable words in the order of chance, a few of them often, as in a language."""
    dice = random.Random(seed)
    stock = ["".join(dice.choices(SYLLABLES, k=dice.randint(1, 4))) for _ in range(4000)]
    return [stock[min(len(stock) - 1, int(dice.paretovariate(0.5)))] for _ in range(count)]


def prose(count: int, seed: int = 0) -> str:
    """So many words, with a full stop after every twelfth."""
    return " ".join(w + "." * (n % 12 == 11) for n, w in enumerate(words(count, seed))) + " "


SENTENCE = "So the train leaves at noon, and we have to count the hours again. "
LOOPS = {
    "one token": "the " * 3000,
    "one sentence": SENTENCE * 200,
    "a paragraph of 400 words": prose(400, seed=7) * 8,
    "two sentences by turns": (SENTENCE + "But no, that is wrong, let me start over. ") * 120,
    "a stuck number": "Wait, then the result of step 7 is 12, which I should check. " * 200,
    "a number that wavers": "".join(
        f"Hmm, maybe the result is {40 + n % 2}, no, not that. " for n in range(200)
    ),
    "a letter held down": "a" * 60_000,
}
"""Each goes on for longer than a loop may."""


def _code() -> str:
    lines = (f"    table[{n}] = make_{w}(left, {n * 3})" for n, w in enumerate(words(300)))
    return "```python\ndef build(left):\n    table = {}\n" + "\n".join(lines) + "\n    return table\n```\n"


def _poem() -> str:
    refrain = "\nO river run, O river run,\ncarry my song to the sinking sun,\nO river run.\n\n"
    return "".join(prose(30, seed=n) + refrain for n in range(12))


def _proof() -> str:
    goal = "It remains to show that every even number above two is the sum of two primes. "
    return "".join(f"Step {n}. " + prose(25, seed=n) + goal for n in range(20))


def _thinking() -> str:
    turn = "Wait, let me check that once more. "
    return "".join(turn + prose(40, seed=n % 9) + f"That gives {n * n + 1}. " for n in range(30))


def _bibliography() -> str:
    names = iter(words(600, seed=3))
    rows = (tuple(islice(names, 4)) for _ in range(120))
    return "\n".join(
        f"[{n}] {a.title()}, {b[0].upper()}. ({1950 + n % 70}). On the {c} of {d}. Journal of Studies, {n}."
        for n, (a, b, c, d) in enumerate(rows)
    )


def _json() -> str:
    rows = [{"id": n, "name": w, "tags": ["new", "open"], "parent": None} for n, w in enumerate(words(200))]
    return json.dumps(rows, indent=2)


def _rows() -> str:
    rows = (f"| {w} | {n % 5} | yes | no |" for n, w in enumerate(words(200, seed=5)))
    return "| name | class | seen | kept |\n|---|---|---|---|\n" + "\n".join(rows)


INNOCENT = {
    "code with 300 lines built alike": (_code(), "suspected"),
    "20 x 20 zeros": ("\n".join(" ".join("0" * 20) for _ in range(20)), "looping"),
    "40 x 40 zeros": ("\n".join(" ".join("0" * 40) for _ in range(40)), "looping"),
    "40 x 40 zeros as a list": (json.dumps([[0] * 40] * 40), "looping"),
    "counting in binary to 255": ("\n".join(f"{n} is {n:08b}" for n in range(256)), "suspected"),
    "a numbered list to 2,000": ("\n".join(f"{n}. apples" for n in range(1, 2001)), "suspected"),
    "numbers to 3,000": (" ".join(map(str, range(3000))), "suspected"),
    "a multiplication table": (
        "\n".join(f"{a} x {b} = {a * b}" for a in range(1, 13) for b in range(1, 13)),
        "suspected",
    ),
    "a counting sentence": (
        "".join(f"Case {n}: the remainder of {n} by the divisor is {n % 7}. " for n in range(400)),
        "suspected",
    ),
    "a bibliography": (_bibliography(), "suspected"),
    "base64": (base64.b64encode(random.Random(1).randbytes(12_000)).decode(), "clear"),
    "a poem with a refrain": (_poem(), "suspected"),
    "a proof that restates its goal": (_proof(), "suspected"),
    "thinking that comes back": (_thinking(), "suspected"),
    "JSON rows": (_json(), "suspected"),
    "rows of a markdown table": (_rows(), "suspected"),
    "prose": (prose(3000), "clear"),
    "a chorus sung eight times": (SENTENCE * 8, "looping"),
    "a line of dashes": ("Part one\n" + "-" * 1200 + "\nPart two", "looping"),
}
"""Text and the state it is in with no request ended; ``looping`` is said of what really is one text over and
over, and still is not ended: it is over before the limit."""
