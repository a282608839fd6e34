"""The score of one reply: a function call that is right, or none where none should be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.readers_bfcl import LIVE_RELEVANCE, language_of
from pytest_benchkit.score import Reading, Score
from pytest_benchkit.scoring.bfcl.calls import Decoded, native, written
from pytest_benchkit.scoring.bfcl.check import check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.reply import Reply

NO_CALL = "no call"
CREDITS = ("unparseable_credited", "cut_credited", "empty_credited")
"""Flags of rows that are right by upstream's reading though nothing says that the model meant it."""
GUARDED = "guarded"


def score(
    reply: Reply,
    functions: Sequence[Mapping[str, Any]],
    golds: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]],
    subset: str,
    *,
    prompted: bool = False,
) -> Score:
    """1 when the calls are right, else 0. Total for any reply.

    ``rule`` is the step that failed (:data:`~pytest_benchkit.scoring.bfcl.check.STEPS`), ``ast-match``,
    ``call`` or ``no-call``; ``prompted`` reads the calls from the text. Rows where no call is right are
    scored as upstream does: whatever is not a decodable call is none. ``also.guarded`` withholds that
    credit from calls that cannot be parsed, from cut replies and from replies with neither text nor call,
    each flagged.
    """
    if prompted:
        offered = [str(function.get("name", "")) for function in functions]
        decoded = written(reply.answer, language_of(subset), offered)
    else:
        decoded = native(reply)
    flags = ("clipped",) if decoded.clipped else ()
    if "irrelevance" in subset:
        return _abstention(reply, decoded, flags)
    read = decoded.shown if decoded.calls is not None else None
    if subset == LIVE_RELEVANCE:
        made = decoded.calls is not None
        return _scored(made, read, "some call", "call" if made else "no-call", flags)
    expected = "; ".join(_wanted(gold) for gold in golds)
    if decoded.calls is None:
        missed = _scored(False, None, expected, "no-call", flags)
        if reply.answer.strip() and not reply.cut:  # else it is said that the reply is empty or cut
            why = "a call cannot be parsed" if decoded.attempted else "the reply calls nothing"
            missed.reason = f"no-call: {why}; expected {expected[:80]}"
        return missed
    verdict = check(decoded.calls, functions, golds, subset)
    if verdict.fault is None:
        return _scored(True, read, expected, "ast-match", flags)
    missed = _scored(
        False, read, expected, verdict.fault, flags + (("greedy_miss",) if verdict.greedy_miss else ())
    )
    missed.reason = f"{verdict.fault}: {verdict.detail[:50]}; answered {(read or '')[:80]}"
    return missed


def _scored(
    right: bool, extracted: str | None, expected: str, rule: str, flags: tuple[str, ...], guarded: bool = True
) -> Score:
    value = float(right)
    also = (Reading(GUARDED, extracted, value if guarded else 0.0),)
    return Score(value, extracted, expected, rule, also=also, flags=flags)


def _abstention(reply: Reply, decoded: Decoded, flags: tuple[str, ...]) -> Score:
    if decoded.calls is not None:
        return _scored(False, decoded.shown, NO_CALL, "call", flags)
    credit = _credit(reply, decoded)
    return _scored(True, None, NO_CALL, "no-call", (*flags, *credit), guarded=not credit)


def _credit(reply: Reply, decoded: Decoded) -> tuple[str, ...]:
    """The flag of a reply that is right only because nothing could be read of it."""
    if decoded.attempted:
        return CREDITS[:1]
    if reply.cut:
        return CREDITS[1:2]
    return () if reply.answer.strip() else CREDITS[2:]


def _wanted(gold: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """A gold call with the first allowed value of each parameter; optional ones stand in brackets."""
    told = []
    for name, parameters in gold.items():
        parts = []
        for parameter, allowed in parameters.items():
            value = next((answer for answer in allowed if answer != ""), "")
            part = f"{parameter}={value!r}"
            parts.append(f"[{part}]" if "" in allowed else part)
        told.append(f"{name}({', '.join(parts)})")
    return "; ".join(told)
