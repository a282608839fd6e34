"""What stands under a table of scores, only when true: one sentence per finding. Pure.

Each note is ``{code, text, count}``; every report prints the same ones (TTY-12, OUT-6).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_benchkit.runs.decisions import STABLE_FROM
from pytest_benchkit.runs.metrics import EXCLUDED, WORDS, Row
from pytest_benchkit.score import Outcome

TRUNCATION_SHARE = 0.05
FORMAT_GAP_PP = 10.0
CLIENT_LAG_MS = 10.0
Note = dict[str, Any]
Entry = Mapping[str, Any]


def note(code: str, text: str, count: int = 1) -> Note:
    return {"code": code, "text": text, "count": count}


def notes(info: Mapping[str, Any], entries: Sequence[Entry], rows_of: Sequence[Sequence[Row]]) -> list[Note]:
    """All notes of a run; ``rows_of`` holds the rows of each entry."""
    several = len({entry["model"] for entry in entries}) > 1
    beside = {suite["name"]: suite.get("beside", ()) for suite in info.get("suites", [])}
    found = [note(w["code"], w["text"], w.get("count", 1)) for w in info.get("warnings", []) if _is_note(w)]
    decided = (info.get("sessions") or [{}])[-1].get("reason") == "decided"
    for entry, rows in zip(entries, rows_of, strict=True):
        name = label(entry, several)
        if shown := _beside(entry["metrics"], beside.get(entry["suite"], ())):
            found.append(note("beside", f"{name}: {shown}"))
        if entry.get("repair_curve"):
            found.append(note("repair", f"{name}: {_repair(entry)}", entry["metrics"]["repair_attempted"]))
        if decided and entry["metrics"]["not_asked"] and "score" in entry["metrics"]:
            words = (
                "stopped when its gates were settled; the score of its first rows is no sample of the whole"
            )
            found.append(note("decided", f"{name}: {words}"))
        found += _of_cell(entry, rows, name)
    found += _of_selection(entries)
    found += _of_models(info)
    found += _of_protocol(entries, several)
    return found


def _is_note(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("code"), str)
        and isinstance(value.get("text"), str)
    )


def label(entry: Entry, several_models: bool) -> str:
    """What a sentence calls a cell: its suite, and those axes that are not plain."""
    parts = [entry["suite"]]
    if several_models:
        parts.append(entry["model"])
    if entry["harness"] != "direct":
        parts.append(entry["harness"])
    if entry["perturbation"] != "none":
        parts.append(entry["perturbation"])
    return " ".join(parts)


# ---------------------------------------------------------------------- one cell


def _beside(metrics: Mapping[str, Any], names: Sequence[str]) -> str:
    """The metrics that a suite wants beside its score."""
    return ", ".join(f"{name} {metrics[name]:.4g}" for name in names if name in metrics)


def _repair(entry: Entry) -> str:
    """The score after each round, beside what guessing would reach."""
    curve, metrics = entry["repair_curve"], entry["metrics"]
    words = "score after each repair round " + " → ".join(f"{100 * point['score']:.1f}" for point in curve)
    if "elimination" in curve[0]:
        guessed = " → ".join(f"{100 * point['elimination']:.1f}" for point in curve)
        words += f" (guessing by elimination {guessed})"
    words += f"; {metrics['repair_attempted']} tasks repaired, {metrics['repair_successes']} then right"
    for name, told in (("repair_regressions", "attempts worse"), ("repair_unfinished", "ended early")):
        words += f", {metrics[name]} {told}" if metrics.get(name) else ""
    return words


def _of_cell(entry: Entry, rows: Sequence[Row], name: str) -> Iterator[Note]:
    metrics = entry["metrics"]
    if left := metrics["excluded"] + metrics["not_asked"]:
        counts = f"{metrics['samples']} of {metrics['planned']} rows counted"
        yield note("left_out", f"{name}: {counts}; {_left_out(rows, metrics['not_asked'])}", left)
    if metrics.get("truncation_rate", 0) >= TRUNCATION_SHARE:
        yield note("truncation", f"{name}: {_truncation(rows, metrics)}", metrics["n_truncated"])
    if (gap := metrics.get("format_gap_pp", 0)) >= FORMAT_GAP_PP:
        lenient = f"{100 * metrics['lenient_score']:.1f} (n {metrics['samples']}, {gap:+.1f} pp)"
        yield note("format_gap", f"{name}: format, not ability: the most lenient reading scores {lenient}")
    if raised := sum("scorer_raised" in row["flags"] for row in rows):
        yield note(
            "scorer_raised", f"{name}: {raised} replies made the scorer raise; counted as missed", raised
        )
    if over := int(metrics.get("over_length", 0)):
        yield note("over_length", f"{name}: {over} prompts were longer than their row says", over)
    if sizes := _sizes(metrics):
        yield note("sizes", f"{name}: {sizes}")
    if (n := metrics.get("decision_samples", STABLE_FROM)) < STABLE_FROM:
        yield note("calibration", f"{name}: {n} rows are few for an ECE ({STABLE_FROM} are needed)")
    if (lag := metrics.get("client_lag_ms_mean", 0)) >= CLIENT_LAG_MS:
        words = f"{lag:.0f} ms a request late on our side: times and speed may be better than shown"
        yield note("client_lag", f"{name}: {words}")


def _sizes(metrics: Mapping[str, Any]) -> str:
    """How prompts of a given length were sized, and how full they were: ``prompts sized exact (9), filled
    4k 97 %, 8k 98 %``."""
    methods = [f"{key[6:]} ({value:.0f})" for key, value in metrics.items() if key.startswith("sized.")]
    fills = [f"{key[5:]} {100 * value:.0f} %" for key, value in metrics.items() if key.startswith("fill.")]
    if not methods:
        return ""
    return f"prompts sized {', '.join(methods)}" + (f"; filled {', '.join(fills)}" if fills else "")


def _left_out(rows: Sequence[Row], not_asked: int) -> str:
    """``12 errors (9 http_503, 3 stream_dropped), 7 skipped (context_too_small), 3 not asked``."""
    details: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row["outcome"] in EXCLUDED:
            details[row["outcome"]][row.get("detail") or "no detail"] += 1
    words = []
    for outcome in (Outcome.HARNESS_ERROR, Outcome.SKIPPED, Outcome.CONTAMINATED):
        kinds = details[outcome]
        if total := kinds.total():
            most = kinds.most_common()
            shown = most[0][0] if len(most) == 1 else ", ".join(f"{n} {kind}" for kind, n in most)
            words.append(f"{total} {WORDS[outcome][total != 1]} ({shown})")
    if not_asked:
        words.append(f"{not_asked} not asked")
    return ", ".join(words)


def _truncation(rows: Sequence[Row], metrics: Mapping[str, Any]) -> str:
    cut = [row for row in rows if row["outcome"] == Outcome.TRUNCATED]
    (detail, _), *_ = Counter(row.get("detail") or "cut" for row in cut).most_common(1)
    limits = {(row.get("ask") or {}).get("max_tokens") for row in cut} - {None}
    limit = f" = {limits.pop()}" if detail == "max_tokens" and len(limits) == 1 else ""
    share = f"{len(cut)} of {metrics['samples']} rows ({100 * metrics['truncation_rate']:.1f} %)"
    return f"{share} were cut, mostly by {detail}{limit}; a larger --bench-max-tokens may help"


# ---------------------------------------------------------------------- the run


def _of_selection(entries: Sequence[Entry]) -> Iterator[Note]:
    said = set()
    for entry in entries:
        kind, total = entry["selection"].get("kind", "all"), entry["selection"].get("rows")
        repeats = entry["selection"].get("repeats", 1)
        planned = entry["metrics"]["planned"] // repeats
        if repeats > 1 and (text := f"{entry['suite']}: every row was asked {repeats} times") not in said:
            said.add(text)
            yield note("repeats", text, repeats)
        if kind == "all":
            continue
        of = f" of {total}" if total else ""
        words = {
            "sample": f"sample of {planned}{of} rows",
            "head": f"the first {planned}{of} rows, not a sample",
        }.get(str(kind), f"{planned} chosen row{'s' * (planned != 1)}{of}, not a sample")
        text = f"{entry['suite']}: {words}"
        if text not in said:
            said.add(text)
            yield note("selection", text, planned)


def _of_models(info: Mapping[str, Any]) -> Iterator[Note]:
    if shard := info.get("shard"):
        part = f"part {shard['index']} of {shard['count']}"
        yield note("shard", f"{part} of the planned rows: put the parts together with benchkit merge")
    if run := info.get("replay_of"):
        yield note("replayed", f"scored again from the stored replies of {run}; nothing was asked")
    for model in info.get("models", []):
        name = model.get("name")
        if model.get("simulated"):
            yield note("simulated", f"{name}: simulated replies; its tokens and times are made up")
        elif info.get("axes", {}).get("repeats", 1) > 1 and not model.get("sampling", {}).get("temperature"):
            words = "repeats at temperature 0 may be one reply several times; see --bench-temperature"
            yield note("repeats_greedy", f"{name}: {words}")
        inflight = model.get("inflight") or {}
        asked, used = inflight.get("requested"), inflight.get("used")
        if isinstance(asked, int) and isinstance(used, int) and used < asked:
            yield note("inflight_lowered", f"{name}: {used} requests in flight, not the {asked} asked for")
        if dropped := model.get("dropped_fields"):
            words = f"the server refused {', '.join(map(str, dropped))}; asked without"
            yield note("dropped_fields", f"{name}: {words}", len(dropped))


def retry_note(model: str, requests: Mapping[str, Any]) -> Note | None:
    """How often a model's requests were tried again, and how long that waited."""
    count = requests.get("retries", 0)
    if not count:
        return None
    words = f"{count} retr{'ies' if count != 1 else 'y'}, {requests['retry_wait_s']:.1f} s of waiting"
    return note("retries", f"{model}: {words}", count)


def _of_protocol(entries: Sequence[Entry], several: bool) -> Iterator[Note]:
    for entry in entries:
        for deviation in entry["deviations"]:
            used, declared = deviation["used"], deviation["declared"]
            words = f"{deviation['name']} is {_value(used)}, the protocol has {_value(declared)}"
            origin = deviation.get("origin")
            yield note("deviation", f"{label(entry, several)}: {words}" + (f" ({origin})" if origin else ""))
    own: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        # samples, deviations and simulated models have a line of their own above
        if (why := entry.get("not_comparable")) and entry["suite"] not in own[why]:
            own[why].append(entry["suite"])
    for why, suites in own.items():
        because = "" if why == "own protocol" else f" ({why})"
        yield note("own_protocol", f"own protocol{because}: {', '.join(suites)}", len(suites))


def _value(value: object) -> str:
    return "not set" if value is None else str(value)
