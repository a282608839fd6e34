"""Writing bounds keeps every other byte, and what it writes lints clean."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from pytest_benchkit.gates.schema import Bound
from pytest_benchkit.gates.write_back import diff, with_bounds
from tests.unit.gates.trees import entry, plant

OTHER = 'quant = "q8"   # odd   spacing\ncheckpoint = "org/n"\ngate = "arc"\n'
BOUNDS = {
    "score": Bound(min=Decimal("0.441"), measured=Decimal("0.792")),
    "samples": Bound(min=Decimal(50), max=Decimal(50)),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_other_bytes_stay(tmp_path: Path, newline: str, mark: str) -> None:
    first = "# head\n" + entry('note = "p"', status="unmeasured")
    second = entry("metrics.score = { min = 0.5 }   # kept\n", head=OTHER)
    text = mark + (first + second).replace("\n", newline)
    tree = plant(tmp_path, text)
    after = with_bounds(text, tree.entries[0], BOUNDS, "from runs", make_default=True)
    for line in text.split(newline):
        if line not in ('status = "unmeasured"', 'note = "p"'):
            assert line in after
    assert f"}}{newline}{newline}[[benchmarks]]" in after
    assert after.startswith(mark + "# head")
    assert after.endswith(second.replace("\n", newline))
    written = plant(tmp_path / "after", after)
    assert [p.code for p in written.problems if p.gate == "gsm8k" and p.severity == "error"] == []
    mine = written.entries[0]
    assert (mine.status, mine.default, mine.metrics) == ("measured", True, BOUNDS)
    assert mine.note.split() == ["p", "from", "runs"]


def test_bounds_of_other_metrics_are_kept(tmp_path: Path) -> None:
    text = entry("metrics.score = { min = 0.5 }\nmetrics.truncation_rate = { max = 0.1 }")
    tree = plant(tmp_path, text)
    after = with_bounds(text, tree.entries[0], {"score": BOUNDS["score"]}, "n", make_default=False)
    metrics = plant(tmp_path / "after", after).entries[0].metrics or {}
    assert metrics["truncation_rate"] == Bound(max=Decimal("0.1"))
    assert metrics["score"] == BOUNDS["score"]
    assert any(line.startswith("+") and "0.441" in line for line in diff(text, after, "x"))
