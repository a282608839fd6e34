"""RULER's scorers: golds found in the reply, case-blind; and what a run says about the size of its prompts.

Source: NVIDIA/RULER ``scripts/eval/synthetic/constants.py`` @ c3f5e3b4f87f97e048793bb510a3a6b19a46bf3a. Pure
and total; one pass per gold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.text import clip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.reply import Reply

CONTROL = re.compile("[\x00-\x1f]")
SHOWN = 200
"""Characters of a reply that are shown as what was read."""
SHORT = 0.5
"""Share of the length below which a prompt is flagged as short."""

ALL, ANY = "string_match_all", "string_match_part"


def score(answer: str, golds: Sequence[str], *, any_gold: bool) -> Score:
    """The share of golds that occur in the answer, or with ``any_gold`` whether one does (upstream's
    ``string_match_all`` and ``string_match_part``).

    Control characters become line breaks first. ``also.words`` is the same with golds as whole words: a
    number inside a longer one does not count.
    """
    text, clipped = clip(answer)
    read = CONTROL.sub("\n", text).strip()
    flags = ("clipped",) if clipped else ()
    if not read or not golds:
        return Score(0.0, None, list(golds), "none", flags=flags)
    low = read.lower()
    wanted = [gold.lower() for gold in golds]
    inside = [gold in low for gold in wanted]
    whole = [found and _as_word(gold, low) for gold, found in zip(wanted, inside, strict=True)]
    shown = " ".join(read[: 2 * SHOWN].split())[:SHOWN]
    words = Reading("words", sum(whole), _share(whole, any_gold))
    rule = ANY if any_gold else ALL
    return Score(_share(inside, any_gold), shown, list(golds), rule, also=(words,), flags=flags)


def _share(found: Sequence[bool], any_gold: bool) -> float:
    return float(any(found)) if any_gold else sum(found) / len(found)


def _as_word(gold: str, text: str) -> bool:
    """Whether the gold occurs with no letter, digit or underscore at either side."""
    # the literal first: the pattern engine skips to it
    literal = re.escape(gold)
    return re.search(rf"{literal}(?<!\w{literal})(?!\w)", text) is not None


def flagged(found: Score, reply: Reply, tokens: int) -> Score:
    """The score with ``over_length`` or ``short`` where the server's count of the prompt says so; ``tokens``
    is the length of the row."""
    told = reply.usage.input_tokens
    if told is not None and told > tokens:
        found.flags = (*found.flags, "over_length")
    elif told is not None and told < SHORT * tokens:
        found.flags = (*found.flags, "short")
    return found


def metrics(rows: Sequence[Mapping[str, Any]], lengths: Mapping[str, int]) -> dict[str, float]:
    """By length: ``score.length.<L>`` and ``samples.length.<L>``, ``fill.<L>`` (mean share of the length
    that the prompt took by the server's count); ``sized.<method>`` counts rows, ``over_length`` and ``short``
    those flagged so. ``lengths`` maps the lengths' names to tokens."""
    scores: defaultdict[str, list[float]] = defaultdict(list)
    fills: defaultdict[str, list[float]] = defaultdict(list)
    found: dict[str, float] = {}
    for row in rows:
        length = str(row.get("task_id", "")).partition("-")[0]
        if length not in lengths:
            continue
        scores[length].append(row.get("score") or 0.0)
        if told := (row.get("usage") or {}).get("input_tokens"):
            fills[length].append(told / lengths[length])
        if method := (row.get("labels") or {}).get("sized"):
            found[f"sized.{method}"] = found.get(f"sized.{method}", 0) + 1
        for flag in ("over_length", "short"):
            if flag in (row.get("flags") or ()):
                found[flag] = found.get(flag, 0) + 1
    for length in (length for length in lengths if length in scores):
        found[f"score.length.{length}"] = sum(scores[length]) / len(scores[length])
        found[f"samples.length.{length}"] = len(scores[length])
        if filled := fills[length]:
            found[f"fill.{length}"] = sum(filled) / len(filled)
    return found
