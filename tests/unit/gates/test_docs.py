"""The registry of codes, the documented list and the code itself say the same; judging is fast."""

from __future__ import annotations

import re
import time
from pathlib import Path

from pytest_benchkit.gates.codes import CODES
from pytest_benchkit.gates.runs import Subject, judge_run
from tests.unit.gates.runs import rows_of, run_of
from tests.unit.gates.trees import entry, plant

ROOT = Path(__file__).parents[3]
ROW = re.compile(
    r"^\| `([a-z0-9-]+)` \| (.+) \| (error|warning|note|–) \| (error|warning|note|–) \|$", re.MULTILINE
)


def test_the_documented_codes_are_the_registry() -> None:
    documented = {
        code: (meaning, strict.replace("–", ""), compat.replace("–", ""))
        for code, meaning, strict, compat in ROW.findall((ROOT / "docs" / "gates.md").read_text())
    }
    assert documented == {code: (r.meaning, r.strict or "", r.compat or "") for code, r in CODES.items()}


def test_every_code_is_used() -> None:
    """By its name in the sources, where ``not-proven-`` and the notes stand as parts of longer texts."""
    sources = [*(ROOT / "pytest_benchkit").rglob("gates/*.py"), *(ROOT / "pytest_benchkit").rglob("gate*.py")]
    text = "".join(path.read_text() for path in sources if path.name != "codes.py")
    text = text.replace("not-proven-{side}", "not-proven-floor not-proven-ceiling")
    assert [code for code in CODES if not re.search(rf"(?<![a-z-]){code}(?![a-z-])", text)] == []


def test_fourteen_thousand_records_are_judged_in_a_second(tmp_path: Path) -> None:
    """CPU time of this process beyond building the results, measured 0.06 s where it was written."""
    rows = rows_of({"correct": 12000, "incorrect": 2000})
    run = run_of({}, rows=rows, rows_in_data=14000)
    tree = plant(
        tmp_path, entry("metrics.score = { min = 0.5 }\nmetrics.samples = { min = 14000, max = 14000 }")
    )
    start = time.process_time()
    [verdict] = judge_run(tree, run, Subject("gb10"))
    spent = time.process_time() - start
    assert verdict.verdict == "pass"
    assert [bound.ok for bound in verdict.bounds] == [True, True]
    assert spent < 1.0, spent
