"""Score and counts of one cell (suite × model × harness × perturbation) from its rows. Pure.

A row is a task record without its texts (:func:`pytest_benchkit.runs.record.slim`). The denominator D is
the rows whose outcome is counted. Fractions are 0..1 at full precision, ``_pp`` percentage points. A
metric whose condition fails is not in ``values`` and has its reason in ``absent``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_benchkit.runs.statistics import Estimate, clustered, estimate, percentile
from pytest_benchkit.score import COUNTED, Outcome

Row = Mapping[str, Any]

UNANSWERED = frozenset({Outcome.TRUNCATED, Outcome.NO_ANSWER, Outcome.LOOP_KILLED, Outcome.TIMED_OUT})
EXCLUDED = tuple(outcome for outcome in Outcome if outcome not in COUNTED)
TOKEN_SUMS = ("input_tokens", "output_tokens", "reasoning_tokens", "cost_usd")
WORDS = {
    Outcome.HARNESS_ERROR: ("error", "errors"),
    Outcome.SKIPPED: ("skipped", "skipped"),
    Outcome.CONTAMINATED: ("contaminated", "contaminated"),
}
"""How tables call what was left out, one and many."""


@dataclass(slots=True)
class Numbers:
    """Metrics by name, and why the others are absent."""

    values: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: float | str | None, why: str) -> None:
        """Takes the value, or the reason why there is none."""
        if value is None:
            self.absent[name] = why
        else:
            self.values[name] = value

    def merge(self, other: Numbers) -> None:
        self.values.update(other.values)
        self.absent.update(other.absent)


def counted(rows: Sequence[Row]) -> list[Row]:
    """D: the rows in the denominator."""
    return [row for row in rows if row["outcome"] in COUNTED]


def cell_numbers(rows: Sequence[Row], planned: int) -> Numbers:
    """All metrics of §12.1 for one cell; ``planned`` rows were to be asked, ``rows`` have a record."""
    numbers = Numbers()
    outcomes = Counter(row["outcome"] for row in rows)
    scored = counted(rows)
    planned = max(planned, len(rows))  # a resumed run may hold rows that its last session did not select
    excluded = len(rows) - len(scored)
    not_asked = planned - len(rows)
    numbers.values.update(planned=planned, samples=len(scored), excluded=excluded, not_asked=not_asked)
    numbers.values.update({f"n_{outcome.value}": outcomes[outcome] for outcome in Outcome})
    numbers.put("coverage", _share(len(scored), planned), "nothing was planned")
    nothing = nothing_counted(outcomes, not_asked)
    score = score_of(scored)
    _put_score(numbers, score, nothing)
    n = len(scored)
    numbers.put("accuracy", _share(outcomes[Outcome.CORRECT], n), nothing)
    answered = [row["score"] for row in scored if row["outcome"] not in UNANSWERED]
    numbers.put(
        "score_answered", _share(sum(answered), len(answered)), nothing if not n else "no row was answered"
    )
    for name, outcome in (
        ("truncation_rate", Outcome.TRUNCATED),
        ("no_answer_rate", Outcome.NO_ANSWER),
        ("timeout_rate", Outcome.TIMED_OUT),
    ):
        numbers.put(name, _share(outcomes[outcome], n), nothing)
    numbers.put("error_rate", _share(outcomes[Outcome.HARNESS_ERROR], len(rows)), "nothing was asked")
    _put_lenient(numbers, scored, score)
    _put_tokens(numbers, rows)
    for name, found in categories(scored).items():
        numbers.values[f"score.{name}"] = found.mean
        numbers.values[f"samples.{name}"] = found.n
    return numbers


def nothing_counted(outcomes: Mapping[str, int], not_asked: int) -> str:
    """Why a cell has no score, in words: ``all 12 rows left out: 9 errors, 3 not asked``."""
    total = sum(outcomes[outcome] for outcome in EXCLUDED) + not_asked
    if not total:
        return "no rows"
    return f"all {total} rows left out: {left_out_words(outcomes, not_asked)}"


def left_out_words(outcomes: Mapping[str, int], not_asked: int) -> str:
    """``12 errors, 7 skipped, 3 not asked``; empty when nothing was left out."""
    words = []
    for outcome in (Outcome.HARNESS_ERROR, Outcome.SKIPPED, Outcome.CONTAMINATED):
        if count := outcomes[outcome]:
            words.append(f"{count} {WORDS[outcome][count != 1]}")
    if not_asked:
        words.append(f"{not_asked} not asked")
    return ", ".join(words)


def score_of(scored: Sequence[Row]) -> Estimate | None:
    """The mean over tasks of the mean score of their repeats, with error and interval (§12.2).

    A task's repeats, and rows that share a ``group``, are one cluster; without either, rows are independent.
    """
    if not scored:
        return None
    values = [float(row["score"]) for row in scored]
    repeats = Counter(row["task_id"] for row in scored)
    grouped = any("group" in row for row in scored)
    if not grouped and len(repeats) == len(scored):
        return estimate(values)
    clusters: list[Hashable] = [
        ("group", row["group"]) if "group" in row else ("task", row["task_id"]) for row in scored
    ]
    if len(repeats) == len(scored):
        return estimate(values, clusters)
    weights = [1 / repeats[row["task_id"]] for row in scored]
    return clustered(values, weights, clusters, shares=all(value in (0.0, 1.0) for value in values))


def categories(scored: Sequence[Row]) -> dict[str, Estimate]:
    """The estimate of each category, by name."""
    parts: defaultdict[str, list[Row]] = defaultdict(list)
    for row in scored:
        if (category := row.get("category")) is not None:
            parts[category].append(row)
    return {name: found for name in sorted(parts) if (found := score_of(parts[name])) is not None}


def _put_score(numbers: Numbers, score: Estimate | None, nothing: str) -> None:
    if score is None:
        for name in ("score", "stderr", "score_ci_low", "score_ci_high", "ci_method"):
            numbers.absent[name] = nothing
        return
    numbers.values["score"] = score.mean
    why = score.why or "not known"
    numbers.put("stderr", score.stderr, why)
    numbers.put("score_ci_low", score.low, why)
    numbers.put("score_ci_high", score.high, why)
    numbers.put("ci_method", score.method, why)


def _put_lenient(numbers: Numbers, scored: Sequence[Row], score: Estimate | None) -> None:
    """The best single reading, the headline among them, over all of D: a row that lacks it counts 0. Repeats
    weigh as in the score."""
    repeats = Counter(row["task_id"] for row in scored)
    totals: defaultdict[str, float] = defaultdict(float)
    for row in scored:
        for reading in row.get("also") or ():
            totals[reading["rule"]] += reading["score"] / repeats[row["task_id"]]
    if score is None or not totals:
        why = "the suite reads replies in one way only" if score is not None else "no score"
        numbers.absent["lenient_score"] = numbers.absent["format_gap_pp"] = why
        return
    lenient = max(score.mean, max(totals.values()) / len(repeats))
    numbers.values["lenient_score"] = lenient
    numbers.values["format_gap_pp"] = 100 * (lenient - score.mean)


def requests_of(rows: Sequence[Row]) -> list[Row]:
    """Every exchange of these rows: each row, and its repair rounds as rows of their own."""
    return [request for row in rows for request in (row, *row.get("attempts", ())[1:])]


def _put_tokens(numbers: Numbers, rows: Sequence[Row]) -> None:
    """Sums over the requests that told, and the share that did."""
    asked = [row for row in requests_of(rows) if (row.get("ask") or {}).get("tries", 1) > 0]
    for name in TOKEN_SUMS:
        told = [value for row in asked if (value := (row.get("usage") or {}).get(name)) is not None]
        why = "no reply told it" if asked else "nothing was asked"
        numbers.put(name, sum(told) if told else None, why)
        if told:
            numbers.values[f"{name}_coverage"] = len(told) / len(asked)
        if name == "output_tokens":
            put_percentiles(numbers, told, (0.5, 0.95), "output_tokens_p{}")


def put_percentiles(numbers: Numbers, values: Sequence[float], shares: Sequence[float], name: str) -> None:
    """Percentiles named by ``name.format("95")``; absent ones say how many values they need."""
    ordered = sorted(values)
    for share in shares:
        tail = min(share, 1 - share)
        needed = 1 if share == 0.5 else round(1 / tail)
        why = f"needs {needed} values, has {len(ordered)}" if ordered else "not measured"
        numbers.put(name.format(f"{round(share * 100):02d}"), percentile(ordered, share), why)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
