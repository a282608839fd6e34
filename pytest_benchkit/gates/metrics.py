"""What is known of each metric: its kind, possible range, and which direction is better.

Names are those of the run's results (engine specification, section 12). A suite's own metrics are
declared by its class (``Suite.metric_kinds``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from pytest_benchkit.score import Outcome

Kind = Literal["proportion", "mean01", "count", "rate", "duration", "quantile", "composite"]
SHARES = ("proportion", "mean01")
SPEEDS = ("rate", "duration", "quantile")


class MetricSpec(NamedTuple):
    """``lowest`` and ``highest`` possible value; ``better``: ``higher``, ``lower``, or ``""`` for neither."""

    kind: Kind
    lowest: float
    highest: float
    better: str


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A measured number. ``n``: what sampling error is computed from (tasks, or clusters of tasks).

    ``by_repeat``: the value of each repeat, when there are several. ``absent_reason``: why ``value`` is
    ``None``.
    """

    value: int | float | None
    kind: Kind = "composite"
    n: int | None = None
    by_repeat: tuple[int | float, ...] = ()
    absent_reason: str = ""


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What lint needs of a suite. ``rows``: number of rows by variant (``None``: the main data)."""

    key: str
    binary: bool = True
    rows: Mapping[str | None, int | None] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    closed: bool = True
    """Whether all metrics are known; a suite with undeclared ones of its own is open."""


_SHARE = MetricSpec("proportion", 0.0, 1.0, "higher")
_LOSS = MetricSpec("proportion", 0.0, 1.0, "lower")
_MEAN = MetricSpec("mean01", 0.0, 1.0, "higher")
_COUNT = MetricSpec("count", 0.0, math.inf, "")
_FAULTS = MetricSpec("count", 0.0, math.inf, "lower")
_RATE = MetricSpec("rate", 0.0, math.inf, "higher")
_TIME = MetricSpec("quantile", 0.0, math.inf, "lower")
_SPAN = MetricSpec("duration", 0.0, math.inf, "lower")
_SHARE_OF_PARTS = MetricSpec("composite", 0.0, 1.0, "higher")
_SHARE_PLAIN = MetricSpec("composite", 0.0, 1.0, "")
_FREE = MetricSpec("composite", -math.inf, math.inf, "")

TABLE: dict[str, MetricSpec] = {
    "accuracy": _SHARE,
    "correct_rate": _SHARE,
    "partial_rate": MetricSpec("proportion", 0.0, 1.0, ""),
    **{f"{outcome}_rate": _LOSS for outcome in Outcome if outcome.missed and outcome is not Outcome.PARTIAL},
    "truncation_rate": _LOSS,
    "timeout_rate": _LOSS,
    "loop_rate": _LOSS,
    "loop_kill_rate": _LOSS,
    "ambiguous_rate": _LOSS,
    "error_rate": MetricSpec("composite", 0.0, 1.0, "lower"),
    "score_answered": _SHARE_OF_PARTS,
    "score_official": _MEAN,
    "score_macro": _SHARE_OF_PARTS,
    "lenient_score": _MEAN,
    "repaired_score": _MEAN,
    "overall_macro": _SHARE_OF_PARTS,
    "overall_micro": _SHARE_OF_PARTS,
    "coverage": _SHARE_OF_PARTS,
    "trace_coverage": _SHARE_OF_PARTS,
    "stderr": MetricSpec("composite", 0.0, 1.0, "lower"),
    "score_ci_low": _SHARE_OF_PARTS,
    "score_ci_high": _SHARE_OF_PARTS,
    "chance": _SHARE_PLAIN,
    "baseline_constant": _SHARE_PLAIN,
    "format_gap_pp": _FREE,
    "official_gap_pp": _FREE,
    "repair_delta_pp": _FREE,
    "between_run_sd": MetricSpec("composite", 0.0, 1.0, "lower"),
    "flip_rate": MetricSpec("composite", 0.0, 1.0, "lower"),
    "brier": MetricSpec("composite", 0.0, 2.0, "lower"),
    "ece": MetricSpec("composite", 0.0, 1.0, "lower"),
    "nll": MetricSpec("composite", 0.0, math.inf, "lower"),
    "decision_samples": _COUNT,
    "ties": _FAULTS,
    "confidence_mean": _SHARE_PLAIN,
    "p_gold_mean": _SHARE_OF_PARTS,
    "samples": MetricSpec("count", 0.0, math.inf, "higher"),
    "planned": _COUNT,
    "excluded": _FAULTS,
    "not_asked": _FAULTS,
    "errors": _FAULTS,
    "contaminated": _FAULTS,
    "skipped": _FAULTS,
    "recovered": _COUNT,
    "suspected": _FAULTS,
    "speed_samples": _COUNT,
    "requests": _COUNT,
    "retries": _FAULTS,
    "tool_calls": _COUNT,
    "cost_usd": MetricSpec("composite", 0.0, math.inf, "lower"),
    "tasks_per_s": _RATE,
    "decisions_per_s": _RATE,
    "inflight_mean": MetricSpec("composite", 0.0, math.inf, ""),
    "inflight_max": _COUNT,
    "queue_p50_s": _TIME,
}
PATTERNS: dict[str, MetricSpec] = {
    "n_*": _COUNT,
    "rule.*": _COUNT,
    "samples.*": _COUNT,
    "score.*": _SHARE_OF_PARTS,
    "also.*": _MEAN,
    "letter.*": _SHARE_PLAIN,
    "pass_at_*": _SHARE_OF_PARTS,
    "pass_all_*": _SHARE_OF_PARTS,
    "pass_left_out_*": _FAULTS,
    "pair.*": _FREE,
    "ece.*": MetricSpec("composite", 0.0, 1.0, "lower"),
    "repair_*": _COUNT,
    "*_tok_s": _RATE,
    "*_tok_s_p*": _RATE,
    "*_ms": _TIME,
    "*_ms_mean": _SPAN,
    "*_s": _SPAN,
    "*_tokens": _COUNT,
    "*_tokens_p*": MetricSpec("quantile", 0.0, math.inf, ""),
    "*_coverage": _SHARE_OF_PARTS,
}
_OWN: dict[str, MetricSpec] = {
    "proportion": _SHARE,
    "mean01": _MEAN,
    "count": _COUNT,
    "rate": _RATE,
    "duration": _SPAN,
    "quantile": _TIME,
    "composite": _FREE,
}


def spec_of(name: str, suite: SuiteFacts | None = None) -> MetricSpec | None:
    """What is known of a metric; ``None`` for a name that nobody declares."""
    if name == "score":
        return _SHARE if suite is None or suite.binary else _MEAN
    if (spec := TABLE.get(name)) is not None:
        return spec
    for pattern, kind in (suite.own if suite is not None else {}).items():
        if fnmatchcase(name, pattern):
            return _OWN.get(kind, _FREE)
    return next((spec for pattern, spec in PATTERNS.items() if fnmatchcase(name, pattern)), None)


def known_names(suite: SuiteFacts | None = None) -> list[str]:
    """Names to suggest from."""
    return ["score", *TABLE, *(suite.own if suite is not None else ())]
