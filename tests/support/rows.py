"""Rows and run descriptions for tests of numbers: what ``slim`` and the controller make, in few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
SCORES = {"correct": 1.0, "partial": 0.5}
UNCOUNTED = ("contaminated", "harness_error", "skipped")


def row(number: int, outcome: str = "correct", **fields: Any) -> Row:
    """One finished row of suite ``s`` and model ``m``; ``fields`` replace or add."""
    made: Row = {
        "suite": "s",
        "model": "m",
        "harness": "direct",
        "perturbation": "none",
        "repeat": 0,
        "task_id": f"{number:04d}",
        "outcome": outcome,
        "reason": "because",
        "flags": [],
        "session": 0,
        "started_at": "2026-01-01T00:00:00.000Z",
        "finished_at": "2026-01-01T00:00:10.000Z",
        "ask": {"tries": 1},
        "trace_status": "unavailable",
    }
    if outcome not in UNCOUNTED:
        made["score"] = SCORES.get(outcome, 0.0)
    if outcome == "harness_error":
        made["error"] = {"kind": "http_503", "status": 503, "message": "busy", "retryable": True}
        made["detail"] = "http_503"
    made.update(fields)
    axes = ("suite", "task_id", "model", "harness", "perturbation", "repeat")
    made.setdefault("key", "|".join(str(made[name]) for name in axes))
    return made


def timed(number: int, start: float, seconds: float, tokens: int = 101, **fields: Any) -> Row:
    """A row of a completed request: first token after a fifth of its time, then even chunks."""
    first = seconds / 5
    timing = {
        "sent_at": start,
        "queued_s": 0.25,
        "ttft_ms": first * 1000,
        "ttfa_ms": first * 1000,
        "e2e_ms": seconds * 1000,
        "end_ms": seconds * 1000,
        "decode_tok_s": (tokens - 1) / (seconds - first),
    }
    usage = {"input_tokens": 10, "output_tokens": tokens, "source": "usage"}
    return row(number, **{"timing": timing, "usage": usage, **fields})


def cell(planned: int, suite: str = "s", model: str = "m", **fields: Any) -> Row:
    return {
        "suite": suite,
        "model": model,
        "harness": "direct",
        "perturbation": "none",
        "planned": planned,
        "rows": planned,
        "selection": {"kind": "all"},
        **fields,
    }


def info(cells: Sequence[Row], **fields: Any) -> Row:
    """``run.json`` of a complete run over these cells."""
    names = dict.fromkeys(entry["suite"] for entry in cells)
    models = dict.fromkeys(entry["model"] for entry in cells)
    return {
        "schema": 1,
        "run_id": "20260101T000000Z-abc123",
        "created_at": "2026-01-01T00:00:00.000Z",
        "argv": ["--bench=s", "--bench-model=m"],
        "hardware": {"cpu": "A CPU", "cores": 4},
        "complete": True,
        "plan": {"cells": list(cells), "sha256": "0" * 64, "tasks": sum(c["planned"] for c in cells)},
        "models": [{"name": name, "simulated": False, "inflight": {"requested": "auto"}} for name in models],
        "suites": [suite(name) for name in names],
        "sessions": [{"host": "a", "reason": "finished", "ended_at": "2026-01-01T00:01:00.000Z"}],
        **fields,
    }


def suite(name: str, **fields: Any) -> Row:
    return {
        "key": name.partition(":")[0],
        "name": name,
        "version": 1,
        "data": {"sha256": "d" * 64},
        "prompt_sha256": "p" * 64,
        "scoring": "binary",
        "in_overall": True,
        "not_comparable": None,
        "declared_sampling": {},
        "deviations": [],
        **fields,
    }
