"""Judging a run: vectors 22, 23, 44, 45, 48, 51-53; property P8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.gates.baseline import Reason, assemble, resolve
from pytest_benchkit.gates.classes import HardwareClass
from pytest_benchkit.gates.judge import judge
from pytest_benchkit.gates.lint import Rules
from pytest_benchkit.gates.metrics import SuiteFacts
from pytest_benchkit.gates.runs import Subject, judge_run
from pytest_benchkit.gates.schema import Bound, Entry
from pytest_benchkit.gates.tree import Tree, load
from pytest_benchkit.gates.verdict import GateVerdict, digest, slug, slugs, summary
from pytest_benchkit.runs.results import build
from tests.unit.gates.runs import rows_of, run_of
from tests.unit.gates.trees import RULES, entry, grow, plant

BAR = "metrics.score = { min = 0.86 }\n"


def verdict(tmp_path: Path, bench: str, run: Any, hardware: str = "gb10") -> GateVerdict:
    [found] = judge_run(plant(tmp_path, bench), run, Subject(hardware))
    return found


def codes_of(tmp_path: Path, bench: str, run: Any) -> list[str]:
    found = verdict(tmp_path, bench, run)
    return [found.verdict, *found.codes]


def test_at_the_bound_and_below(tmp_path: Path) -> None:
    at = verdict(tmp_path, entry(BAR), run_of({"correct": 1135, "incorrect": 184}))
    assert at.verdict == "pass"
    below = verdict(tmp_path, entry(BAR), run_of({"correct": 1134, "incorrect": 185}))
    assert (below.verdict, below.codes) == ("fail", ["below-floor"])
    assert "short by" in below.headline


def test_errors_within_the_allowance_count_as_misses(tmp_path: Path) -> None:
    def run(right: int) -> Any:
        return run_of({"correct": right, "incorrect": 1316 - right, "harness_error": 3})

    refused = verdict(tmp_path, entry(BAR), run(1135))
    assert (refused.verdict, refused.codes) == ("not-judged", ["error-budget"])
    allowed = entry(BAR + "allow_errors = 3")
    good, bad = verdict(tmp_path, allowed, run(1135)), verdict(tmp_path, allowed, run(1134))
    assert good.verdict == "pass"
    assert good.bounds[0].n == 1319
    assert good.notes
    assert bad.codes == ["below-floor"]
    assert good.completeness == "1319 planned = 1316 scored + 3 errors"
    pinned = entry(BAR + "allow_errors = 3\nmetrics.samples = { min = 1319, max = 1319 }")
    assert "pin-mismatch" in verdict(tmp_path, pinned, run(1135)).codes
    ceiling = entry("metrics.truncation_rate = { max = 0.001 }\nallow_errors = 3")
    assert verdict(tmp_path, ceiling, run(1300)).codes == ["above-ceiling"]


def repeated(right: list[int], errors: int) -> Any:
    """A run of 100 rows in several repeats: so many right in each, and errors in the first."""
    rows = []
    for repeat, count in enumerate(right):
        broken = 0 if repeat else errors
        outcomes = {"correct": count, "harness_error": broken, "incorrect": 100 - count - broken}
        for row in rows_of(outcomes):
            rows.append(row | {"repeat": repeat, "key": f"{row['key']}{repeat}"})
    return run_of({}, rows=rows, rows_in_data=100, axes={"repeats": len(right)})


@pytest.mark.parametrize("combine", ["mean", "median", "worst"])
def test_errors_within_the_allowance_count_in_repeats_too(tmp_path: Path, combine: str) -> None:
    run = repeated([90, 90], errors=10)
    floor = "metrics.score = { min = 0.91 }\nrepeats = 2\nallow_errors = 10\n"
    found = verdict(tmp_path, entry(f'{floor}combine = "{combine}"'), run)
    assert found.codes == ["below-floor"]
    assert found.bounds[0].value == 0.9


def test_errors_within_the_allowance_count_in_the_spread(tmp_path: Path) -> None:
    wide = entry("metrics.score = { min = 0.5, max_spread = 0.01 }\nrepeats = 2\nallow_errors = 10")
    assert verdict(tmp_path, wide, repeated([80, 90], errors=10)).codes == ["spread-exceeded"]
    assert verdict(tmp_path, wide, repeated([90, 90], errors=10)).verdict == "pass"  # 90 of 100 in both


def test_own_metrics_are_held_in_every_repeat(tmp_path: Path) -> None:
    run = repeated([80, 90], errors=0)
    results = build(run.info, run.rows, {"gsm8k": lambda rows: {"kept": sum(r["score"] for r in rows)}})
    run = replace(run, results=results, own={"gsm8k": {"kept": "rate"}})
    worst = entry('metrics.kept = { min = 85 }\nrepeats = 2\ncombine = "worst"')
    wide = entry("metrics.kept = { min = 1, max_spread = 5 }\nrepeats = 2")
    rules = Rules(suite=lambda key: SuiteFacts(key, own={"kept": "rate"}), suite_keys=("gsm8k",))
    for bench, code in ((worst, "below-floor"), (wide, "spread-exceeded")):
        [found] = judge_run(plant(tmp_path, bench, rules=rules), run, Subject("gb10"))
        assert (found.verdict, found.codes) == ("fail", [code])


def test_an_allowed_error_weighs_one_row_whatever_the_clusters(tmp_path: Path) -> None:
    rows = rows_of({"correct": 90, "harness_error": 10})
    for place, row in enumerate(rows):
        row["group"] = f"g{place % 4}"
    run = run_of({}, rows=rows, rows_in_data=100)
    found = verdict(tmp_path, entry("metrics.score = { min = 0.85 }\nallow_errors = 10"), run)
    assert (found.verdict, found.bounds[0].value, found.bounds[0].n) == ("pass", 0.9, 4)


def test_more_rows_than_planned_are_not_judged(tmp_path: Path) -> None:
    assert codes_of(tmp_path, entry(BAR), run_of({"correct": 1319}, rows_in_data=1000)) == [
        "not-judged",
        "deselected",
    ]


def test_why_a_run_is_not_judged(tmp_path: Path) -> None:
    full = {"correct": 1319}
    ids = run_of({"correct": 10}, selection={"kind": "ids", "n": 10})
    assert codes_of(tmp_path, entry(BAR), ids) == ["not-judged", "deselected"]
    short = run_of({"correct": 1300}, planned=1319)
    assert codes_of(tmp_path, entry(BAR), short) == ["not-judged", "incomplete"]
    stopped = run_of(full, stopped="interrupted")
    assert codes_of(tmp_path, entry(BAR), stopped) == ["not-judged", "incomplete"]
    skips = run_of({"correct": 1318, "skipped": 1})
    assert codes_of(tmp_path, entry(BAR), skips) == ["not-judged", "skip-budget"]
    assert codes_of(tmp_path, entry(BAR + "allow_skipped = 1"), skips) == ["pass"]
    sample = run_of({"correct": 50}, selection={"kind": "sample", "n": 50})
    assert codes_of(tmp_path, entry(BAR), sample) == ["not-judged", "slice-mismatch", "deselected"]
    assert codes_of(tmp_path, entry(BAR + 'tasks = "50"'), sample) == ["pass"]
    assert codes_of(tmp_path, entry(BAR + 'tasks = "head:50"'), sample) == ["not-judged", "slice-mismatch"]
    assert codes_of(tmp_path, entry(BAR + 'harness = "pi"'), run_of(full)) == ["not-judged", "axes-mismatch"]
    assert codes_of(tmp_path, entry(BAR + "repeats = 2"), run_of(full))[1] == "repeats-mismatch"
    assert codes_of(tmp_path, entry("", status="unmeasured"), run_of(full)) == ["not-judged", "unmeasured"]
    wrong = entry(f'{BAR}fingerprints.dataset = "{"f" * 64}"')
    assert codes_of(tmp_path, wrong, run_of(full)) == ["not-judged", "fingerprint-mismatch"]
    right = entry(f'{BAR}fingerprints.dataset = "{"a" * 64}"')
    assert codes_of(tmp_path, right, run_of(full)) == ["pass"]
    served = entry(BAR + 'serve_overrides.slots = "8"')
    assert codes_of(tmp_path, served, run_of(full)) == ["not-judged", "pins-mismatch"]
    broken = entry(BAR + 'colour = "x"')
    assert codes_of(tmp_path, broken, run_of(full)) == ["not-judged", "kernels-invalid"]


def test_all_reasons_come_at_once_and_bounds_are_shown_all_the_same(tmp_path: Path) -> None:
    found = verdict(
        tmp_path,
        entry(BAR + 'harness = "pi"'),
        run_of(
            {"correct": 1, "skipped": 1, "harness_error": 1}, planned=9, selection={"kind": "ids", "n": 9}
        ),
    )
    assert found.codes == ["axes-mismatch", "deselected", "incomplete", "error-budget", "skip-budget"]
    assert any("would have been: ok" in line for line in found.lines())


def test_parameters(tmp_path: Path) -> None:
    def run(temperature: float | None, **model: Any) -> Any:
        found = run_of({"correct": 1319})
        info = dict(found.info)
        if temperature is not None:
            deviation = {"model": "org/m", "name": "temperature", "declared": 0.0, "used": temperature}
            info["suites"] = [{**info["suites"][0], "deviations": [deviation]}]
        info["models"] = [{**info["models"][0], **model}]
        return replace(found, info=info)

    pinned = entry(BAR + 'param_overrides."sampling.temperature" = "0.70"')
    assert codes_of(tmp_path, pinned, run(0.7)) == ["pass"]
    assert "param-pin-differs" in verdict(tmp_path, pinned, run(None)).headline
    assert "param-not-default" in verdict(tmp_path, entry(BAR), run(0.7)).headline
    assert "param-not-default" in verdict(tmp_path, entry(BAR), run(None, system="be brief")).headline
    assert "param-not-default" in verdict(tmp_path, entry(BAR), run(None, loop_kill=0)).headline
    loops = entry(BAR + 'param_overrides.loop_kill = "off"')
    assert codes_of(tmp_path, loops, run(None, loop_kill=0)) == ["pass"]
    assert "param-pin-differs" in verdict(tmp_path, loops, run(None)).headline
    seed = run(None, sampling={"temperature": 0.0, "seed": 7, "max_tokens": 64})
    assert codes_of(tmp_path, entry(BAR), seed) == ["pass"]


def test_rows_older_than_a_change_are_not_judged(tmp_path: Path) -> None:
    rows = rows_of({"correct": 1319})
    for row in rows[1:]:
        row["session"] = 1
    mixed = run_of({}, rows=rows, sessions=[{}, {"changed": ["org/m"]}])
    assert codes_of(tmp_path, entry(BAR), mixed) == ["not-judged", "mixed-provenance"]
    rows[0]["session"] = 1
    same = run_of({}, rows=rows, sessions=[{}, {"changed": ["org/m"]}])
    assert codes_of(tmp_path, entry(BAR), same) == ["pass"]


def test_rows_of_two_addresses_are_not_judged(tmp_path: Path) -> None:
    rows = rows_of({"correct": 1319})
    sessions = [{}, {"moved": ["org/m"]}]
    assert codes_of(tmp_path, entry(BAR), run_of({}, rows=rows, sessions=sessions)) == ["pass"]
    rows[0]["session"] = 1
    mixed = run_of({}, rows=rows, sessions=sessions)
    assert codes_of(tmp_path, entry(BAR), mixed) == ["not-judged", "mixed-provenance"]


def test_groups_of_rows_are_what_n_counts(tmp_path: Path) -> None:
    rows = rows_of({"correct": 1319})
    for place, row in enumerate(rows):
        row["group"] = f"g{place % 50}"
    found = verdict(tmp_path, entry(BAR), run_of({}, rows=rows))
    assert found.bounds[0].n == 50


def test_subjects(tmp_path: Path) -> None:
    tree = plant(tmp_path, entry(BAR), hopper__HARDWARE_toml="")
    assert not isinstance(resolve(tree, "gsm8k", "gb10", None), Reason)
    expected = [
        (("hopper", None), "no-baseline-hardware", "gb10"),
        (("gb11", None), "hardware-unregistered", "gb10"),
        (("gb10", "org/x"), "no-baseline-checkpoint", "org/m"),
    ]
    for (hardware, checkpoint), code, word in expected:
        reason = resolve(tree, "gsm8k", hardware, checkpoint)
        assert isinstance(reason, Reason)
        assert reason.code == code
        assert word in reason.message + reason.remedy
    unmeasured = plant(tmp_path / "u", entry('note = "five runs at T 0"', status="unmeasured"))
    assert assemble(unmeasured, "gsm8k") == {}
    assert unmeasured.problems == []
    reason = resolve(unmeasured, "gsm8k", "gb10", "org/m")
    assert isinstance(reason, Reason)
    assert (reason.code, "five runs at T 0" in reason.message) == ("unmeasured", True)


def test_a_checkpoint_by_model_name_by_glob_and_by_option(tmp_path: Path) -> None:
    glob = '[model]\nmatch_names = ["m:*"]\n'
    tree = plant(tmp_path, entry(BAR), gb10__m__MODEL_toml=glob)
    run = run_of({"correct": 1319}, model="m:8b")
    [found] = judge_run(tree, run, Subject("gb10"))
    assert (found.checkpoint, found.claim) == ("org/m", "MODEL.toml")
    stranger = run_of({"correct": 1319}, model="other")
    [none] = judge_run(tree, stranger, Subject("gb10"))
    assert none.codes == ["no-subject", "no-baseline-checkpoint"]
    [named] = judge_run(tree, stranger, Subject("gb10", {None: "org/m"}))
    assert (named.verdict, named.claim) == ("pass", "--bench-checkpoint")
    twice = plant(tmp_path, entry(BAR), gb10__m__MODEL_toml=glob, gb10__n__MODEL_toml=glob)
    [ambiguous] = judge_run(twice, run, Subject("gb10"))
    assert ambiguous.codes == ["no-subject", "checkpoint-ambiguous"]


def test_required_gates_without_rows(tmp_path: Path) -> None:
    tree = plant(tmp_path, entry(BAR))
    run = run_of({"correct": 5}, suite="other")
    assert judge_run(tree, run, Subject("gb10")) == []
    [found] = judge_run(tree, run, Subject("gb10"), ["gsm8k"])
    assert found.codes == ["nothing-judged"]


def test_no_class_is_no_subject(tmp_path: Path) -> None:
    reason = Reason("hardware-unknown", "no class matches", "add a rule")
    [found] = judge_run(plant(tmp_path, entry(BAR)), run_of({"correct": 1319}), Subject(reason))
    assert found.codes == ["no-subject", "hardware-unknown"]
    assert "no class matches" in found.headline


# ---------------------------------------------------------------------- showing


def test_slugs() -> None:
    assert slug("Org/Model X@v1") == "org--model-x-v1"
    assert len(slug("x" * 200)) == 60
    first, second, third = slugs(["a b", "a@b", "c"])
    assert first.startswith("a-b-")
    assert second.startswith("a-b-")
    assert first != second
    assert third == "c"


def test_canonical_digest() -> None:
    value = {"b": 1, "a": [1.5, "é"], "c": {"z": None, "y": True}}
    assert digest(value) == "7164c5d065f7bcebf3ba08a4e34c22b5f8bff8898fcb895b4e136089c3dbd2cc"


def test_the_summary_defuses_hostile_names_and_keeps_its_size(tmp_path: Path) -> None:
    found = verdict(tmp_path, entry(BAR), run_of({"incorrect": 1319}))
    hostile = replace(found, checkpoint="</details>|`x`\n::error::")
    text = summary([hostile] * 3)
    assert "</details>|" not in text
    assert not any(line.startswith("::") for line in text.splitlines())
    big = summary([hostile] * 2000)
    assert len(big.encode()) <= 64 * 1024
    assert "cut at 64 KiB" in big


def test_a_verdict_as_json_holds_no_nan(tmp_path: Path) -> None:
    import json

    found = verdict(tmp_path, entry(BAR), run_of({}, planned=1319))
    text = json.dumps(found.plain(), allow_nan=False)
    assert json.loads(text)["counts"]["unasked"] == 1319


# ---------------------------------------------------------------------- properties

OUTCOMES = st.lists(
    st.sampled_from(["correct", "incorrect", "no_answer", "truncated", "harness_error", "skipped"]),
    min_size=1,
    max_size=25,
)
MADE = Entry(
    "gb10",
    "m",
    "kernels/gb10/m/BENCH.toml",
    1,
    0,
    gate="gsm8k",
    checkpoint="org/m",
    quant="q",
    status="measured",
)


def _judged(
    rows: list[dict[str, Any]], planned: int, allow: int, change: Callable[[Entry], Entry]
) -> GateVerdict:
    run = run_of({}, rows=rows, planned=planned, rows_in_data=planned)
    [result] = run.suites()
    return judge(result, change(replace(MADE, allow_errors=allow, allow_skipped=allow)))


@given(OUTCOMES, st.decimals("0.1", "0.9", places=1), st.integers(0, 3), st.integers(0, 24), st.randoms())
def test_losing_or_breaking_a_row_never_makes_a_pass(
    outcomes: list[str], floor: Any, allow: int, place: int, shuffle: Any
) -> None:
    def bounded(base: Entry) -> Entry:
        return replace(base, metrics={"score": Bound(min=floor)})

    rows = rows_of({})
    for outcome in outcomes:
        row = rows_of({outcome: 1})[0]
        rows.append({**row, "key": f"k{len(rows)}", "task_id": str(len(rows))})
    before = _judged(rows, len(rows), allow, bounded)
    shuffled = list(rows)
    shuffle.shuffle(shuffled)
    assert _judged(shuffled, len(rows), allow, bounded).plain() == before.plain()
    place %= len(rows)
    lost = rows[:place] + rows[place + 1 :]
    assert _judged(lost, len(rows), allow, bounded).verdict == "not-judged"
    broken = list(rows)
    error = {name: value for name, value in rows[place].items() if name != "score"}
    broken[place] = {**error, "outcome": "harness_error"}
    if before.verdict != "pass" and rows[place]["outcome"] != "skipped":
        assert _judged(broken, len(rows), allow, bounded).verdict != "pass"


@given(st.sampled_from(["gb10", "hopper", "x"]), st.sampled_from([None, "org/m", "org/u", "org/x"]))
def test_another_subject_s_entry_is_never_given(hardware: str, checkpoint: str | None) -> None:
    found = resolve(SUBJECTS, "gsm8k", hardware, checkpoint)
    if isinstance(found, Entry):
        assert found.hardware == hardware
        assert checkpoint in (None, found.checkpoint)
        assert found.measured


def _subjects() -> Tree:
    tree = Tree(Path("kernels"), "kernels")
    tree.hardware = {name: HardwareClass(name, name) for name in ("gb10", "hopper")}
    tree.entries = [
        replace(MADE, default=True, metrics={"score": Bound(min=Decimal("0.5"))}),
        replace(MADE, checkpoint="org/u", status="unmeasured"),
        replace(MADE, hardware="hopper", checkpoint="org/u", status="unmeasured"),
    ]
    return tree


SUBJECTS = _subjects()


@pytest.mark.parametrize("compat", [False, True])
def test_judging_is_the_same_in_compat(tmp_path: Path, compat: bool) -> None:
    root = grow(tmp_path, {"gb10/HARDWARE.toml": "", "gb10/m/BENCH.toml": entry(BAR)})
    tree = load(root, "kernels", compat=compat, rules=RULES)
    [found] = judge_run(tree, run_of({"correct": 1134, "incorrect": 185}), Subject("gb10"))
    assert found.codes == ["below-floor"]


def test_a_model_that_is_served_elsewhere_has_no_class_of_here(tmp_path: Path) -> None:
    tree = plant(tmp_path, entry(BAR))
    remote = Reason("hardware-remote", "served elsewhere", "name its class")
    here = Subject("gb10", by_model={"org/m": "gb10", "far": remote})
    assert judge_run(tree, run_of({"correct": 1319}), here)[0].verdict == "pass"
    [far] = judge_run(tree, run_of({"correct": 1319}, model="far"), here)
    assert far.codes == ["no-subject", "hardware-remote"]
