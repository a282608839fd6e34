"""The document behind every report: ``results.json``, schema 1. Pure.

:func:`build` makes it from ``run.json`` and the rows; terminal, CSV and pages only lay it out.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from pytest_benchkit.runs.decisions import decision_numbers, reliability
from pytest_benchkit.runs.describe import AXES, run_facts
from pytest_benchkit.runs.loops import loop_numbers
from pytest_benchkit.runs.metrics import Numbers, Row, categories, cell_numbers, counted
from pytest_benchkit.runs.notes import Note, note, notes, retry_note
from pytest_benchkit.runs.overall import overall
from pytest_benchkit.runs.pairs import metrics_of, pairs
from pytest_benchkit.runs.repair import repair_curve, repair_numbers
from pytest_benchkit.runs.repeats import repeat_numbers, values_by_repeat
from pytest_benchkit.runs.speed import speed_numbers, why_no_speed
from pytest_benchkit.runs.totals import settle_totals

SCHEMA = 1
KIND = "benchkit-results"


class Histogram(TypedDict):
    """``counts[i]`` values lie from ``edges[i]`` up to, not at, ``edges[i + 1]``."""

    edges: list[float]
    counts: list[int]


OwnMetrics = Callable[[Sequence[Row]], dict[str, float]]
HISTOGRAMS = {
    "output_tokens": ("usage", "output_tokens"),
    "ttft_ms": ("timing", "ttft_ms"),
    "e2e_ms": ("timing", "e2e_ms"),
}
ERROR_KINDS = 20


def build(
    info: Mapping[str, Any], rows: Sequence[Row], own_metrics: Mapping[str, OwnMetrics]
) -> dict[str, Any]:
    """``results.json`` of a run: ``info`` is its ``run.json``, ``rows`` the last row of each key.

    ``own_metrics`` gives a suite's own metrics from its rows in the denominator, by suite name. One that
    raises, or that takes a name of ours, is named in ``warnings`` and never stops the report. Rows of no
    planned cell do not count.
    """
    cells = info.get("plan", {}).get("cells", [])
    parts: dict[tuple[str, ...], list[Row]] = {tuple(cell[a] for a in AXES): [] for cell in cells}
    for row in rows:
        part = parts.get((row["suite"], row["model"], row["harness"], row["perturbation"]))
        if part is not None:
            part.append(row)
    suites = {suite["name"]: suite for suite in info.get("suites", [])}
    warnings: list[Note] = []
    entries = []
    speeds = []
    for cell in cells:
        mine = parts[tuple(cell[a] for a in AXES)]
        speeds.append(speed_numbers(mine, why_no_speed(info, cell["model"], mine)))
        suite = suites.get(cell["suite"], {})
        entries.append(_entry(info, cell, suite, mine, speeds[-1], own_metrics, warnings))
    models = _models(info, parts, speeds)
    in_overall = {name: bool(suite.get("in_overall")) for name, suite in suites.items()}
    retried = [note for model in models if (note := retry_note(model["name"], model["metrics"]))]
    found_pairs = pairs(parts)
    by_side = {(p["suite"], p["model"], p["harness"], p["side_b"]): p for p in found_pairs}
    for entry in entries:
        if (pair := by_side.get(tuple(entry[axis] for axis in AXES))) is not None:
            entry["metrics"].update(metrics_of(pair))
    found = notes(info, entries, list(parts.values()))
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "run": run_facts(info, models, entries),
        "results": entries,
        "pairs": found_pairs,
        "overall": overall(entries, in_overall),
        "gates": [],
        "warnings": found + retried + warnings,
        "files": {"records": "records.jsonl", "run": "run.json", "csv": "results.csv"},
    }


# ---------------------------------------------------------------------- one cell


def _entry(
    info: Mapping[str, Any],
    cell: Mapping[str, Any],
    suite: Mapping[str, Any],
    rows: Sequence[Row],
    speed: Numbers,
    own_metrics: Mapping[str, OwnMetrics],
    warnings: list[Note],
) -> dict[str, Any]:
    name, model = cell["suite"], cell["model"]
    rounds = next((m.get("repair", 0) for m in info.get("models", []) if m.get("name") == model), 0)
    own = own_metrics.get(name)
    numbers = _measured(rows, cell["planned"], speed, rounds, name, own, warnings)
    repeats = cell.get("repeats", 1)
    selection = {**cell.get("selection", {}), "rows": cell.get("rows")}
    if repeats > 1:
        selection["repeats"] = repeats
    selection = {key: value for key, value in selection.items() if value is not None}
    no_speed = why_no_speed(info, model, rows)

    def of_one(part: Sequence[Row]) -> Numbers:
        """What one repeat comes to, as a run of its own; what its metrics complain of is told once."""
        part = [{**row, "repeat": 0} for row in part]
        return _measured(part, len(part), speed_numbers(part, no_speed), rounds, name, own, [])

    in_repeats = values_by_repeat(rows, of_one)
    settle_totals(numbers, suite.get("totals", ()), selection)
    deviations = [d for d in suite.get("deviations", []) if d.get("model") == model]
    not_comparable = suite.get("not_comparable") if suite else "own protocol"
    simulated = _is_simulated(info, model)
    why = _why_not_comparable(selection, deviations, simulated, not_comparable)
    entry: dict[str, Any] = {
        **{axis: cell[axis] for axis in AXES},
        "variant": name.partition(":")[2] or None,
        "scoring": suite.get("scoring"),
        "selection": selection,
        "data_sha256": suite.get("data", {}).get("sha256"),
        "prompt_sha256": suite.get("prompt_sha256"),
        "deviations": deviations,
        "comparable": why is None,
        "comparable_reason": why,
        "not_comparable": not_comparable,
        "simulated": simulated,
        "metrics": numbers.values,
        "absent": numbers.absent,
        "outcomes": dict(Counter(row["outcome"] for row in rows)),
        "details": dict(Counter(row["detail"] for row in rows if row.get("detail"))),
        "errors": _errors(rows),
        "categories": {
            category: {
                key: value
                for key, value in (
                    ("score", found.mean),
                    ("samples", found.n),
                    ("ci_low", found.low),
                    ("ci_high", found.high),
                )
                if value is not None
            }
            for category, found in categories(counted(rows)).items()
        },
        "histograms": _histograms(rows),
        "by_repeat": {name: each for name, each in in_repeats.items() if name in numbers.values} or None,
        "repair_curve": repair_curve(rows, rounds) or None,
        "calibration": reliability(rows) if "brier" in numbers.values else None,
    }
    return {key: value for key, value in entry.items() if value is not None}


def _measured(
    rows: Sequence[Row],
    planned: int,
    speed: Numbers,
    rounds: int,
    name: str,
    own: OwnMetrics | None,
    warnings: list[Note],
) -> Numbers:
    """All numbers of a cell; ``speed`` are those of its rows, ``rounds`` its repair rounds."""
    numbers = cell_numbers(rows, planned)
    numbers.merge(speed)
    numbers.merge(repeat_numbers(rows))
    numbers.merge(loop_numbers(rows))
    numbers.merge(repair_numbers(rows, rounds))
    decisions = decision_numbers(rows)
    if decisions.values and "tasks_per_s" in speed.values:
        decisions.values["decisions_per_s"] = speed.values["tasks_per_s"]
    numbers.merge(decisions)
    scored = counted(rows)
    if scored and own is not None:
        _add_own(numbers, name, own, scored, warnings)
    return numbers


def _why_not_comparable(
    selection: Mapping[str, Any], deviations: Sequence[object], simulated: bool, own: str | None
) -> str | None:
    """Why the score cannot stand beside published ones (N-4); ``None`` when it can."""
    reasons = []
    if simulated:
        reasons.append("simulated")
    if selection.get("kind", "all") != "all":
        reasons.append("not the full selection")
    if deviations:
        reasons.append("sampling deviates from the protocol")
    if own:
        reasons.append(own)
    return "own protocol: " + "; ".join(reasons) if reasons else None


def _is_simulated(info: Mapping[str, Any], model: str) -> bool:
    return any(m.get("name") == model and m.get("simulated") for m in info.get("models", []))


def _add_own(
    numbers: Numbers, name: str, own: OwnMetrics, scored: Sequence[Row], warnings: list[Note]
) -> None:
    try:
        found = dict(own(scored))
    except Exception as error:
        words = f"{name}: its own metrics are missing, metrics() raised {type(error).__name__}: {error}"
        warnings.append(note("suite_metrics", words[:300]))
        return
    for key, value in found.items():
        if key in numbers.values or key in numbers.absent:
            warnings.append(
                note("suite_metrics", f"{name}: metrics() gives {key!r}, a name of the engine; left out")
            )
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            warnings.append(note("suite_metrics", f"{name}: metrics() gives no number for {key!r}; left out"))
        else:
            numbers.values[str(key)] = value


def _errors(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What went wrong, by kind and status with the first message of each, commonest first."""
    firsts: dict[tuple[str, int | None], str] = {}
    counts: Counter[tuple[str, int | None]] = Counter()
    for row in rows:
        if (error := row.get("error")) is not None:
            group = (error.get("kind", "unknown"), error.get("status"))
            firsts.setdefault(group, error.get("message", ""))
            counts[group] += 1
    found = []
    for (kind, status), n in counts.most_common(ERROR_KINDS):
        item: dict[str, Any] = {"kind": kind, "message": firsts[kind, status][:500], "n": n}
        found.append(item if status is None else {**item, "status": status})
    return found


def _histograms(rows: Sequence[Row]) -> dict[str, Histogram]:
    """Counts between edges of the series 1, 2, 5, 10 ..., the same edges in every run."""
    found = {}
    for name, (group, key) in HISTOGRAMS.items():
        values = [value for row in rows if (value := (row.get(group) or {}).get(key)) is not None]
        if not values:
            continue
        edges = [0.0]
        while edges[-1] <= max(values):
            power, step = divmod(len(edges) - 1, 3)
            edges.append(float((1, 2, 5)[step] * 10**power))
        values.sort()
        below = [bisect_left(values, edge) for edge in edges[1:]]
        counts = [end - start for start, end in zip([0, *below], below, strict=False)]
        found[name] = Histogram(edges=edges, counts=counts)
    return found


# ---------------------------------------------------------------------- the run


def _models(
    info: Mapping[str, Any], parts: Mapping[tuple[str, ...], Sequence[Row]], speeds: Sequence[Numbers]
) -> list[dict[str, Any]]:
    """Each measured model with its speed over all its suites; ``speeds`` are those of each part."""
    known = {model["name"]: model for model in info.get("models", [])}
    found = []
    for name in dict.fromkeys(axes[1] for axes in parts):
        own = [place for place, axes in enumerate(parts) if axes[1] == name]
        numbers = speeds[own[0]]
        if len(own) > 1:
            rows = [row for axes, part in parts.items() if axes[1] == name for row in part]
            numbers = speed_numbers(rows, why_no_speed(info, name, rows))
        facts = {
            k: v for k, v in known.get(name, {}).items() if k in ("served_id", "kind", "provider", "window")
        }
        found.append(
            {
                "name": name,
                **facts,
                "simulated": _is_simulated(info, name),
                "metrics": numbers.values,
                "absent": numbers.absent,
            }
        )
    return found
