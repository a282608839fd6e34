"""From the detectors of a reply's channels to its verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_benchkit.engine.loops.cycles import Cycle
from pytest_benchkit.engine.loops.detector import Detector
from pytest_benchkit.reply import Loop, Reply

CHANNELS = ("thinking", "answer")
FEWEST = 64
"""Symbols below which nothing is said."""
EXAMINED = 2**20
"""Characters of a channel that are examined after the fact."""


def examine(reply: Reply) -> Loop:
    """The verdict on a whole reply: what a detector would have said that never ends a request."""
    detectors = {}
    for channel in CHANNELS:
        text: str = getattr(reply, channel)
        if text:
            detectors[channel] = Detector.of(text[:EXAMINED])
    return verdict(detectors)


def verdict(detectors: Mapping[str, Detector]) -> Loop:
    """The state of a reply from the detectors of its channels, by ``thinking`` and ``answer``."""
    symbols = {channel: d.symbols for channel, d in detectors.items() if d.symbols}
    if not symbols:
        return Loop("unavailable")
    looping = {c: found for c in CHANNELS if c in symbols and (found := detectors[c].looping) is not None}
    for channel in CHANNELS:
        if detectors.get(channel) is not None and detectors[channel].killed:
            return _told(detectors, "looping", channel, looping[channel])
    if "answer" in looping or ("thinking" in looping and "answer" not in symbols):
        channel = "answer" if "answer" in looping else "thinking"
        return _told(detectors, "looping", channel, looping[channel])
    for channel in CHANNELS:
        cycle = looping.get(channel) or (detectors[channel].left_behind if channel in symbols else None)
        if cycle is not None:
            return _told(detectors, "recovered", channel, cycle)
    if sum(symbols.values()) < FEWEST:
        return _told(detectors, "observing")
    evidence = {c: found for c in symbols if (found := detectors[c].evidence) is not None}
    if evidence:
        channel = max(evidence, key=lambda c: evidence[c].weight)
        return _told(detectors, "suspected", channel, evidence[channel])
    for channel in symbols:
        if detectors[channel].overlap.suspicious:
            return _told(detectors, "suspected", channel, kind="overlap")
    return _told(detectors, "clear")


def _told(
    detectors: Mapping[str, Detector],
    state: str,
    channel: str | None = None,
    cycle: Cycle | None = None,
    *,
    kind: str | None = None,
) -> Loop:
    overlaps = [d.overlap for d in detectors.values() if d.overlap.words]
    loop = Loop(state, kind=kind, channel=channel)
    loop.share = max((o.share for o in overlaps if o.share is not None), default=None)
    loop.likeness = max((o.likeness for o in overlaps), default=None)
    if cycle is not None:
        loop.kind, loop.period, loop.span = cycle.kind, cycle.period, cycle.span
        loop.repetitions, loop.onset, loop.killed_at = cycle.repetitions, cycle.onset, cycle.killed_at
        loop.killed = cycle.killed_at is not None
    return loop
