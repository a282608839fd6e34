"""The result files of a run: ``results.json`` and ``results.csv`` (FILE-1, FILE-3)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_benchkit.errors import BenchkitError
from pytest_benchkit.runs.store import write_atomic, write_json
from pytest_benchkit.score import Outcome

RESULTS, TABLE = "results.json", "results.csv"
COLUMNS = (
    "run_id",
    "created_at",
    "suite",
    "variant",
    "model",
    "harness",
    "perturbation",
    "complete",
    "planned",
    "samples",
    "excluded",
    "not_asked",
    "score",
    "score_ci_low",
    "score_ci_high",
    "ci_method",
    "accuracy",
    "score_answered",
    "repaired_score",
    "repair_delta_pp",
    *(f"n_{outcome.value}" for outcome in Outcome),
    "truncation_rate",
    "no_answer_rate",
    "loop_rate",
    "ttft_p50_ms",
    "ttft_p95_ms",
    "e2e_p50_ms",
    "e2e_p95_ms",
    "stream_tok_s",
    "aggregate_tok_s",
    "inflight_mean",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "wall_s",
    "hardware",
    "data_sha256",
)
"""Fixed order; new columns go to the end."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that starts so would be run by a spreadsheet."""


def write_all(results: Mapping[str, Any], folder: Path) -> list[str]:
    """Writes the files of ``results`` into ``folder``, each under a temporary name first.

    Returns one sentence for each file that failed; the others are still made.
    """
    problems = []
    for name, write in ((RESULTS, write_results), (TABLE, write_table)):
        try:
            write(results, folder / name)
        except BenchkitError as error:
            problems.append(str(error))
        except Exception as error:  # one report that fails must not take the others with it (OUT-10)
            problems.append(f"{name} could not be made: {type(error).__name__}: {error}")
    return problems


def write_results(results: Mapping[str, Any], path: Path) -> None:
    write_json(path, results, sort_keys=True)


def write_table(results: Mapping[str, Any], path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(table_rows(results))
    write_atomic(path, text.getvalue().encode("utf-8", "backslashreplace"))


def table_rows(results: Mapping[str, Any]) -> Iterator[list[str]]:
    """One row of cells per entry of ``results``, in the order of :data:`COLUMNS`."""
    run = results["run"]
    shared = {**run, "hardware": _hardware(run.get("hardware") or {})}
    for entry in results["results"]:
        known = {**shared, **entry, **entry["metrics"]}
        yield [_cell(known.get(name)) for name in COLUMNS]


def _hardware(facts: Mapping[str, Any]) -> str | None:
    cores = f"{facts['cores']} cores" if facts.get("cores") else None
    return ", ".join(str(part) for part in (facts.get("cpu"), cores) if part) or None


def _cell(value: object) -> str:
    """A scalar as text: full precision, blank for unknown, no formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value).translate({ord(c): " " for c in "[]{}\r\n\0"})
    return f"'{text}" if text.startswith(FORMULA) else text
