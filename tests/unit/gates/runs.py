"""Made-up runs: what ``run.json``, ``results.json`` and the rows say of one cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchkit.gates.runs import Run
from pytest_benchkit.runs.results import build


def rows_of(
    outcomes: Mapping[str, int], model: str = "org/m", suite: str = "gsm8k", **more: Any
) -> list[dict[str, Any]]:
    """Rows with these outcomes, ids from 0."""
    found: list[dict[str, Any]] = []
    for outcome, count in outcomes.items():
        for _ in range(count):
            row = {
                "key": f"{suite}|{len(found)}|{model}|direct|none|0",
                "suite": suite,
                "task_id": str(len(found)),
                "model": model,
                "harness": "direct",
                "perturbation": "none",
                "repeat": 0,
                "outcome": outcome,
                "session": 0,
                "flags": [],
                **more,
            }
            if outcome not in ("harness_error", "contaminated", "skipped"):
                row["score"] = 1.0 if outcome == "correct" else 0.0
            found.append(row)
    return found


def run_of(
    outcomes: Mapping[str, int],
    *,
    planned: int | None = None,
    rows_in_data: int = 1319,
    selection: Mapping[str, Any] | None = None,
    model: str = "org/m",
    suite: str = "gsm8k",
    stopped: str | None = None,
    rows: list[dict[str, Any]] | None = None,
    **info_more: Any,
) -> Run:
    """A run of one suite and one model."""
    rows = rows_of(outcomes, model, suite) if rows is None else rows
    cell = {
        "suite": suite,
        "model": model,
        "harness": "direct",
        "perturbation": "none",
        "planned": len(rows) if planned is None else planned,
        "rows": rows_in_data,
        "selection": dict(selection or {"kind": "all"}),
    }
    info: dict[str, Any] = {
        "run_id": "r",
        "plan": {"cells": [cell]},
        "axes": {"repeats": 1},
        "complete": True,
        "suites": [
            {
                "key": suite,
                "name": suite,
                "scoring": "binary",
                "declared_sampling": {"temperature": 0.0},
                "deviations": [],
                "data": {"sha256": "a" * 64},
                "prompt_sha256": "b" * 64,
                "scorer_sha256": "c" * 64,
            }
        ],
        "models": [
            {
                "name": model,
                "sampling": {"temperature": 0.0, "seed": 0, "max_tokens": None},
                "thinking": "default",
                "system": None,
            }
        ],
        "sessions": [{}],
        **info_more,
    }
    return Run(info, build(info, rows, {}), rows, stopped=stopped)
