"""The result files: their columns, their scalars, and one that fails."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_benchkit.reports import files
from pytest_benchkit.runs.results import build
from tests.support.rows import cell, info, row, suite, timed

HEADER = (
    "run_id,created_at,suite,variant,model,harness,perturbation,complete,planned,samples,excluded,not_asked,"
    "score,score_ci_low,score_ci_high,ci_method,accuracy,score_answered,repaired_score,repair_delta_pp,"
    "n_correct,n_partial,n_incorrect,n_no_answer,n_truncated,n_loop_killed,n_timed_out,n_contaminated,"
    "n_harness_error,n_skipped,truncation_rate,no_answer_rate,loop_rate,ttft_p50_ms,ttft_p95_ms,e2e_p50_ms,"
    "e2e_p95_ms,stream_tok_s,aggregate_tok_s,inflight_mean,input_tokens,output_tokens,cost_usd,wall_s,"
    "hardware,data_sha256"
)


def test_files_say_the_same(tmp_path: Path) -> None:
    rows = [timed(n, 100 + n, 5, outcome="correct" if n < 17 else "incorrect") for n in range(20)]
    results = build(info([cell(25), cell(3, "t:v")]), rows, {})
    assert files.write_all(results, tmp_path) == []
    stored = json.loads((tmp_path / "results.json").read_bytes())
    assert stored == json.loads(json.dumps(results))
    data = (tmp_path / "results.csv").read_bytes()
    assert data.decode().split("\n")[0] == HEADER
    assert b"\r" not in data
    first, second = csv.DictReader(data.decode().splitlines())
    metrics = results["results"][0]["metrics"]
    for name in ("score", "score_ci_low", "samples", "not_asked", "aggregate_tok_s", "ttft_p95_ms", "wall_s"):
        assert float(first[name]) == metrics[name]
    assert (first["complete"], first["hardware"]) == ("true", "A CPU, 4 cores")
    assert first["cost_usd"] == first["repaired_score"] == first["loop_rate"] == ""
    assert (second["variant"], second["score"], second["not_asked"]) == ("v", "", "3")
    assert not set("[]{}") & set(data.decode())


def test_made_twice_is_the_same_bytes(tmp_path: Path) -> None:
    results = build(info([cell(2)]), [row(0), row(1, "incorrect")], {})
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        files.write_all(results, folder)
    for name in ("results.json", "results.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "shown"), [("=cmd()", "'=cmd()"), ("@x", "'@x"), ("a[1]{2}", "a 1  2 "), ("a,b", "a,b")]
)
def test_cells_are_scalars_and_no_formulas(name: str, shown: str, tmp_path: Path) -> None:
    results = build(info([cell(1, model=name)], suites=[suite("s")]), [], {})
    files.write_table(results, tmp_path / "t.csv")
    (line,) = csv.DictReader((tmp_path / "t.csv").read_text().splitlines())
    assert line["model"] == shown


def test_one_file_that_fails_is_named_and_the_other_made(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()  # cannot be replaced by a file
    problems = files.write_all(build(info([cell(1)]), [row(0)], {}), tmp_path)
    assert len(problems) == 1
    assert "results.json" in problems[0]
    assert (tmp_path / "results.csv").exists()


def test_a_writer_that_raises_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(results: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(files, "table_rows", broken)
    assert files.write_all(build(info([cell(1)]), [row(0)], {}), tmp_path) == [
        "results.csv could not be made: ZeroDivisionError: oops"
    ]


def test_big_store_makes_a_small_document(tmp_path: Path) -> None:
    rows = [timed(n, 100 + n, 5, category=f"c{n % 57}") for n in range(14_000)]
    files.write_all(build(info([cell(14_000)]), rows, {}), tmp_path)
    assert (tmp_path / "results.json").stat().st_size < 100_000
