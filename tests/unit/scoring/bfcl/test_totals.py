from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.scoring.bfcl.totals import COUNTS, TOTALS, totals_of

HITS = {
    "simple_python": [1, 1, 1, 0],
    "simple_java": [1, 0],
    "simple_javascript": [0],
    "multiple": [1, 1],
    "parallel": [1, 0],
    "parallel_multiple": [0],
    "live_simple": [1, 1, 0],
    "live_multiple": [1],
    "live_parallel": [0],
    "live_parallel_multiple": [0],
    "irrelevance": [1, 1],
    "live_irrelevance": [1, 0, 0, 0],
}


def row(subset: str, value: float, *flags: str, guarded: float | None = None) -> dict[str, Any]:
    reading = {"rule": "guarded", "extracted": None, "score": value if guarded is None else guarded}
    return {"category": subset, "score": float(value), "flags": list(flags), "also": [reading]}


ROWS = [row(subset, hit) for subset, hits in HITS.items() for hit in hits]


def test_totals_of_a_whole_draw() -> None:
    found = totals_of(ROWS)
    simple = (0.75 + 0.5 + 0) / 3
    non_live = (simple + 1 + 0.5 + 0) / 4
    live = 3 / 6  # by rows
    hallucination = (1 + 0.25) / 2
    assert found["non_live"] == round(100 * non_live, 2)
    assert found["live"] == round(100 * live, 2)
    assert found["hallucination"] == round(100 * hallucination, 2)
    assert found["normalized_single_turn_score"] == round(100 * (non_live + live + hallucination) / 3, 2)
    assert found["overall_accuracy"] == round(100 * sum(map(sum, HITS.values())) / len(ROWS), 2)
    assert found["overall_guarded"] == found["overall_accuracy"]
    assert (found["subset.live_simple.hits"], found["subset.live_simple.n"]) == (2, 3)
    assert set(TOTALS) <= set(found)


def test_guarded_totals_withhold_credits_and_count_them() -> None:
    rows = [*ROWS, row("irrelevance", 1, "empty_credited", guarded=0), row("parallel", 0, "greedy_miss")]
    found = totals_of(rows)
    assert found["overall_guarded"] == round(100 * 13 / 26, 2)
    assert found["overall_accuracy"] == round(100 * 14 / 26, 2)
    assert found["normalized_guarded"] < found["normalized_single_turn_score"]
    assert {name: found[name] for name in COUNTS} == {
        "greedy_miss": 1,
        "unparseable_credited": 0,
        "cut_credited": 0,
        "empty_credited": 1,
    }


@pytest.mark.parametrize("missing", HITS)
def test_total_of_a_subset_without_rows_is_absent(missing: str) -> None:
    found = totals_of([row for row in ROWS if row["category"] != missing])
    assert "overall_accuracy" not in found
    assert "normalized_single_turn_score" not in found
    assert sum(name in found for name in ("non_live", "live", "hallucination")) == 2


def test_row_without_a_score_of_its_own_counts_as_it_is() -> None:
    """A timed out row has no other readings."""
    rows = [*ROWS, {"category": "multiple", "score": 0.0, "flags": []}]
    assert totals_of(rows)["overall_guarded"] == round(100 * 13 / 25, 2)
