"""IFEval's verdict: which instructions a reply follows, strictly and loosely.

Source: google-research ``instruction_following_eval/evaluation_lib.py`` @
4c4299485319ed72ef782020c81784be5468924e. Strict: the reply as it is. Loose: any of eight readings of it
(without its first line, its last line or both; each also without asterisks) counts. A blank text follows
nothing. A check that the text breaks is not followed, flag ``checker_fault``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.ifeval_checks import CHECKS, Counted
from pytest_benchkit.scoring.ifeval_text import View
from pytest_benchkit.scoring.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

FAULTS = (ValueError, LookupError, RecursionError, OverflowError, TimeoutError)
"""What a text can do to the libraries behind a check; a missing library or model is no such fault."""


def score(
    text: str, instructions: Sequence[str], kwargs: Sequence[Mapping[str, Any]], *, cut: bool = False
) -> Score:
    """1 when every instruction is followed strictly, else 0; ``also.loose`` is the loose verdict.

    ``instructions`` are ids (``group:kind``), ``kwargs`` the arguments of each. Labels ``strict`` and
    ``loose`` hold a boolean per instruction. Rules: ``strict``, ``loose`` (followed loosely only),
    ``not-followed``, ``none`` (a blank reply).

    Raises ``KeyError`` for an unknown id, ``ImportError`` without the extra ``ifeval`` and
    :class:`~pytest_benchkit.errors.DataError` without the sentence model, where one is needed.
    """
    read, clipped = clip(text)
    flags = ["clipped"] if clipped else []
    views = readings(read)
    strict, loose = [], []
    for instruction, given in zip(instructions, kwargs, strict=True):
        verdicts = _verdicts(instruction, given, views, flags)
        strict.append(next(verdicts, False))
        loose.append(strict[-1] or any(verdicts))
    every, every_loosely = all(strict), all(loose)
    only_loosely = sum(loose) - sum(strict)
    blank = not read.strip()
    told = (
        []
        if blank
        else [
            _told(id, given, views[0])
            for id, given, followed in zip(instructions, kwargs, strict, strict=True)
            if not followed
        ]
    )
    reason = f"not followed: {', '.join(told)}"
    if only_loosely:
        reason += f" ({only_loosely} of them loosely)"
    return Score(
        float(every),
        extracted=None if blank else f"{sum(strict)} of {len(strict)} followed",
        expected=f"{len(strict)} of {len(strict)} followed",
        rule="none" if blank else "strict" if every else "loose" if every_loosely else "not-followed",
        also=(Reading("loose", f"{sum(loose)} of {len(loose)} followed", float(every_loosely)),),
        labels={"instructions": list(instructions), "strict": strict, "loose": loose},
        flags=tuple(flags),
        reason=None if every or blank or cut else reason,
    )


def readings(text: str) -> list[View]:
    """The different texts among the eight that the loose rule tries, the reply itself first; blank ones
    left out."""
    lines, capitals = text.split("\n"), dict[str, int]()
    dropped = [text, *("\n".join(kept).strip() for kept in (lines[1:], lines[:-1], lines[1:-1]))]
    return [
        View(reading, capitals)
        for reading in dict.fromkeys([*dropped, *(reading.replace("*", "") for reading in dropped)])
        if reading.strip()
    ]


def _told(instruction: str, given: Mapping[str, Any], view: View) -> str:
    """The instruction's id, with what was wanted and what was found where the check counts."""
    check = CHECKS[instruction]
    if not isinstance(check, Counted):
        return instruction
    try:
        return f"{instruction} ({check.told(view, given)})"
    except FAULTS:
        return instruction


def _verdicts(
    instruction: str, given: Mapping[str, Any], views: Sequence[View], flags: list[str]
) -> Iterator[bool]:
    check = CHECKS[instruction]
    for view in views:
        try:
            yield check(view, given)
        except FAULTS:
            if "checker_fault" not in flags:
                flags.append("checker_fault")
            yield False


def metrics(
    rows: Sequence[Mapping[str, Any]], asked: Callable[[Mapping[str, Any]], Sequence[str]]
) -> dict[str, float]:
    """``prompt_loose``, ``inst_strict``, ``inst_loose``, and per group and per instruction id
    ``strict.<name>``, ``loose.<name>`` and ``n_inst.<name>``, all over the rows of the denominator.

    A row without labels (no reply arrived in time) follows nothing of what ``asked`` says it was asked.
    """
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    all_loosely = 0
    for row in rows:
        labels = row.get("labels") or {}
        ids = labels.get("instructions") or asked(row)
        strict = labels.get("strict") or [False] * len(ids)
        loose = labels.get("loose") or [False] * len(ids)
        all_loosely += all(loose)
        for id, *followed in zip(ids, strict, loose, strict=True):
            for name in ("", id.partition(":")[0], id):
                tally = counts[name]
                tally[0] += 1
                tally[1] += followed[0]
                tally[2] += followed[1]
    if not rows:
        return {}
    n, strictly, loosely = counts.pop("")
    found = {
        "prompt_loose": all_loosely / len(rows),
        "inst_strict": strictly / n,
        "inst_loose": loosely / n,
        "n_inst": float(n),
    }
    for name, (n, strictly, loosely) in sorted(counts.items()):
        found |= {f"strict.{name}": strictly / n, f"loose.{name}": loosely / n, f"n_inst.{name}": float(n)}
    return found
