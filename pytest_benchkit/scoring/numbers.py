r"""One number as the answer (GSM8K). :func:`final_answer` reads it by ordered rules.

Grammar of a number: optional sign (ASCII or typographic) and currency on either side of it, digits, or
digits in groups of exactly three after comma, apostrophe, no-break, narrow or thin space, a decimal
part, an exponent of at most three digits. Values are exact decimals of at most 64 digits.

Beside the headline, three published readings of the same answer go to ``also``:

- ``official``: grade-school-math ``dataset.py`` @ 3101c7d5072418e28b9008a6636bde82a006892c, the first
  ``####`` number, compared as text without commas;
- ``lmeval-strict`` and ``lmeval-flexible``: lm-evaluation-harness 0.4.13, task gsm8k.
"""

from __future__ import annotations

import re
from collections import deque
from decimal import Decimal
from typing import TYPE_CHECKING

from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.text import boxed, clip, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DIGITS = 64
SPACES = "\u00a0\u202f\u2009"
"""No-break, narrow no-break and thin space: separators of groups, so they are not folded away."""
SIGN = "[-+\u2212\u2010-\u2013]"
CURRENCY = "[$\u00a2\u00a3\u00a5\u20a0-\u20c0]"

NUMBER = re.compile(
    rf"(?:(?<![\w)\]])(?:{CURRENCY}\ ?{SIGN}?|{SIGN}(?:{CURRENCY}\ ?)?)|{CURRENCY}\ ?)?"
    r"(?<![A-Za-z0-9_])(?<![0-9][.,])"
    rf"(?P<digits>(?:[0-9]{{1,3}}(?P<sep>[,'\u2019{SPACES}])[0-9]{{3}}(?:(?P=sep)[0-9]{{3}})*+(?![0-9])|[0-9]++)"
    r"(?:\.[0-9]++)?|\.[0-9]++)"
    r"(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?"
)
# A number that goes on without a space into "/4" or "-4" is a fraction, a range or a date: not one number.
JOINED = re.compile(rf"(?:[/\u2044]|{SIGN})\s?{CURRENCY}?[0-9]")
JOINED_BEFORE = re.compile(rf"[0-9]{CURRENCY}?(?:[/\u2044]|{SIGN})$")

LATEX = re.compile(
    r"\\(\$)|\\[,;!]|\{(,)\}|\\(?:text|mathrm|mathbf|textbf)\s{0,2}\{([^{}]{0,100})\}|\\[()\[\]]"
)
WRAP = r"[\s*_`$:=()\[\]{}\"']{0,20}"
UNITS = r"(?:[ \t]{0,3}[^\W\d_]++(?:/[^\W\d_]++)?[.,]?){0,3}+"
HASHES = re.compile(r"(?<!#)####(?!#)([^\n]*)")
OFFICIAL = re.compile(r"#### (-?[0-9.,]+)")
FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
PHRASE = re.compile(r"(?i)\banswer[*_`]{0,3}(?:\s{1,4}is\b|\s{0,4}[:=])[*_`]{0,3}")
LEAD = re.compile(WRAP)
ALONE_BEFORE = re.compile(WRAP + r"(?:\\boxed)?" + WRAP)
ALONE_AFTER = re.compile(r"[\s*_`$}%)\]]{0,20}" + UNITS + r"[\s*_`$})\]\"']{0,20}[.!]?[\s*_`$]*+")

Hit = tuple[Decimal, int, int]


def parse(text: str) -> Decimal | None:
    """The value of a text that is exactly one number, or ``None``. Never raises."""
    folded = fold(text.strip(), keep=SPACES).text
    hit = NUMBER.fullmatch(folded)
    return _value(hit) if hit else None


def value(text: str) -> Decimal:
    """The value of a gold. Raises :class:`ValueError` when it is not exactly one number."""
    found = parse(text)
    if found is None:
        raise ValueError(f"{text[:80]!r} is not a number")
    return found


def final_answer(text: str, gold: str, *, cut: bool = False) -> Score:
    """Score 1 when the number read from ``text`` equals ``gold`` by value, else 0.

    Rules in order: ``hash-number``, ``hash-first``, ``hash-loose``, ``boxed``, ``answer-phrase`` and, not
    on a ``cut`` reply, ``last-number``; ``none`` when nothing was read. Total and linear in ``text``.
    Raises :class:`ValueError` only when ``gold`` is not a number.
    """
    right = value(gold)
    folded = fold(text, keep=SPACES)
    plain = folded.without(LATEX)
    rule, hit = _read(plain.text, cut)
    score = Score(
        0.0,
        expected=show(right),
        rule=rule,
        also=tuple(published(clip(text)[0], gold)),
        flags=("clipped",) if folded.clipped else (),
    )
    if hit is not None:
        read, start, end = hit
        score.value = float(read == right)
        score.extracted = show(read)
        score.span = plain.span(start, end)
    return score


def _read(text: str, cut: bool) -> tuple[str, Hit | None]:
    """The rule that fired and what it read from the unwrapped text."""
    marked = list(HASHES.finditer(text))
    for line in marked:
        if hit := _alone(text, *line.span(1)):
            return "hash-number", hit
    if (first := OFFICIAL.search(text)) and (found := _official_value(first[1])) is not None:
        return "hash-first", (found, *first.span(1))
    for line in marked:
        if numbers := list(_numbers(text, *line.span(1))):
            return "hash-loose", numbers[-1]
    if box := boxed(text, lambda content: len(list(NUMBER.finditer(content))) == 1):
        for hit in _numbers(text, box[1], box[2]):
            return "boxed", hit
    for phrase in reversed(list(PHRASE.finditer(text))):
        if hit := _next_to(text, phrase.end()):
            return "answer-phrase", hit
    if not cut and (last := deque(_numbers(text, 0, len(text)), maxlen=1)):
        return "last-number", last[0]
    return "none", None


def _numbers(text: str, start: int, end: int) -> Iterator[Hit]:
    """Everything in the stretch that is one number."""
    for hit in NUMBER.finditer(text, start, end):
        if found := _single(text, hit):
            yield found


def _single(text: str, hit: re.Match[str]) -> Hit | None:
    """The match, unless it is too long or part of a fraction, a range or a date."""
    found = _value(hit)
    before = max(0, hit.start() - 3)
    if found is None or JOINED.match(text, hit.end()) or JOINED_BEFORE.search(text, before, hit.start()):
        return None
    return found, hit.start(), hit.end()


def _alone(text: str, start: int, end: int) -> Hit | None:
    """The number of a stretch that holds nothing else but wrapping, percent and up to three unit words."""
    stretch = text[start:end]
    before = ALONE_BEFORE.match(stretch)
    # The wrap may have eaten a currency sign; a number after one has the same value.
    hit = NUMBER.match(stretch, before.end() if before else 0)
    found = _value(hit) if hit else None
    if hit is None or found is None or ALONE_AFTER.fullmatch(stretch, hit.end()) is None:
        return None
    return found, start + hit.start(), start + hit.end()


def _next_to(text: str, start: int) -> Hit | None:
    before = LEAD.match(text, start)
    hit = NUMBER.match(text, before.end() if before else start)
    return _single(text, hit) if hit else None


def _value(hit: re.Match[str]) -> Decimal | None:
    digits = hit["digits"]
    if sum(char.isdigit() for char in digits) > MAX_DIGITS:
        return None
    whole = hit[0]
    head = whole[: whole.index(digits)]
    tail = whole[len(head) + len(digits) :]
    found = Decimal(re.sub(f"[,'\u2019{SPACES}]", "", digits) + tail)
    return found.copy_negate() if re.search("[-\u2212\u2010-\u2013]", head) else found


def _official_value(matched: str) -> Decimal | None:
    """The value of upstream's match; one that is no number at all ("..") is passed over."""
    bare = matched.replace(",", "").removesuffix(".")
    if len(bare) > MAX_DIGITS + 2 or not re.fullmatch(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", bare):
        return None
    return Decimal(bare)


def show(number: Decimal) -> str:
    """A number as people write it: no exponent where it is short, no trailing zeros."""
    if not number:
        return "0"
    # Decimal.normalize() would round to the 28 digits of the context.
    text = format(number, "f") if abs(number.adjusted()) <= MAX_DIGITS else str(number)
    if "E" in text or "." not in text:
        return text
    return text.rstrip("0").rstrip(".")


def published(text: str, gold: str) -> Iterator[Reading]:
    """The readings of upstream and of lm-evaluation-harness, compared as text as they do."""
    matched = OFFICIAL.search(text)
    official = matched[1].replace(",", "") if matched else None
    yield Reading("official", _short(official), float(official == gold.replace(",", "")))
    wanted = _lmeval_form(gold)
    strict = matched[1] if matched else None
    yield Reading(
        "lmeval-strict", _short(strict), float(strict is not None and _lmeval_form(strict) == wanted)
    )
    flexible = deque(FLEXIBLE.finditer(text), maxlen=1)
    last = flexible[0][0] if flexible else None
    yield Reading("lmeval-flexible", _short(last), float(last is not None and _lmeval_form(last) == wanted))


def _lmeval_form(text: str) -> str:
    return text.strip().replace(",", "").replace("$", "").removesuffix(".")


def _short(text: str | None) -> str | None:
    """What was read, kept to a length that a record can carry."""
    return text if text is None or len(text) <= 80 else text[:79] + "\u2026"
