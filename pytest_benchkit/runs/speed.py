"""How fast a model answered (§12.3), from rows alone. Pure.

A *completed* request is one whose reply arrived whole; times and rates are over these only, the busy time
over every request that was open. Nothing here is rescaled by coverage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pytest_benchkit.runs.metrics import Numbers, Row, put_percentiles, requests_of
from pytest_benchkit.score import Outcome

TOKEN_COVERAGE = 0.95
FINISHED = frozenset(outcome for outcome in Outcome if outcome.finished)
TIMES = ("ttft", "ttfa", "e2e")
COUNTS = ("requests", "retries", "retry_wait_s")
"""Counted on our side, true also where times are made up."""
SPEED_METRICS = (
    "busy_s",
    "wall_s",
    "aggregate_tok_s",
    "stream_tok_s",
    "stream_tok_s_p50",
    "stream_tok_s_p05",
    "server_decode_tok_s",
    "server_prompt_tok_s",
    "inflight_mean",
    "inflight_max",
    *(f"{name}_p{p}_ms" for name in (*TIMES, "itl") for p in (50, 95, 99)),
    "queue_p50_s",
    "client_lag_ms_mean",
    "tasks_per_s",
    "speed_samples",
)

Interval = tuple[float, float]


def why_no_speed(info: Mapping[str, Any], model: str, rows: Sequence[Row]) -> str | None:
    """Why these rows can have no speed at all (N-6): simulated, replayed, or from several machines."""
    if info.get("replay_of"):
        return "replayed: the replies were measured by another run"
    entry: Mapping[str, Any] = next((m for m in info.get("models", []) if m.get("name") == model), {})
    if entry.get("simulated") or any((row.get("timing") or {}).get("simulated") for row in rows):
        return "simulated: the model makes its times up"
    sessions = info.get("sessions", [])
    used = {row.get("session") for row in rows}
    hosts = {s.get("host") for number, s in enumerate(sessions) if number in used} - {None}
    if len(hosts) > 1:
        return "measured on several machines: " + ", ".join(sorted(map(str, hosts)))
    return None


def speed_numbers(rows: Sequence[Row], no_speed: str | None = None) -> Numbers:
    """All metrics of §12.3 over these rows; ``no_speed`` is the reason why none may be given."""
    numbers = Numbers()
    _put_counts(numbers, rows)
    if no_speed is not None:
        numbers.absent.update(dict.fromkeys(SPEED_METRICS, no_speed))
        return numbers
    requests = requests_of(rows)
    done = [row for row in requests if completed(row)]
    intervals = [span for row in requests if (span := interval(row)) is not None]
    busy = union_s(intervals)
    untimed = "no request was timed"
    numbers.put("busy_s", busy or None, untimed)
    numbers.put("wall_s", wall_s(rows), "nothing was asked")
    numbers.put("speed_samples", len(done) or None, "no request was completed")
    open_s = sum(end - start for start, end in intervals)
    numbers.put("inflight_mean", open_s / busy if busy else None, untimed)
    numbers.put("inflight_max", most_at_once(intervals) or None, untimed)
    finished = sum(row["outcome"] in FINISHED for row in rows)
    numbers.put("tasks_per_s", finished / busy if busy and finished else None, untimed)
    _put_rates(numbers, done, busy)
    _put_times(numbers, requests, done)
    return numbers


def completed(row: Row) -> bool:
    """Whether the reply arrived whole: nothing failed, and its end was timed."""
    return "error" not in row and (row.get("timing") or {}).get("end_ms") is not None


def interval(row: Row) -> Interval | None:
    """[t0, end] of the request in Unix seconds, if both are known."""
    timing = row.get("timing") or {}
    start, length = timing.get("sent_at"), timing.get("end_ms")
    if start is None or length is None or length < 0:
        return None
    return start, start + length / 1000


def union_s(intervals: Sequence[Interval]) -> float:
    """Length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total


def most_at_once(intervals: Sequence[Interval]) -> int:
    """The largest number of intervals that hold one moment (an end frees its place first)."""
    events = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    most = now = 0
    for _, step in events:
        now += step
        most = max(most, now)
    return most


def wall_s(rows: Sequence[Row]) -> float | None:
    """First start to last finish of each session, summed; pauses between sessions are not time of a run."""
    firsts: dict[int, str] = {}
    lasts: dict[int, str] = {}
    for row in rows:
        session, start, end = row.get("session", 0), row.get("started_at"), row.get("finished_at")
        if start is None or end is None:
            continue
        # RFC 3339 in UTC with milliseconds: texts compare as the times do
        firsts[session] = min(firsts.get(session, start), start)
        lasts[session] = max(lasts.get(session, end), end)
    if not firsts:
        return None
    spans = (_moment(lasts[s]) - _moment(firsts[s]) for s in firsts)
    return sum(max(0.0, span) for span in spans)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _put_counts(numbers: Numbers, rows: Sequence[Row]) -> None:
    asks = [row.get("ask") or {} for row in requests_of(rows)]
    retries = [retry for ask in asks for retry in ask.get("retries", ())]
    numbers.values["requests"] = sum(ask.get("tries", 0) for ask in asks)
    numbers.values["retries"] = len(retries)
    numbers.values["retry_wait_s"] = float(sum(retry.get("wait_s", 0.0) for retry in retries))


def _put_rates(numbers: Numbers, done: Sequence[Row], busy: float) -> None:
    told = [n for row in done if (n := _tokens(row)) is not None]
    enough = bool(done) and len(told) >= TOKEN_COVERAGE * len(done)
    why = f"{len(told)} of {len(done)} replies told their tokens" if done else "no request was completed"
    numbers.put("aggregate_tok_s", sum(told) / busy if enough and busy else None, why)
    # decode_tok_s is (tokens - 1) / (last - first chunk): the sums behind it are got back from it
    streams = [
        (n - 1, rate)
        for row in done
        if (rate := row["timing"].get("decode_tok_s")) and (n := _tokens(row)) is not None and n > 1
    ]
    seconds = sum(n / rate for n, rate in streams)
    unseen = "no stream with two timed chunks and a token count"
    numbers.put("stream_tok_s", sum(n for n, _ in streams) / seconds if seconds else None, unseen)
    put_percentiles(numbers, [rate for _, rate in streams], (0.5, 0.05), "stream_tok_s_p{}")
    for name, time_name, count in (
        ("server_decode_tok_s", "predicted_ms", _tokens),
        ("server_prompt_tok_s", "prompt_ms", _prompt_tokens),
    ):
        pairs = [
            (n, ms)
            for row in done
            if (ms := (row["timing"].get("server") or {}).get(time_name)) and (n := count(row)) is not None
        ]
        total = sum(ms for _, ms in pairs) / 1000
        numbers.put(name, sum(n for n, _ in pairs) / total if total else None, "the server sends no timings")


def _tokens(row: Row) -> int | None:
    value: int | None = (row.get("usage") or {}).get("output_tokens")
    return value


def _prompt_tokens(row: Row) -> int | None:
    """Tokens that the server processed: what its cache held cost no prompt time."""
    usage = row.get("usage") or {}
    given: int | None = usage.get("input_tokens")
    return None if given is None else max(0, given - usage.get("cached_tokens", 0))


def _put_times(numbers: Numbers, rows: Sequence[Row], done: Sequence[Row]) -> None:
    """Percentiles over requests; a request's own ITL is its median gap."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in done:
        timing = row["timing"]
        for name in TIMES:
            if (value := timing.get(f"{name}_ms")) is not None:
                values[name].append(value)
        if (gap := timing.get("itl_p50_ms")) is not None:
            values["itl"].append(gap)
    for name in (*TIMES, "itl"):
        put_percentiles(numbers, values[name], (0.5, 0.95, 0.99), f"{name}_p{{}}_ms")
    queued = [q for row in rows if (q := (row.get("timing") or {}).get("queued_s")) is not None]
    put_percentiles(numbers, queued, (0.5,), "queue_p{}_s")
    # a row without the number had no lag worth noting
    lags = [row["timing"].get("client_lag_ms", 0.0) for row in done]
    numbers.put("client_lag_ms_mean", sum(lags) / len(lags) if lags else None, "no request was completed")
