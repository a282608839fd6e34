"""Two runs of the same suites held against each other (engine specification, section 13). Pure.

A side is a run and one of its models. Rows are paired by suite, task, harness, perturbation and repeat; only
pairs with both sides in the denominator count, the others are told by their outcomes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_benchkit.runs.metrics import Row
from pytest_benchkit.runs.paired import Difference, detectable, difference
from pytest_benchkit.runs.speeds import speed_ratios
from pytest_benchkit.runs.statistics import Z95
from pytest_benchkit.score import COUNTED

SCHEMA, KIND = 1, "benchkit-comparison"
SURE = 0.05
POWER_80 = Z95 + 0.841621
"""Standard errors that a true difference must have to be shown four times out of five."""
BARRIERS = ("data", "prompt", "scorer", "selection")
"""What must be equal for a suite to be compared; ``--allow`` lifts one by name."""
Cell = tuple[str, str, str]
"""Suite, harness, perturbation."""


@dataclass(frozen=True)
class Side:
    """A run and a model of it. ``rows`` is absent where only ``results.json`` is known; ``damaged``: stored
    lines that cannot be read."""

    name: str
    model: str
    info: Mapping[str, Any]
    results: Mapping[str, Any]
    rows: Sequence[Row] | None = None
    damaged: int = 0

    def entries(self) -> dict[Cell, Mapping[str, Any]]:
        """This model's entries of ``results``."""
        mine = [entry for entry in self.results["results"] if entry["model"] == self.model]
        return {(e["suite"], e["harness"], e["perturbation"]): e for e in mine}

    def suite_facts(self, suite: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = next((s for s in self.info.get("suites", []) if s["name"] == suite), {})
        return found

    def model_facts(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = next(
            (m for m in self.info.get("models", []) if m["name"] == self.model), {}
        )
        return found


@dataclass(slots=True)
class _Comparison:
    suites: list[dict[str, Any]] = field(default_factory=list)
    barred: list[dict[str, str]] = field(default_factory=list)


def compare(
    a: Side, b: Side, *, allow: frozenset[str] = frozenset(), suites: Sequence[str] = ()
) -> dict[str, Any]:
    """The document of a comparison; ``b`` is the new side, and a positive delta says that it is better.

    ``allow`` holds names of :data:`BARRIERS`, and ``hardware`` for speed. ``suites`` are the only ones asked
    for, where there are any.
    """
    found = _Comparison()
    first, second = a.entries(), b.entries()
    for cell in dict.fromkeys([*first, *second]):
        if suites and cell[0].partition(":")[0] not in suites and cell[0] not in suites:
            continue
        name = _cell_name(cell)
        if cell not in first or cell not in second:
            where = a.name if cell not in second else b.name
            found.barred.append({"suite": name, "why": f"only in {where}"})
            continue
        differing = _differing(a, b, first[cell], second[cell])
        if barred := [what for what in differing if what not in allow]:
            found.barred.append(
                {
                    "suite": name,
                    "why": f"{', '.join(barred)} differ (--allow {barred[0]} compares all the same)",
                }
            )
            continue
        found.suites.append(_of_cell(a, b, cell, first[cell], second[cell], differing))
    _adjust(found.suites)
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "a": _side_facts(a),
        "b": _side_facts(b),
        "suites": found.suites,
        "speed": speed_ratios(a, b, allow_hardware="hardware" in allow),
        "notes": _notes(a, b),
        "not_comparable": found.barred,
    }


def _differing(a: Side, b: Side, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Names of :data:`BARRIERS` in which the two entries differ."""

    def told(side: Side, entry: Mapping[str, Any]) -> tuple[object, ...]:
        scorer = side.suite_facts(entry["suite"]).get("scorer_sha256")
        chosen = (entry["selection"].get("kind", "all"), entry["metrics"]["planned"])
        return entry.get("data_sha256"), entry.get("prompt_sha256"), scorer, chosen

    pairs = zip(BARRIERS, told(a, first), told(b, second), strict=True)
    return [name for name, one, two in pairs if one != two]


# ---------------------------------------------------------------------- one suite


def _of_cell(
    a: Side, b: Side, cell: Cell, first: Mapping[str, Any], second: Mapping[str, Any], allowed: list[str]
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "suite": cell[0],
        "harness": cell[1],
        "perturbation": cell[2],
        "allowed": allowed,
        "complete": all(not e["metrics"]["not_asked"] for e in (first, second)),
    }
    if a.rows is None or b.rows is None:
        return {**entry, **_unpaired(first["metrics"], second["metrics"])}
    pairs, dropped = _pairs(_rows_of(a, cell), _rows_of(b, cell))
    entry |= {"paired": True, "n": len(pairs), "dropped": dict(dropped)}
    grouped = any("group" in x or x["repeat"] for x, _ in pairs)
    clusters = [x.get("group", x["task_id"]) for x, _ in pairs] if grouped else None
    found = difference(
        [float(x["score"]) for x, _ in pairs],
        [float(y["score"]) for _, y in pairs],
        [f"{x['suite']}|{x['task_id']}|{x['repeat']}" for x, _ in pairs],
        clusters,
    )
    if found is None:
        return {**entry, "why": "no pair counts on both sides"}
    return {**entry, **_numbers(found), "discordant": _discordant(pairs)}


def _rows_of(side: Side, cell: Cell) -> dict[tuple[str, int], Row]:
    return {
        (row["task_id"], row["repeat"]): row
        for row in side.rows or ()
        if row["model"] == side.model and (row["suite"], row["harness"], row["perturbation"]) == cell
    }


def _pairs(
    first: Mapping[tuple[str, int], Row], second: Mapping[tuple[str, int], Row]
) -> tuple[list[tuple[Row, Row]], Counter[str]]:
    """Pairs that count, and the others by ``outcome → outcome``."""
    pairs = []
    dropped: Counter[str] = Counter()
    for key in sorted({*first, *second}):
        x, y = first.get(key), second.get(key)
        if x is not None and y is not None and x["outcome"] in COUNTED and y["outcome"] in COUNTED:
            pairs.append((x, y))
        else:
            words = (row["outcome"] if row is not None else "no record" for row in (x, y))
            dropped[" → ".join(words)] += 1
    return pairs, dropped


def _numbers(found: Difference) -> dict[str, Any]:
    return {
        "score_a": found.first,
        "score_b": found.second,
        "delta_pp": 100 * found.delta,
        "ci_pp": [100 * found.low, 100 * found.high],
        "gains": found.gains,
        "losses": found.losses,
        "p": found.p,
        "test": found.test,
        **({"detectable_pp": 100 * least} if (least := _detectable(found)) is not None else {}),
    }


def _detectable(found: Difference) -> float | None:
    """The smallest true difference that so many pairs show four times out of five, by the test that was made:
    the exact one, else from the width of the interval. ``None`` where they are too few for any."""
    if found.test == "mcnemar":
        return detectable(found.n, found.gains + found.losses)
    return min(1.0, POWER_80 * (found.high - found.low) / (2 * Z95))


def _unpaired(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Scores with their own intervals: without records nothing can be paired, and no p is given (CMP-3)."""
    entry: dict[str, Any] = {"paired": False, "why": "unpaired, records missing"}
    for side, metrics in (("a", first), ("b", second)):
        if "score" in metrics:
            entry[f"score_{side}"] = metrics["score"]
            entry[f"n_{side}"] = metrics["samples"]
            if "score_ci_low" in metrics:
                entry[f"ci_{side}"] = [metrics["score_ci_low"], metrics["score_ci_high"]]
    if "score_a" in entry and "score_b" in entry:
        entry["delta_pp"] = 100 * (entry["score_b"] - entry["score_a"])
    return entry


def _discordant(pairs: Sequence[tuple[Row, Row]]) -> dict[str, list[dict[str, Any]]]:
    """The rows that changed, both ways, largest change first."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for x, y in pairs:
        change = float(y["score"]) - float(x["score"])
        if change:
            row = {
                "task_id": x["task_id"],
                "repeat": x["repeat"],
                "change": change,
                "reason_a": x["reason"],
                "reason_b": y["reason"],
            }
            found["gains" if change > 0 else "losses"].append(row)
    return {
        name: sorted(found[name], key=lambda r: (-abs(r["change"]), r["task_id"], r["repeat"]))
        for name in ("gains", "losses")
    }


def _adjust(entries: list[dict[str, Any]]) -> None:
    """Holm's correction over the suites (1979), and the word that the adjusted p allows."""
    tested = sorted((entry for entry in entries if "p" in entry), key=lambda entry: float(entry["p"]))
    highest = 0.0
    for place, entry in enumerate(tested):
        highest = max(highest, min(1.0, entry["p"] * (len(tested) - place)))
        entry["p_holm"] = highest
        sure = highest < SURE
        entry["verdict"] = ("better" if entry["delta_pp"] > 0 else "worse") if sure else "no difference shown"


# ---------------------------------------------------------------------- the run


def _side_facts(side: Side) -> dict[str, Any]:
    model = side.model_facts()
    run = side.results.get("run", {})
    return {
        "run": side.name,
        "model": side.model,
        "created_at": run.get("created_at"),
        "complete": bool(run.get("complete")),
        "served_id": model.get("served_id"),
        "build": model.get("build"),
    }


def _notes(a: Side, b: Side) -> list[str]:
    """What differs between the sides and does not forbid the comparison."""
    found = []
    one, two = a.model_facts(), b.model_facts()
    for name in ("sampling", "thinking", "system", "served_id", "build", "quantization", "template_sha256"):
        if one.get(name) != two.get(name):
            found.append(f"{name}: {_short(one.get(name))} → {_short(two.get(name))}")
    inflight = [(model.get("inflight") or {}).get("used") for model in (one, two)]
    if inflight[0] != inflight[1]:
        found.append(f"in flight: {inflight[0]} → {inflight[1]}")
    hardware = [side.info.get("hardware") for side in (a, b)]
    if hardware[0] != hardware[1]:
        found.append("the runs were made on different client machines")
    versions = [(side.info.get("tool") or {}).get("version") for side in (a, b)]
    if versions[0] != versions[1]:
        found.append(f"pytest-benchkit: {versions[0]} → {versions[1]}")
    found += [f"{side.name}: {side.damaged} damaged rows are left out" for side in (a, b) if side.damaged]
    found += [f"{side.name} is not complete" for side in (a, b) if not side.results["run"].get("complete")]
    return found


def _short(value: object) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 else text[:80]


def _cell_name(cell: Cell) -> str:
    suite, harness, perturbation = cell
    extra = [word for word, usual in ((harness, "direct"), (perturbation, "none")) if word != usual]
    return " ".join([suite, *extra])
