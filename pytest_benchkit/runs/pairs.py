"""Pairs: the same tasks asked in two ways, a clean side and a perturbed or agent one (X-4, X-5). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.perturbations import CLEAN
from pytest_benchkit.runs.metrics import Row
from pytest_benchkit.runs.paired import difference
from pytest_benchkit.score import COUNTED, Outcome

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Side = tuple[str, str]
"""Harness and perturbation."""


def pairs(parts: Mapping[tuple[str, ...], Sequence[Row]]) -> list[dict[str, Any]]:
    """An entry for every cell that has a clean twin in the run. ``parts``: rows by suite, model, harness and
    perturbation."""
    found = []
    for axes, rows in parts.items():
        suite, model, harness, perturbation = axes
        if perturbation == CLEAN:
            continue
        base = parts.get((suite, model, harness, CLEAN))
        if base is not None:
            found.append(_pair(suite, model, base, rows, (harness, CLEAN), (harness, perturbation)))
    return found


def _pair(
    suite: str, model: str, base: Sequence[Row], rows: Sequence[Row], side_a: Side, side_b: Side
) -> dict[str, Any]:
    clean = {(row["task_id"], row["repeat"]): row for row in base}
    both: list[tuple[Row, Row]] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        other = clean.get((row["task_id"], row["repeat"]))
        if other is None:
            dropped["no_record"] += 1
        elif (left := [r["outcome"] for r in (other, row) if r["outcome"] not in COUNTED]) != []:
            dropped[left[0]] += 1
        else:
            both.append((other, row))
    dropped["no_record"] += len(base) - sum((r["task_id"], r["repeat"]) in clean for r in rows)
    entry: dict[str, Any] = {
        "kind": "perturbation",
        "suite": suite,
        "model": model,
        "harness": side_a[0],
        "side_a": side_a[1],
        "side_b": side_b[1],
        "n": len(both),
        "dropped": {outcome: count for outcome, count in dropped.items() if count > 0},
        "score_kind": "first",
    }
    return {**entry, **_numbers(both), **_options(both)}


def _numbers(both: Sequence[tuple[Row, Row]]) -> dict[str, Any]:
    """Scores of both sides, their difference, and what else moved with it."""
    grouped = any("group" in a for a, _ in both)
    repeated = len({a["task_id"] for a, _ in both}) < len(both)
    clusters = [a.get("group", a["task_id"]) for a, _ in both] if grouped or repeated else None
    found = difference(
        [float(a["score"]) for a, _ in both],
        [float(b["score"]) for _, b in both],
        [a["key"] for a, _ in both],
        clusters,
    )
    if found is None:
        return {}
    numbers: dict[str, Any] = {
        "score_a": found.first,
        "score_b": found.second,
        "delta_pp": 100 * found.delta,
        "ci_pp": [100 * found.low, 100 * found.high],
        "gains": found.gains,
        "losses": found.losses,
        "p": found.p,
        "test": found.test,
    }
    loops = [sum(row["outcome"] == Outcome.LOOP_KILLED for row in side) for side in zip(*both, strict=True)]
    numbers["loop_kill_delta"] = loops[1] - loops[0]
    tokens = [(_tokens(a), _tokens(b)) for a, b in both]
    told = [(a, b) for a, b in tokens if a is not None and b is not None]
    if told:
        numbers["output_tokens_delta_mean"] = sum(b - a for a, b in told) / len(told)
    sure = [
        (a["decision"]["p_gold"], b["decision"]["p_gold"])
        for a, b in both
        if "decision" in a and "decision" in b
    ]
    if sure:
        numbers["p_gold_change_mean"] = sum(abs(b - a) for a, b in sure) / len(sure)
    return numbers


def _tokens(row: Row) -> int | None:
    value: int | None = (row.get("usage") or {}).get("output_tokens")
    return value


def _options(both: Sequence[tuple[Row, Row]]) -> dict[str, Any]:
    """For reordered options (CO-5): how often the same option was chosen, the difference over rows whose
    right option moved, and where the right option stood on each side."""
    ordered = [(a, b) for a, b in both if "order" in (b.get("perturbed") or {})]
    if not ordered:
        return {}
    same = 0
    golds: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    moved: list[float] = []
    for a, b in ordered:
        facts = b["perturbed"]
        same += _choice(a, None) is not None and _choice(a, None) == _choice(b, facts["order"])
        golds[0][facts["gold_before"]] += 1
        golds[1][facts["gold_after"]] += 1
        if facts["gold_before"] != facts["gold_after"]:
            moved.append(float(b["score"]) - float(a["score"]))
    found: dict[str, Any] = {
        "consistency": same / len(ordered),
        "moved_n": len(moved),
        "gold_letters_a": dict(sorted(golds[0].items())),
        "gold_letters_b": dict(sorted(golds[1].items())),
    }
    if moved:
        found["moved_delta_pp"] = 100 * sum(moved) / len(moved)
    return found


def _choice(row: Row, order: Sequence[int] | None) -> int | None:
    """The original position of the option that was chosen; ``None`` when none was."""
    letter = row.get("extracted")
    if not isinstance(letter, str) or len(letter) != 1 or letter not in LETTERS:
        return None
    place = LETTERS.index(letter)
    if order is None:
        return place
    return order[place] if place < len(order) else None


def metrics_of(pair: Mapping[str, Any]) -> dict[str, float]:
    """What of a pair stands among the metrics of its perturbed side, as ``pair.<name>``."""
    names = ("n", "delta_pp", "gains", "losses", "p", "consistency", "moved_delta_pp")
    return {f"pair.{name}": pair[name] for name in names if name in pair}
