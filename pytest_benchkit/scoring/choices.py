"""A letter as the answer: :func:`letter` reads it by ordered rules, :func:`score` judges it.

The alphabet is the letters shown, no more. Letter case is kept: a capital that stands free (no letter or
digit on either side) is an answer, a lower-case letter only by the rules that say so. Rules in order:
``bare-letter``, ``answer-is``, ``answer-colon``, ``boxed``, ``tagged``, ``answer-wide``, ``line-label``,
``option-text``, ``lower-marker`` (explicit), then the guesses ``last-capital`` and ``contained-option``.

Profiles: ``plain``; ``mmlu-pro`` and ``gpqa`` add upstream's own reading to ``also``, and ``gpqa`` reads
bracketed letters as upstream's first four patterns do before anything looser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring import choices_text, published
from pytest_benchkit.scoring.text import boxed, clip, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WRAP = r"""[\s*_`"'“”‘’()\[\]{}$]"""
FENCE = re.compile(r"\s*```[^\n`]*\n([^`]*?)\s*```\s*")
TEXT_MACRO = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathsf)\s{0,2}|[\s*_`\"'()\[\]{}$.\\]")

VERB = (
    r"(?:is|was|are|were|be|fits?|seems|looks|appears|fails|works|matches|describes|states|says|gives|makes|"
    r"explains|represents|follows|holds|applies|has|can|could|would|should|must|does|did|will|might|may|"
    r"because|since|as|and|or|but|not|so|then|if|while|though|which|whereas|for|with|correctly|best|than)\b"
)
"""What may follow a letter that is meant as a letter: a verb about it or a connective."""
NOT_ARTICLE = rf"(?!(?<=A)\s+(?!{VERB})[a-z])(?!(?<=I)(?:['’]|\s+[a-z]))"
"""After a letter: it is not the article A nor the pronoun I in front of a lower-case word."""

Hit = tuple[str, int, int]
"""A letter and its place in the folded text."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was read: the letter (absent: nothing), the rule that read it, its place in the answer."""

    letter: str | None
    rule: str
    span: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one alphabet, compiled once."""

    alphabet: str
    answer_is: re.Pattern[str]
    answer_colon: re.Pattern[str]
    tagged: re.Pattern[str]
    wide: re.Pattern[str]
    label: re.Pattern[str]
    lower: re.Pattern[str]
    free: re.Pattern[str]


@lru_cache(maxsize=32)
def _rules(count: int) -> _Rules:
    alphabet = LETTERS[:count]

    def free(name: str) -> str:
        return rf"(?<![^\W_])(?P<{name}>[{alphabet}])(?![^\W_])"

    def low(name: str) -> str:
        return rf"(?<![^\W_])(?P<{name}>[{alphabet.lower()}])(?=[.,;:!?)\]}}*`\"']|\s*$)"

    def wide(letter: Callable[[str], str], after: str, *, judged: bool) -> str:
        """Statements about a letter; the words in any case, the letter as given."""
        noun = r"(?i:\b(?:(?:final|correct|right|best)\s{1,3})?(?:answer|option|choice))"
        copula = r"(?i:\s{1,3}(?:is|was|would\s+be|must\s+be|should\s+be|will\s+be)\b|\s{0,3}[:=\-–—])"
        kind = r"(?i:option|choice|letter|answer)"
        stated = rf"{noun}[*_`\"']{{0,3}}{copula}\s?:?{WRAP}{{0,8}}(?:{kind}{WRAP}{{1,4}})?"
        verb = r"choos(?:e|ing)|chose|pick(?:ed|ing)?|select(?:ed|ing)?|go(?:ing)?\s+with"
        chosen = rf"(?<!not )(?<!n't )(?i:\b(?:{verb})){WRAP}{{1,6}}(?:{kind}{WRAP}{{1,4}})?"
        parts = [stated + letter("stated") + after, chosen + letter("chosen") + after]
        if judged:
            sure = r"(?:\s{1,3}(?:the|clearly|definitely|indeed|most|likely|therefore|thus|probably)\b){0,4}"
            verdict = rf"(?i:is|was|must\s+be|seems\s+to\s+be){sure}\s{{1,3}}(?i:correct|right|best|answer)\b"
            parts.append(letter("judged") + rf"{WRAP}{{1,6}}{verdict}")
        return "|".join(parts)

    names = r"(?i:final_answer|answer|choice|option)"
    inside = rf"{WRAP}{{0,6}}{free('element')}{WRAP}{{0,6}}\.?\s{{0,3}}"
    member = (
        rf"[\"']{names}[\"']\s{{0,3}}:\s{{0,3}}[\"']?\(?{free('member')}\)?\.?[\"']?\s{{0,3}}(?=[,}}\n]|$)"
    )
    verb_next = rf"(?!{WRAP}{{0,4}}{VERB})"
    return _Rules(
        alphabet,
        re.compile(rf"answer is \(?{free('hit')}"),
        re.compile(rf"[aA]nswer:\s*+(?:\s|[*_`\"'(\[{{$]){{0,8}}{free('hit')}"),
        re.compile(rf"<{names}(?:\s[^<>]{{0,80}})?>{inside}</|{member}"),
        re.compile(wide(free, NOT_ARTICLE, judged=True)),
        re.compile(
            rf"{WRAP}{{0,8}}{free('hit')}(?:[*_`]{{0,3}}[.):\]](?![^\s*_`]){verb_next}|{WRAP}{{0,8}}[.]?\s*\Z)"
        ),
        re.compile(
            wide(low, "", judged=False) + rf"|(?<!\w)\((?P<bracket>[{alphabet.lower()}])\)(?=[\s.,;:!?]|$)",
            re.M,
        ),
        re.compile(free("hit")),
    )


def score(
    text: str, options: Sequence[str], gold: str, *, profile: str = "plain", cut: bool = False
) -> Score:
    """1 when the letter read from ``text`` is ``gold``, else 0. Total and linear in ``text``.

    ``labels`` holds the number of options, which the chance level is made of.
    """
    read = letter(text, options, profile=profile, cut=cut)
    return Score(
        float(read.letter == gold),
        extracted=read.letter,
        expected=gold,
        rule=read.rule,
        span=read.span,
        also=tuple(
            Reading(rule, found, float(found == gold))
            for rule, found in published.readings(clip(text)[0], profile, len(options))
        ),
        labels={"options": len(options)},
        flags=read.flags,
    )


def letter(text: str, options: Sequence[str], *, profile: str = "plain", cut: bool = False) -> Choice:
    """The letter that the answer names, by the first rule that yields one; on a ``cut`` reply only by an
    explicit rule. ``flags`` holds ``ambiguous`` when statements of that rule name different letters."""
    folded = fold(text)
    rules = _rules(len(options))
    flags = ("clipped",) if folded.clipped else ()
    for name, read in _ORDER:
        if cut and name in GUESSES:
            break
        hits = read(folded.text, rules, options) if read is not _gpqa or profile == "gpqa" else []
        if hits:
            found, start, end = hits[0]
            if name not in GUESSES and len({hit[0] for hit in hits}) > 1:
                flags = (*flags, "ambiguous")
            if name == "bracketed":
                name = "answer-is" if folded.text.endswith("answer is (", 0, start) else "answer-colon"
            return Choice(found, name, folded.span(start, end), flags)
    return Choice(None, "none", None, flags)


def _hits(pattern: re.Pattern[str], text: str) -> list[Hit]:
    """All matches of a pattern, each by the one named group that took part."""
    found = []
    for match in pattern.finditer(text):
        name = match.lastgroup
        if name is not None:
            found.append((match[name].upper(), *match.span(name)))
    return found


def _bare(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    fence = FENCE.fullmatch(text)
    start, end = fence.span(1) if fence else (0, len(text))
    inner = text[start:end]
    core = inner.strip(" \t\r\n*_`\"'“”‘’()[]{}$.,;:!?")
    if len(core) != 1 or core.upper() not in rules.alphabet:
        return []
    place = start + inner.index(core)
    return [(core.upper(), place, place + 1)]


def _gpqa(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    """The first match of each bracketed pattern of idavidrein/gpqa, if it is a letter of the alphabet."""
    for pattern in published.GPQA_PATTERNS[:4]:
        if (match := pattern.search(text)) and match[1] in rules.alphabet:
            return [(match[1], *match.span(1))]
    return []


def _answer_is(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    return _hits(rules.answer_is, text)


def _answer_colon(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    """The last hit on the earliest line that has one comes first."""
    matches = list(rules.answer_colon.finditer(text))
    if not matches:
        return []
    end = text.find("\n", matches[0].start())
    line = [match for match in matches if end < 0 or match.start() < end]
    ordered = [line[-1], *(match for match in matches if match is not line[-1])]
    return [(match["hit"], *match.span("hit")) for match in ordered]


def _boxed(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    box = boxed(text, lambda content: TEXT_MACRO.sub("", content) in set(rules.alphabet))
    if box is None:
        return []
    named = TEXT_MACRO.sub("", box[0])
    place = box[1] + box[0].rindex(named)
    return [(named, place, place + 1)]


def _tagged(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    return _hits(rules.tagged, text)[::-1]


def _wide(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    return _hits(rules.wide, text)[::-1]


def _line_label(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    """One labelled line, first or last of the reply; more of them are an enumeration."""
    found: list[Hit] = []
    lines = 0
    at_edge = False
    start = 0
    for line in text.split("\n"):
        if line.strip():
            lines += 1
            at_edge = False
            if match := rules.label.match(line):
                if found:
                    return []
                at_edge = True
                first = lines == 1
                found.append((match["hit"], start + match.start("hit"), start + match.end("hit")))
        start += len(line) + 1
    return found if found and (at_edge or first) else []


def _lower(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    return _hits(rules.lower, text)[::-1]


def _last_capital(text: str, rules: _Rules, options: Sequence[str]) -> list[Hit]:
    for match in reversed(list(rules.free.finditer(text))):
        if not _is_word(text, match):
            return [(match["hit"], *match.span("hit"))]
    return []


SENTENCE_START = re.compile(r"(?:\A|[\n.!?:;][\s*_\"'“(]{1,6}|\A[\s*_\"'“(]{1,6})\Z")
ARTICLE_NEXT = re.compile(rf"\s+(?!{VERB})[a-z]")
PRONOUN_NEXT = re.compile(r"['’]|\s+[a-z]")


def _is_word(text: str, match: re.Match[str]) -> bool:
    """Whether the capital is the pronoun I, or the article A at the start of a sentence."""
    if match["hit"] == "I":
        return PRONOUN_NEXT.match(text, match.end()) is not None
    if match["hit"] != "A" or ARTICLE_NEXT.match(text, match.end()) is None:
        return False
    return SENTENCE_START.search(text[max(0, match.start() - 8) : match.start()]) is not None


_ORDER: tuple[tuple[str, Callable[[str, _Rules, Sequence[str]], list[Hit]]], ...] = (
    ("bare-letter", _bare),
    ("bracketed", _gpqa),
    ("answer-is", _answer_is),
    ("answer-colon", _answer_colon),
    ("boxed", _boxed),
    ("tagged", _tagged),
    ("answer-wide", _wide),
    ("line-label", _line_label),
    ("option-text", choices_text.option_text),
    ("lower-marker", _lower),
    ("last-capital", _last_capital),
    ("contained-option", choices_text.contained_option),
)
GUESSES = ("last-capital", "contained-option")
