"""One label out of a closed list: :class:`LabelReader` reads it by ordered rules and judges it.

Rules in order, all of them explicit: ``label`` (the whole answer), ``last-line`` (the last line that is not
empty), ``marked`` (after intent, label, category or answer with is, a colon or an equals sign; the last
such mark), ``single-mention`` (exactly one label is named anywhere). Letter case, quotes, brackets, markup,
bullets and punctuation around a label do not matter, nor whether its words are joined by spaces, dashes or
underscores. A longer label that is named does not name a shorter one inside it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.text import Folded, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LEAD = re.compile(r"(?:\d{1,3}[.)]\s|[\W_])*")
JOINTS = re.compile(r"[\s_-]+")
JOINT = r"[ \t_-]{1,3}"
MARK = re.compile(
    r"(?i)\b(?:intent|label|category|answer)[*_`\"']{0,3}(?:\s{0,3}[:=]|\s{1,3}is\b)[\s*_`\"'“”‘’()\[\]<>:]{0,12}"
)
TOP_CONFUSIONS = 10
LONGEST = 200
"""Characters of a line beyond which it is no label."""


def canonical(text: str) -> str:
    """A label, or what may be one, in the spelling that labels are compared in."""
    return JOINTS.sub("_", _core(text)).casefold()


def _core(text: str) -> str:
    lead = LEAD.match(text)
    start = lead.end() if lead else 0
    end = len(text)
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


class LabelReader:
    """Reads one of ``labels`` out of answers. Raises ``ValueError`` when two labels are spelt alike."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = {canonical(label): label for label in labels}
        if len(self.labels) != len(labels):
            raise ValueError("two labels differ in case or punctuation only")
        # The longest first, so that the longest that fits is the one that is named.
        longest = sorted(self.labels, key=len, reverse=True)
        spelt = "|".join(JOINT.join(map(re.escape, label.split("_"))) for label in longest)
        end = r"(?![^\W_]|_+[^\W_])"  # markup may be underscores, so that one alone ends nothing
        self._label = re.compile(rf"(?ai)(?:{spelt}){end}")
        first = "".join(sorted({re.escape(label[0]) for label in longest}))  # most places begin no label
        self._named = re.compile(rf"(?ai)(?=[{first}])(?<![^\W_])(?<![^\W_]_)(?:{spelt}){end}")

    def score(self, text: str, gold: str) -> Score:
        """1 when the label read from ``text`` is ``gold``, else 0; ``also.exact`` is the whole answer but for
        letter case. Total and linear. Flag ``ambiguous``: several labels are named and no rule decides."""
        folded = fold(text)
        rule, span, several = self._read(folded)
        label = None if span is None else self.labels[canonical(folded.text[slice(*span)])]
        exact = text.strip().casefold() if len(text) <= LONGEST else None
        spelling = next((known for known in self.labels.values() if known.casefold() == exact), None)
        flags = [*(["clipped"] if folded.clipped else []), *(["ambiguous"] if several else [])]
        return Score(
            float(label == gold),
            extracted=label,
            expected=gold,
            rule=rule,
            span=None if span is None else folded.span(*span),
            also=(Reading("exact", spelling, float(spelling == gold)),),
            flags=tuple(flags),
        )

    def _read(self, folded: Folded) -> tuple[str, tuple[int, int] | None, bool]:
        """Rule, place in the folded text, and whether several labels stand undecided."""
        text = folded.text
        for rule, (start, end) in (("label", (0, len(text))), ("last-line", _last_line(text))):
            if span := self._alone(text, start, end):
                return rule, span, False
        marked = [hit.span() for mark in MARK.finditer(text) if (hit := self._label.match(text, mark.end()))]
        if marked:
            return "marked", marked[-1], False
        named: dict[str, tuple[int, int]] = {}
        for hit in self._named.finditer(text):
            named.setdefault(canonical(hit[0]), hit.span())
        if len(named) == 1:
            return "single-mention", next(iter(named.values())), False
        return "none", None, len(named) > 1

    def _alone(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The place of a label that is all the stretch holds but for what surrounds it."""
        stretch = text[start:end].strip()
        if not stretch or len(stretch) > LONGEST or canonical(stretch) not in self.labels:
            return None
        core = _core(stretch)
        place = start + text[start:end].index(core)
        return place, place + len(core)


def _last_line(text: str) -> tuple[int, int]:
    end = len(text.rstrip())
    return text.rfind("\n", 0, end) + 1, end


def metrics(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """``macro_f1`` (plain mean over labels that are a gold or a reading; a row without a reading counts as
    missed), ``recall.<label>`` and the commonest mistakes, ``confusion.<gold>><read>`` (rows)."""
    pairs = [(row.get("expected") or row.get("category"), row.get("extracted")) for row in rows]
    golds = Counter(gold for gold, _ in pairs if gold is not None)
    if not golds:
        return {}
    read = Counter(label for _, label in pairs if label is not None)
    hits = Counter(gold for gold, label in pairs if gold is not None and gold == label)
    found = {"macro_f1": _mean(2 * hits[name] / (golds[name] + read[name]) for name in {**golds, **read})}
    found |= {f"recall.{name}": hits[name] / count for name, count in sorted(golds.items())}
    mistaken = Counter(pair for pair in pairs if None not in pair and pair[0] != pair[1])
    commonest = sorted(mistaken.items(), key=lambda item: (-item[1], item[0]))[:TOP_CONFUSIONS]
    return found | {f"confusion.{gold}>{label}": float(count) for (gold, label), count in commonest}


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept)
