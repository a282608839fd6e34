"""Yes or no as the answer: :func:`verdict` reads it by ordered rules, :func:`score` judges it.

True counts as yes, false as no; whole words in any letter case. Rules in order: ``bare``,
``answer-marker``, ``leading-verdict``, ``final-line`` (explicit), then the guess ``unanimous``.
A leading verdict is not overturned by a later "no" of its explanation; an explicit marker is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_benchkit.score import Score
from pytest_benchkit.scoring.text import Folded, fold

MEANS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
WRAP = r"""[\s*_`"'“”‘’()\[\]{}$>#]"""
EDGES = " \t\r\n*_`\"'“”‘’()[]{}$.,;:!?"

# "No evidence ..." starts with a determiner: a verdict is followed by a stop, a pronoun or an article.
NO_END = (
    r"(?=[*_`\"'’”)\]]{0,4}(?:[.,;:!?)\-–—]|\s*$|\s*[–—-]|\n|\s+(?:i|it|he|she|they|we|you|this|that|these|"
    r"those|there|the|a|an|because)\b))"
)
LEADING = re.compile(rf"(?i){WRAP}{{0,20}}(?:(?P<sure>yes|true)\b|(?P<unsure>no|false)\b{NO_END})")
MARKER = re.compile(
    rf"(?i)\b(?:answer|verdict|conclusion)\b(?:\s{{1,3}}to\s{{1,3}}(?:the|this|your)\s{{1,3}}question\b)?[*_`\"']{{0,3}}"
    rf"(?:\s{{1,3}}is\b|\s{{0,3}}[:=])\s?:?{WRAP}{{0,12}}(?P<word>yes|no|true|false)\b"
    r"(?!\s+(?:longer|more|one|doubt|evidence)\b)"
)
WORD = re.compile(r"(?i)\b(yes|no)\b")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was read: ``yes``, ``no`` or nothing, by which rule, from where in the answer."""

    word: str | None
    rule: str
    span: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()


def score(text: str, gold: str, *, cut: bool = False) -> Score:
    """1 when the verdict read from ``text`` is ``gold`` (``yes`` or ``no``), else 0. Total and linear."""
    read = verdict(text, cut=cut)
    return Score(
        float(read.word == gold),
        extracted=read.word,
        expected=gold,
        rule=read.rule,
        span=read.span,
        flags=read.flags,
    )


def verdict(text: str, *, cut: bool = False) -> Verdict:
    """The verdict of an answer by the first rule that yields one; on a ``cut`` reply explicit ones only.

    Flag ``ambiguous``: both words occur and no rule decides.
    """
    folded = fold(text)
    flags = ("clipped",) if folded.clipped else ()
    rule, hit = _explicit(folded)
    words = list(WORD.finditer(folded.text)) if hit is None else []
    different = {match[1].lower() for match in words}
    if hit is None and len(different) == 1 and not cut:
        rule, hit = "unanimous", (words[-1].start(), words[-1].end())
    if hit is None:
        return Verdict(None, "none", None, (*flags, "ambiguous") if len(different) > 1 else flags)
    start, end = hit
    return Verdict(MEANS[folded.text[start:end].lower()], rule, folded.span(start, end), flags)


def _explicit(folded: Folded) -> tuple[str, tuple[int, int] | None]:
    text = folded.text
    if alone := _alone(text, 0, len(text)):
        return "bare", alone
    stated = list(MARKER.finditer(text))
    if stated:
        return "answer-marker", stated[-1].span("word")
    if leading := LEADING.match(text):
        return "leading-verdict", leading.span("sure" if leading["sure"] else "unsure")
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    if alone := _alone(text, start, end):
        return "final-line", alone
    return "none", None


def _alone(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The place of the word when the stretch is nothing else but wrapping and punctuation."""
    stretch = text[start:end]
    core = stretch.strip(EDGES)
    if core.lower() not in MEANS:
        return None
    place = start + stretch.index(core)
    return place, place + len(core)
