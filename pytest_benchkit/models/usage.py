"""Token counts and the server's own measurements, out of what a response carries (section 5.1, S-36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchkit.models.figures import count, measure
from pytest_benchkit.reply import Usage

OLLAMA_TIMES = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
"""What Ollama measured itself, in nanoseconds."""
# What servers measure themselves: llama.cpp `timings`, vLLM `metrics`, LM Studio `stats`.
SERVER_TIMES = (
    "prompt_ms",
    "prompt_per_second",
    "predicted_ms",
    "predicted_per_second",
    "time_to_first_token_ms",
    "queue_time_ms",
    "generation_time_ms",
    "tokens_per_second",
    "time_to_first_token",
    "generation_time",
    *OLLAMA_TIMES,
)


def read_usage(
    usage: Mapping[str, Any], timings: Mapping[str, Any], cost: Any, *, generated: bool
) -> tuple[Usage, list[str]]:
    """Counts of one response and flags. Zero beside text that is there is no count (``usage_zero``)."""
    flags: list[str] = []
    found = Usage()
    output = _first(usage, "completion_tokens", "output_tokens")
    input = _first(usage, "prompt_tokens", "input_tokens")
    if (output == 0 and generated) or input == 0:
        flags.append("usage_zero")
        output = output if not generated else output or None
        input = input or None
    if output is not None or input is not None:
        found.source = "usage"
    if output is None:
        output = count(timings.get("predicted_n"))
        output = output if not generated else output or None
        found.source = found.source or ("timings" if output is not None else None)
    if input is None and (prompt := count(timings.get("prompt_n"))) is not None:
        input = (prompt + (count(timings.get("cache_n")) or 0)) or None
        found.source = found.source or ("timings" if input is not None else None)
    found.output_tokens, found.input_tokens = output, input
    found.cached_tokens = _cached(usage, timings)
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    found.reasoning_tokens = count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    found.cost_usd = next(
        (c for c in map(measure, (usage.get("cost"), usage.get("cost_usd"), cost)) if c is not None), None
    )
    return found, flags


def server_times(*sources: Mapping[str, Any]) -> dict[str, float]:
    """The known measurements among the extra objects of a response; later objects win."""
    return {
        name: value
        for source in sources
        for name in SERVER_TIMES
        if (value := measure(source.get(name))) is not None
    }


def _first(source: Mapping[str, Any], *names: str) -> int | None:
    return next((n for n in (count(source.get(name)) for name in names) if n is not None), None)


def _cached(usage: Mapping[str, Any], timings: Mapping[str, Any]) -> int | None:
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    if isinstance(details, Mapping) and (cached := count(details.get("cached_tokens"))) is not None:
        return cached
    told = _first(usage, "prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
    return told if told is not None else count(timings.get("cache_n"))
