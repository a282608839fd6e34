"""One number over several suites (N-7, N-8), from the entries of ``results``. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.runs.statistics import Z95

Entry = Mapping[str, Any]


def overall(entries: Sequence[Entry], in_overall: Mapping[str, bool]) -> list[dict[str, Any]]:
    """One entry per model × harness: plain mean of suite scores (``macro``), mean over all their tasks
    (``micro``), the suites behind them, and those left out with the reason.

    Only clean rows count, of suites that every model of the harness finished with the same selection, so
    that models are compared on equal ground. A suite counts once: its own rows, or else its one variant
    (``bfcl`` and ``bfcl:prompt`` are one instrument asked in two ways). ``in_overall`` is the suites' own
    field, by suite name.
    """
    clean = [e for e in entries if e["perturbation"] == "none"]
    found = []
    for harness in dict.fromkeys(e["harness"] for e in clean):
        cells = {(e["suite"], e["model"]): e for e in clean if e["harness"] == harness}
        models = list(dict.fromkeys(model for _, model in cells))
        suites = list(dict.fromkeys(suite for suite, _ in cells))
        left_out = {suite: why for suite in suites if (why := _why_not(suite, models, cells, in_overall))}
        left_out |= _variants([suite for suite in suites if suite not in left_out])
        used = [suite for suite in suites if suite not in left_out]
        for model in models:
            item = _mean([cells[suite, model] for suite in used])
            reasons = [{"suite": suite, "reason": why} for suite, why in left_out.items()]
            found.append({"model": model, "harness": harness, **item, "suites": used, "left_out": reasons})
    return found


def _why_not(
    suite: str, models: Sequence[str], cells: Mapping[tuple[str, str], Entry], in_overall: Mapping[str, bool]
) -> str | None:
    if not in_overall.get(suite, False):
        return "not part of an overall score"
    selections = []
    for model in models:
        entry = cells.get((suite, model))
        if entry is None:
            return f"not measured for {model}"
        if entry["metrics"]["not_asked"]:
            return f"not finished by {model}"
        if "score" not in entry["metrics"]:
            return f"no score of {model}"
        selections.append((entry["selection"].get("kind"), entry["metrics"]["planned"]))
    return "models were given different rows" if len(set(selections)) > 1 else None


def _variants(names: Sequence[str]) -> dict[str, str]:
    """Those of these suites that are a further variant of one, each with the reason to leave it out."""
    keys = Counter(name.partition(":")[0] for name in names)
    found = {}
    for name in names:
        key, _, variant = name.partition(":")
        if key in names and variant:
            found[name] = f"a variant of {key}, which counts already"
        elif keys[key] > 1 and variant:
            found[name] = f"one of {keys[key]} variants of {key}, which are not averaged"
    return found


def _mean(entries: Sequence[Entry]) -> dict[str, Any]:
    if not entries:
        return {}
    metrics = [entry["metrics"] for entry in entries]
    counts = [m["samples"] for m in metrics]
    total = sum(counts)
    item: dict[str, Any] = {
        "macro": math.fsum(m["score"] for m in metrics) / len(metrics),
        "micro": math.fsum(m["score"] * n for m, n in zip(metrics, counts, strict=True)) / total,
        "samples": total,
    }
    errors = [m["stderr"] for m in metrics if "stderr" in m]
    if len(errors) == len(metrics):  # suites are independent, so their errors add in squares
        item.update(_interval("macro", item["macro"], [e / len(errors) for e in errors]))
        item.update(
            _interval("micro", item["micro"], [e * n / total for e, n in zip(errors, counts, strict=True)])
        )
    return item


def _interval(name: str, mean: float, parts: Sequence[float]) -> dict[str, float]:
    half = Z95 * math.hypot(*parts)
    return {f"{name}_ci_low": max(0.0, mean - half), f"{name}_ci_high": min(1.0, mean + half)}
