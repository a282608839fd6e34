"""The table of scores, as columns of text: one row per entry of ``results``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_benchkit.reports.format import (
    UNKNOWN,
    dollars,
    interval,
    percent,
    points,
    rate,
    safe,
    seconds,
)
from pytest_benchkit.reports.table import Column
from pytest_benchkit.runs.metrics import left_out_words

Entry = Mapping[str, Any]
Metrics = Mapping[str, Any]


def score_columns(entries: Sequence[Entry], extra: Sequence[Mapping[str, str]] = ()) -> list[Column]:
    """The columns that apply (a column that no row fills is left out). ``extra`` holds more cells of each
    entry, by heading."""
    metrics = [entry["metrics"] for entry in entries]
    columns = [
        Column("suite", "name", [safe(entry["suite"]) for entry in entries]),
        Column("model", "name", [safe(entry["model"]) for entry in entries]),
    ]
    for axis, usual in (("harness", "direct"), ("perturbation", "none")):
        if any(entry[axis] != usual for entry in entries):
            columns.append(Column(axis, "name", [safe(entry[axis]) for entry in entries]))
    columns += [
        Column("score", "core", [_score(m) for m in metrics]),
        Column("[95 %]", "tail", [_interval(m) for m in metrics]),
        Column("n", "core", [_n(m) for m in metrics]),
        Column("left out", "more", [_left_out(m) for m in metrics]),
        _count("truncated", "n_truncated", metrics),
        _count("no answer", "n_no_answer", metrics),
        _count("loop", "n_loop_killed", metrics),
        _count("timeout", "n_timed_out", metrics),
        _shown("repaired", "repair_delta_pp", metrics, lambda v, m: points(v, m["samples"])),
        *_pass_at(metrics),
        _shown("Brier", "brier", metrics, lambda v, m: f"{v:.3f}"),
        _shown("ECE", "ece", metrics, lambda v, m: f"{v:.3f}"),
        _shown("TTFT p50", "ttft_p50_ms", metrics, lambda v, m: seconds(v / 1000)),
        _shown("tok/s stream", "stream_tok_s", metrics, lambda v, m: rate(v)),
        _shown("tok/s all", "aggregate_tok_s", metrics, lambda v, m: rate(v)),
        _shown("in flight", "inflight_mean", metrics, lambda v, m: f"{v:.1f}"),
        _shown("output tokens", "output_tokens", metrics, lambda v, m: str(v)),
        _shown("cost", "cost_usd", metrics, lambda v, m: dollars(v)),
        _shown("time", "wall_s", metrics, lambda v, m: seconds(v)),
    ]
    headings = dict.fromkeys(heading for cells in extra for heading in cells)
    columns += [
        Column(safe(heading), "more", [safe(cells.get(heading, "")) for cells in extra])
        for heading in headings
    ]
    return [column for column in columns if any(column.cells)]


def _score(metrics: Metrics) -> str:
    return percent(metrics["score"], metrics["samples"]) if "score" in metrics else UNKNOWN


def _interval(metrics: Metrics) -> str:
    if "score" in metrics:
        return interval(metrics.get("score_ci_low"), metrics.get("score_ci_high"), metrics["samples"])
    for name, word in (
        ("n_harness_error", "errors only"),
        ("n_skipped", "all skipped"),
        ("n_contaminated", "all contaminated"),
        ("not_asked", "not asked"),
    ):
        if metrics[name] and metrics[name] == metrics["planned"]:
            return word
    return "nothing measured"


def _n(metrics: Metrics) -> str:
    samples, planned = metrics["samples"], metrics["planned"]
    return str(samples) if samples == planned else f"{samples} of {planned}"


def _left_out(metrics: Metrics) -> str:
    outcomes = {name.removeprefix("n_"): count for name, count in metrics.items() if name.startswith("n_")}
    return left_out_words(outcomes, metrics["not_asked"])


def _count(heading: str, name: str, metrics: Sequence[Metrics]) -> Column:
    """A counted outcome; the column is for runs in which it happened at all."""
    happened = any(m[name] for m in metrics)
    return Column(heading, "more", [str(m[name]) if happened and m["samples"] else "" for m in metrics])


def _pass_at(metrics: Sequence[Metrics]) -> list[Column]:
    """pass@k for the largest k of the run, where tasks were asked several times."""
    ks = {int(name.removeprefix("pass_at_")) for m in metrics for name in m if name.startswith("pass_at_")}
    if not ks:
        return []
    k = max(ks)
    return [
        _shown(f"pass@{k}", f"pass_at_{k}", metrics, lambda v, m: percent(v, m["samples"])),
        _shown(f"pass^{k}", f"pass_all_{k}", metrics, lambda v, m: percent(v, m["samples"])),
    ]


def _shown(
    heading: str, name: str, metrics: Sequence[Metrics], show: Callable[[Any, Metrics], str]
) -> Column:
    known = any(name in m for m in metrics)
    return Column(heading, "more", [show(m[name], m) if name in m else UNKNOWN * known for m in metrics])


def overall_lines(overall: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence per model whose overall spans several suites: macro first, micro beside."""
    lines = []
    for item in overall:
        if len(item["suites"]) < 2:
            continue
        n = item["samples"]
        parts = [
            f"{name} {percent(item[name], n)} "
            + interval(item.get(f"{name}_ci_low"), item.get(f"{name}_ci_high"), n)
            for name in ("macro", "micro")
        ]
        who = item["model"] if item["harness"] == "direct" else f"{item['model']} {item['harness']}"
        text = f"overall {who}: {', '.join(parts)}, n {n}, {len(item['suites'])} suites"
        if left := item["left_out"]:
            text += f" ({', '.join(item['suites'])}; without " + ", ".join(
                f"{part['suite']}: {part['reason']}" for part in left
            )
            text += ")"
        lines.append(safe(text))
    return lines
