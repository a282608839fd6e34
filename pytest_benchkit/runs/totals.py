"""Totals of a suite (:attr:`~pytest_benchkit.suite.Suite.totals`): of all its rows or not at all. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchkit.runs.metrics import Numbers, left_out_words
from pytest_benchkit.score import Outcome


def settle_totals(numbers: Numbers, totals: Sequence[str], selection: Mapping[str, Any]) -> None:
    """Takes a suite's totals away, with the reason, where rows behind them were not asked, skipped or
    contaminated; failed requests stand beside them. One that the suite could not give has a reason too."""
    if not totals:
        return
    values = numbers.values
    left = {o: values[f"n_{o.value}"] for o in (Outcome.SKIPPED, Outcome.CONTAMINATED)}
    words = left_out_words(Counter(left), values["not_asked"])
    why = None
    if selection.get("kind", "all") != "all":
        why = f"a total of all {selection.get('rows', '')} rows; a part was asked"
    elif words:
        why = f"a total of all {values['planned']} rows; {words}"
    for name in totals:
        if why is not None or name not in values:
            values.pop(name, None)
            numbers.absent[name] = why or "a part of this total has no counted row"
    values["transport_errors"] = values["n_harness_error"]
