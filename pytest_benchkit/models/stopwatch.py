"""From the arrival times of chunks to the numbers of :class:`~pytest_benchkit.reply.Timing` (section 5.2)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_benchkit.reply import Reply, Timing

SHORTEST_SPAN_MS = 10.0
"""Below it the decode speed would measure the network's buffering, not the model."""
FEWEST_FOR_P99 = 100


def fill(
    timing: Timing, *, t0: float, generated_at: Sequence[float], answer_at: float | None, end: float
) -> None:
    """Sets the times of a streamed reply. All arguments are seconds on one monotonic clock."""
    timing.end_ms = _ms(t0, end)
    if not generated_at:
        return
    timing.chunks = len(generated_at)
    timing.ttft_ms = _ms(t0, generated_at[0])
    timing.e2e_ms = _ms(t0, generated_at[-1])
    if answer_at is not None:
        timing.ttfa_ms = _ms(t0, answer_at)
    if len(generated_at) > 1:
        gaps = sorted(max(0.0, (b - a) * 1000.0) for a, b in itertools.pairwise(generated_at))
        timing.chunk_gap_p50_ms = _percentile(gaps, 0.50)
        timing.chunk_gap_p99_ms = _percentile(gaps, 0.99) if len(gaps) >= FEWEST_FOR_P99 else None


def with_tokens(reply: Reply) -> None:
    """Adds what needs the token count: the decode speed, and the name of the gaps between chunks.

    Called when ``reply.usage.output_tokens`` becomes known: at the end of the stream, or later when a
    tokenizer counted the text. Does nothing for a reply without streamed chunks.
    """
    timing, tokens = reply.timing, reply.usage.output_tokens
    if not timing.chunks or tokens is None:
        return
    span = (timing.e2e_ms or 0.0) - (timing.ttft_ms or 0.0)
    if tokens >= 2 and timing.chunks >= 2 and span >= SHORTEST_SPAN_MS:
        timing.decode_tok_s = (tokens - 1) / span * 1000.0
    else:
        reply.flag("single_chunk")
    if 0.9 <= tokens / timing.chunks <= 1.1 and timing.chunk_gap_p50_ms is not None:
        timing.itl_p50_ms, timing.itl_p99_ms = timing.chunk_gap_p50_ms, timing.chunk_gap_p99_ms
        timing.chunk_gap_p50_ms = timing.chunk_gap_p99_ms = None


def _ms(start: float, end: float) -> float:
    return max(0.0, (end - start) * 1000.0)


def _percentile(ordered: Sequence[float], p: float) -> float:
    """Interpolated between order statistics, h = (n - 1) p."""
    place = (len(ordered) - 1) * p
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
