"""The document of a run: identity of counts, comparability, overall, own metrics, banner."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.runs.describe import resume_command
from pytest_benchkit.runs.results import build
from pytest_benchkit.score import COUNTED, Outcome
from tests.support.rows import Row, cell, info, row, suite, timed


def codes(results: Mapping[str, Any]) -> list[str]:
    return [found["code"] for found in results["warnings"]]


def text_of(results: Mapping[str, Any], code: str) -> str:
    (found,) = [w["text"] for w in results["warnings"] if w["code"] == code]
    return str(found)


# ---------------------------------------------------------------------- Z-2

mixes = st.lists(st.sampled_from(list(Outcome)), max_size=60)


@given(mixes, mixes, st.integers(0, 20), st.integers(0, 20), st.randoms())
def test_nothing_left_out_is_silent(
    one: list[Outcome], two: list[Outcome], missing_one: int, missing_two: int, random: Any
) -> None:
    """planned = in the denominator + excluded by outcome + not asked, whatever the mix."""
    rows = [row(n, o.value) for n, o in enumerate(one)]
    rows += [row(n, o.value, model="m2") for n, o in enumerate(two)]
    rows.append(row(0, "correct", model="stranger"))  # of no cell: counts nowhere
    random.shuffle(rows)
    cells = [cell(len(one) + missing_one), cell(len(two) + missing_two, model="m2")]
    results = json.loads(json.dumps(build(info(cells), rows, {}), allow_nan=False))
    for entry, outcomes, missing in zip(
        results["results"], (one, two), (missing_one, missing_two), strict=True
    ):
        values = entry["metrics"]
        left = {o: values[f"n_{o.value}"] for o in Outcome if o not in COUNTED}
        assert values["planned"] == values["samples"] + sum(left.values()) + values["not_asked"]
        assert values["excluded"] == sum(left.values())
        assert values["not_asked"] == missing
        assert values["samples"] == sum(o in COUNTED for o in outcomes)
        assert ("score" in values) == (values["samples"] > 0)
        assert ("score" in values) != ("score" in entry["absent"])
        assert not set(values) & set(entry["absent"])
        assert sum(entry["outcomes"].values()) == len(outcomes)
    incomplete = sum(e["metrics"]["excluded"] + e["metrics"]["not_asked"] > 0 for e in results["results"])
    assert codes(results).count("left_out") == incomplete


def test_order_of_rows_does_not_matter() -> None:
    rows = [timed(n, 100 + n, 2 + n % 3, outcome=o) for n, o in enumerate(["correct", "incorrect"] * 20)]
    first = build(info([cell(40)]), rows, {})
    assert json.dumps(build(info([cell(40)]), rows, {})) == json.dumps(first)
    backwards = build(info([cell(40)]), rows[::-1], {})["results"][0]["metrics"]
    assert backwards == pytest.approx(first["results"][0]["metrics"])


def test_document_is_json_with_its_fields() -> None:
    results = build(info([cell(2)]), [row(0), row(1, "incorrect")], {})
    assert (results["schema"], results["kind"]) == (1, "benchkit-results")
    assert set(results) == {
        *("schema", "kind", "run", "results", "pairs", "overall", "gates", "warnings", "files")
    }
    json.dumps(results, allow_nan=False)
    entry = results["results"][0]
    assert entry["data_sha256"] == "d" * 64
    assert entry["comparable"] is True
    assert results["run"]["run_id"] == "20260101T000000Z-abc123"
    assert "banner" not in results["run"]


# ---------------------------------------------------------------------- own metrics


def test_own_metrics_see_the_denominator_only() -> None:
    seen: list[int] = []

    def own(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        seen.append(len(rows))
        return {"chance": 0.25}

    results = build(info([cell(3)]), [row(0), row(1, "incorrect"), row(2, "skipped")], {"s": own})
    assert seen == [2]
    assert results["results"][0]["metrics"]["chance"] == 0.25


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"score": 1.0}, "'score', a name of the engine"),
        ({"ttft_p50_ms": 1.0}, "'ttft_p50_ms', a name of the engine"),
        ({"odd": float("nan")}, "no number for 'odd'"),
        ({"odd": "text"}, "no number for 'odd'"),
    ],
)
def test_own_metrics_that_cannot_be_taken(found: dict[str, Any], words: str) -> None:
    results = build(info([cell(1)]), [row(0, "incorrect")], {"s": lambda rows: found})
    assert words in text_of(results, "suite_metrics")
    assert results["results"][0]["metrics"]["score"] == 0.0
    assert "odd" not in results["results"][0]["metrics"]


def test_own_metrics_that_raise_stop_nothing() -> None:
    def own(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        raise KeyError("x")

    results = build(info([cell(1)]), [row(0)], {"s": own})
    assert "raised KeyError" in text_of(results, "suite_metrics")
    assert results["results"][0]["metrics"]["score"] == 1.0


# ---------------------------------------------------------------------- comparable, notes

DEVIATION = {
    "model": "m",
    "name": "temperature",
    "declared": 0.0,
    "used": 0.7,
    "origin": "--bench-temperature",
}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (info([cell(1, selection={"kind": "sample", "n": 1}, rows=9)]), "not the full selection"),
        (info([cell(1)], suites=[suite("s", deviations=[DEVIATION])]), "deviates"),
        (info([cell(1)], models=[{"name": "m", "simulated": True}]), "simulated"),
        (info([cell(1)], suites=[suite("s", not_comparable="few-shot prompts")]), "few-shot prompts"),
        (info([cell(1)], suites=[]), "own protocol"),
    ],
)
def test_not_comparable_with_the_reason(run: Row, words: str) -> None:
    entry = build(run, [row(0)], {})["results"][0]
    assert entry["comparable"] is False
    assert words in entry["comparable_reason"]


def test_deviation_of_another_model_is_not_mine() -> None:
    run = info([cell(1)], suites=[suite("s", deviations=[{**DEVIATION, "model": "other"}])])
    assert build(run, [row(0)], {})["results"][0]["comparable"] is True


def test_notes_only_when_true() -> None:
    assert codes(build(info([cell(1)]), [row(0)], {})) == []


def test_each_note() -> None:
    also = [{"rule": "loose", "score": 1.0}]
    ask = {"tries": 2, "max_tokens": 64, "retries": [{"cause": "http_503", "wait_s": 1.5}]}
    rows = [row(n, "incorrect", also=also, flags=["scorer_raised"]) for n in range(9)]
    rows += [
        row(9, "truncated", detail="max_tokens", ask=ask),
        row(10, "skipped", detail="context_too_small"),
    ]
    rows += [row(11, "harness_error")]
    rows[0]["timing"] = {"end_ms": 100.0, "client_lag_ms": 900.0}
    model = {"name": "m", "inflight": {"requested": 16, "used": 4}, "dropped_fields": ["seed"]}
    run = info(
        [cell(13, rows=99, selection={"kind": "sample", "n": 13})],
        models=[model],
        suites=[suite("s", deviations=[DEVIATION], not_comparable="few-shot prompts")],
    )
    results = build(run, rows, {})
    assert text_of(results, "left_out") == (
        "s: 10 of 13 rows counted; 1 error (http_503), 1 skipped (context_too_small), 1 not asked"
    )
    assert "1 of 10 rows (10.0 %) were cut, mostly by max_tokens = 64" in text_of(results, "truncation")
    assert "format, not ability" in text_of(results, "format_gap")
    assert "9 replies made the scorer raise" in text_of(results, "scorer_raised")
    assert "900 ms a request late on our side" in text_of(results, "client_lag")
    assert text_of(results, "selection") == "s: sample of 13 of 99 rows"
    assert text_of(results, "inflight_lowered") == "m: 4 requests in flight, not the 16 asked for"
    assert text_of(results, "dropped_fields") == "m: the server refused seed; asked without"
    assert text_of(results, "deviation") == (
        "s: temperature is 0.7, the protocol has 0.0 (--bench-temperature)"
    )
    assert text_of(results, "own_protocol") == "own protocol (few-shot prompts): s"
    assert text_of(results, "retries") == "m: 1 retry, 1.5 s of waiting"
    assert results["results"][0]["errors"] == [{"kind": "http_503", "status": 503, "message": "busy", "n": 1}]


def test_head_is_labelled_apart_from_a_sample() -> None:
    run = info([cell(5, rows=99, selection={"kind": "head", "n": 5})])
    assert text_of(build(run, [row(n) for n in range(5)], {}), "selection") == (
        "s: the first 5 of 99 rows, not a sample"
    )


# ---------------------------------------------------------------------- overall


def run_of(scores: dict[tuple[str, str], tuple[int, int]], **fields: Any) -> dict[str, Any]:
    """Results of a run in which (suite, model) had (right, n) rows."""
    cells = [cell(n, name, model) for (name, model), (_, n) in scores.items()]
    rows = [
        row(place, "correct" if place < right else "incorrect", suite=name, model=model)
        for (name, model), (right, n) in scores.items()
        for place in range(n)
    ]
    return build(info(cells, **fields), rows, {})


def test_overall_macro_and_micro() -> None:
    (item,) = run_of({("a", "m"): (5, 10), ("b", "m"): (30, 30)})["overall"]
    assert item["macro"] == pytest.approx(0.75)
    assert item["micro"] == pytest.approx(35 / 40)
    assert (item["suites"], item["samples"], item["left_out"]) == (["a", "b"], 40, [])
    assert item["macro_ci_low"] < 0.75 < item["macro_ci_high"]


def test_overall_leaves_out_what_not_all_models_have() -> None:
    scores = {(s, m): (5, 10) for s in ("a", "b", "c") for m in ("m1", "m2", "m3")}
    del scores["b", "m3"]
    scores["c", "m2"] = (5, 20)
    for item in run_of(scores)["overall"]:
        assert item["suites"] == ["a"]
        assert item["left_out"] == [
            {"suite": "b", "reason": "not measured for m3"},
            {"suite": "c", "reason": "models were given different rows"},
        ]


def test_overall_reads_the_suites_own_field_and_knows_function_tests() -> None:
    suites = [suite("a"), suite("b", in_overall=False)]
    results = run_of({("a", "m"): (1, 2), ("b", "m"): (1, 2), ("a:test_tone", "m"): (2, 2)}, suites=suites)
    (item,) = results["overall"]
    assert item["suites"] == ["a"]
    assert {part["suite"] for part in item["left_out"]} == {"b", "a:test_tone"}


def test_overall_never_mixes_variants_of_a_suite() -> None:
    names = ("b", "b:prompt", "a:x", "a:y", "c:z", "d")
    suites = [suite(name) for name in names]
    (item,) = run_of({(name, "m"): (1, 2) for name in names}, suites=suites)["overall"]
    assert item["suites"] == ["b", "c:z", "d"]
    assert item["left_out"] == [
        {"suite": "b:prompt", "reason": "a variant of b, which counts already"},
        {"suite": "a:x", "reason": "one of 2 variants of a, which are not averaged"},
        {"suite": "a:y", "reason": "one of 2 variants of a, which are not averaged"},
    ]


def test_a_variant_counts_where_the_suite_itself_cannot() -> None:
    names = ("b", "b:prompt", "d")
    suites = [suite("b", in_overall=False), suite("b:prompt"), suite("d")]
    (item,) = run_of({(name, "m"): (1, 2) for name in names}, suites=suites)["overall"]
    assert item["suites"] == ["b:prompt", "d"]


def test_no_overall_without_a_score() -> None:
    (item,) = build(info([cell(2)]), [row(0, "harness_error")], {})["overall"]
    assert "macro" not in item
    assert item["left_out"] == [{"suite": "s", "reason": "not finished by m"}]


# ---------------------------------------------------------------------- totals


def settled(rows: Sequence[Row], planned: int, given: dict[str, float], **fields: Any) -> dict[str, Any]:
    """The cell of a suite with the totals ``sum`` and ``other`` whose own metrics are ``given``."""
    run = info([cell(planned, **fields)], suites=[suite("s", totals=["sum", "other"])])
    (entry,) = build(run, rows, {"s": lambda _: given})["results"]
    return dict(entry)


def test_totals_of_all_rows_stand_with_the_failed_requests_beside_them() -> None:
    entry = settled([row(0), row(1, "harness_error")], 2, {"sum": 1.0, "other": 2.0})
    assert (entry["metrics"]["sum"], entry["metrics"]["transport_errors"]) == (1.0, 1)
    assert not {"sum", "other"} & set(entry["absent"])


@pytest.mark.parametrize(
    ("outcomes", "planned", "why"),
    [
        (["skipped"], 2, "a total of all 2 rows; 1 skipped"),
        (["contaminated", "skipped", "skipped"], 4, "a total of all 4 rows; 2 skipped, 1 contaminated"),
        (["harness_error"], 5, "a total of all 5 rows; 3 not asked"),
    ],
)
def test_totals_are_absent_with_the_reason_where_rows_are_missing(
    outcomes: list[str], planned: int, why: str
) -> None:
    rows = [row(n, outcome) for n, outcome in enumerate(["correct", *outcomes])]
    entry = settled(rows, planned, {"sum": 1.0, "other": 2.0, "own": 3.0})
    assert (entry["absent"]["sum"], entry["absent"]["other"]) == (why, why)
    assert not {"sum", "other"} & set(entry["metrics"])
    assert entry["metrics"]["own"] == 3.0


def test_a_total_that_the_suite_cannot_give_is_not_silently_gone() -> None:
    entry = settled([row(0)], 1, {"sum": 1.0})
    assert entry["metrics"]["sum"] == 1.0
    assert entry["absent"]["other"] == "a part of this total has no counted row"
    part = settled([row(0)], 1, {}, selection={"kind": "sample"})
    assert part["absent"]["sum"] == "a total of all 1 rows; a part was asked"


# ---------------------------------------------------------------------- the run


def test_incomplete_run_has_a_banner() -> None:
    run = info([cell(10)], complete=False, sessions=[{"host": "a", "reason": "interrupted"}])
    banner = build(run, [row(0), row(1, "harness_error")], {})["run"]["banner"]
    assert banner == (
        "INCOMPLETE (interrupted): 1 of 10 rows done; go on with: "
        "pytest --bench=s --bench-model=m --bench-resume=20260101T000000Z-abc123"
    )


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["/home/men/x", "a/home/me"], "pytest /home/men/x a/home/me --bench-resume=RUN"),
        (["-k", "a and b"], "pytest -k 'a and b' --bench-resume=RUN"),
        (["--bench-resume", "--bench=s"], "pytest --bench=s --bench-resume=RUN"),
        (["--bench-resume", "other", "x.py"], "pytest x.py --bench-resume=other"),
        (["--bench-resume=other"], "pytest --bench-resume=other"),
        (["--bench-run-dir=out/r1"], "pytest --bench-run-dir=out/r1 --bench-resume=out/r1"),
        (["--bench-run-dir", "out"], "pytest --bench-run-dir out --bench-resume=out"),
        (["--bench-model=m@http://u:pw@h:1/v1"], "pytest --bench-model=m@http://h:1/v1 --bench-resume=RUN"),
        (["/home/me/suites", "--x=/home/me"], 'pytest "$HOME"/suites --x="$HOME" --bench-resume=RUN'),
    ],
)
def test_resume_command(argv: list[str], command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert resume_command({"argv": argv, "run_id": "RUN"}) == command


def test_speed_of_a_model_is_over_all_its_suites() -> None:
    rows = [timed(n, 100 + 10 * n, 5) for n in range(2)]
    rows += [timed(n, 200 + 10 * n, 5, suite="t") for n in range(2)]
    (model,) = build(info([cell(2), cell(2, "t")]), rows, {})["run"]["models"]
    assert model["metrics"]["busy_s"] == pytest.approx(20)
    assert model["metrics"]["speed_samples"] == 4


def test_histograms_count_every_value() -> None:
    rows = [timed(n, 100 + n, 1 + n / 10, tokens=2 + n * n) for n in range(40)]
    found = build(info([cell(40)]), rows, {})["results"][0]["histograms"]
    for name in ("output_tokens", "ttft_ms", "e2e_ms"):
        assert sum(found[name]["counts"]) == 40
        assert len(found[name]["edges"]) == len(found[name]["counts"]) + 1


def test_fourteen_thousand_rows_are_quick() -> None:
    rows = [timed(n, 100 + n / 10, 2 + n % 7, category=f"c{n % 57}") for n in range(14_042)]
    best = 9.0
    for _ in range(3):
        start = time.process_time()
        build(info([cell(14_042)]), rows, {})
        best = min(best, time.process_time() - start)
    assert best < 1.0


def test_sizes_of_prompts_are_told_and_too_long_ones_counted() -> None:
    own = {"sized.exact": 2, "sized.estimated": 1, "fill.4k": 0.974, "fill.8k": 0.5, "over_length": 2}
    results = build(info([cell(3)]), [row(n) for n in range(3)], {"s": lambda rows: own})
    words = "s: prompts sized exact (2), estimated (1); filled 4k 97 %, 8k 50 %"
    assert text_of(results, "sizes") == words
    assert text_of(results, "over_length") == "s: 2 prompts were longer than their row says"
    assert not {"sizes", "over_length"} & set(codes(build(info([cell(3)]), [row(0)], {})))


# ---------------------------------------------------------------------- repeats


def test_a_suites_own_metrics_have_values_of_each_repeat() -> None:
    def own(scored: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {"right": float(sum(r["score"] for r in scored)), "score": 3.0}

    outcomes = [["correct", "correct"], ["correct", "incorrect"]]
    rows = [row(n, o, repeat=r) for r, part in enumerate(outcomes) for n, o in enumerate(part)]
    results = build(info([cell(4, repeats=2)]), rows, {"s": own})
    (entry,) = results["results"]
    assert entry["metrics"]["right"] == 3.0
    assert entry["by_repeat"]["right"] == [2.0, 1.0]
    assert entry["by_repeat"]["score"] == [1.0, 0.5]
    assert codes(results).count("suite_metrics") == 1  # told once, not once for each repeat
    assert set(entry["by_repeat"]) <= set(entry["metrics"])
