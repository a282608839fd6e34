"""``--bench-perturbation`` and ``--bench-perturbation-seed``: twins, pairs, and what they never change."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project, marked

QUIZ = """
from pytest_benchkit import Task
from pytest_benchkit.datasets import Rows
from pytest_benchkit.scoring.suites import ChoiceSuite

OPTIONS = ["an ape", "a bee", "a cow", "a dog"]


class Quiz(ChoiceSuite):
    key = "quiz"
    data = Rows(
        [{"question": f"Number {n}?", "options": OPTIONS if n else ["an ape", "none of these"],
          "answer": "ABCD"[n % 4]} for n in range(COUNT)]
    )
"""
WAYS = [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")]
TWINS = ("--bench-perturbation=choice-order",)


@pytest.mark.parametrize("workers", WAYS)
def test_twins_and_pairs(project: Project, workers: tuple[str, ...]) -> None:
    project.suite(24, QUIZ)
    result = project.run(
        "bench_sums.py",
        "--bench-model=demo:1",
        *TWINS,
        "--bench-perturbation-seed=42,43",
        *workers,
        process=bool(workers),
    )
    assert result.ret == 0
    records = project.records()
    assert len({record["key"] for record in records}) == len(records) == 72
    for axis, seed in (("choice-order", 42), ("choice-order.43", 43)):
        mine = [record for record in records if record["perturbation"] == axis]
        assert [r["detail"] for r in mine if r["outcome"] == "skipped"] == ["not_perturbable"]
        assert all(r["perturbed"]["seed"] == seed for r in mine if r["outcome"] != "skipped")
        assert all(r["outcome"] == "correct" for r in mine if r["outcome"] != "skipped")
    results = project.results()
    assert [pair["side_b"] for pair in results["pairs"]] == ["choice-order", "choice-order.43"]
    pair = results["pairs"][0]
    assert (pair["n"], pair["delta_pp"], pair["consistency"], pair["p"]) == (23, 0.0, 1.0, 1.0)
    assert pair["dropped"] == {"skipped": 1}
    entry = next(e for e in results["results"] if e["perturbation"] == "choice-order")
    assert entry["metrics"]["pair.consistency"] == 1.0
    text = result.stdout.str()
    assert "none → choice-order.43" in text
    assert "suite=quiz model=demo:1 perturbation=choice-order.43 done=24/24" in text
    assert "1 skipped (not_perturbable)" in text
    assert project.info()["axes"]["perturbations"] == ["choice-order", "choice-order.43"]


def test_the_overall_score_is_of_clean_rows(project: Project) -> None:
    project.suite(24, QUIZ)
    project.run("bench_sums.py", "--bench-model=demo:0.5")
    plain = project.results()["overall"]
    project.run("bench_sums.py", "--bench-model=demo:0.5", *TWINS)
    assert project.results()["overall"] == plain


@pytest.mark.parametrize(
    "seeds", [["=42", "=43"], ["=42,43"], ["=42", "=43,42"]], ids=["repeated", "list", "both"]
)
def test_a_twin_for_each_seed(project: Project, seeds: list[str]) -> None:
    project.suite(4, QUIZ)
    words = [f"--bench-perturbation-seed{seed}" for seed in seeds]
    assert project.run("bench_sums.py", "--bench-model=demo", *TWINS, *words).ret == 0
    axes = {record["perturbation"] for record in project.records()}
    assert axes == {"none", "choice-order", "choice-order.43"}


def test_items_by_name_and_resume(project: Project) -> None:
    project.suite(12, QUIZ)
    line = ("bench_sums.py", "--bench-model=demo", *TWINS)
    assert project.run(*line, "-k", "choice-order and quiz").ret == 0
    assert {record["perturbation"] for record in project.records()} == {"choice-order"}
    assert project.results()["pairs"] == []
    project.run(*line, "--bench-run-dir=r")
    before = (project.pytester.path / "r/records.jsonl").read_bytes()
    again = project.run(*line, "--bench-resume=r")
    assert again.ret == 0
    assert (project.pytester.path / "r/records.jsonl").read_bytes() == before
    listed = project.run(*line, "--collect-only", "-q")
    assert "bench_sums.py::quiz[demo-direct-choice-order-03]" in listed.outlines
    one = project.run("bench_sums.py::quiz[demo-direct-choice-order-03]", "--bench-model=demo", *TWINS)
    assert one.ret == 0
    assert len(project.records()) == 1


def test_test_functions_get_the_twins_too(project: Project) -> None:
    project.suite(4, QUIZ)
    (project.pytester.path / "test_quiz.py").write_text(
        marked("""
import pytest

@MARKED("quiz")
def test_order(bench_task, bench_model, bench_perturbation):
    shown = bench_task["options"] == ["an ape", "a bee", "a cow", "a dog"]
    assert shown == (bench_perturbation == "none") or len(bench_task["options"]) == 2
""")
    )
    result = project.run("test_quiz.py", "bench_sums.py", "--bench-model=demo", *TWINS)
    assert "test_order[demo-direct-choice-order-1]" not in result.stdout.str()
    mine = [record for record in project.records() if record["suite"] == "quiz:test_order"]
    assert sorted(record["outcome"] for record in mine) == ["correct"] * 7 + ["skipped"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bench-perturbation=choiceorder",), "did you mean choice-order?"),
        ((*TWINS, "--bench-perturbation-seed=x"), "write whole numbers with commas"),
        ((*TWINS, "--bench-perturbation-seed="), "write whole numbers with commas"),
        (("--bench-perturbation-seed=3",), "needs --bench-perturbation"),
        (TWINS, "sums: has no perturbation choice-order; leave the suite out"),
    ],
)
def test_what_cannot_work_is_refused(project: Project, words: tuple[str, ...], said: str) -> None:
    result = project.run("bench_sums.py", "--bench-model=demo", *words)
    assert result.ret == 4
    assert said in result.stderr.str()
    assert project.runs == []


def test_suites_without_it_are_asked_as_they_are(project: Project) -> None:
    from tests.integration.conftest import SUITE

    project.suite(4, SUITE)
    (project.pytester.path / "bench_quiz.py").write_text(QUIZ.replace("COUNT", "4"))
    result = project.run("bench_sums.py", "bench_quiz.py", "--bench-model=demo", *TWINS)
    assert result.ret == 0
    assert "no choice-order for sums: asked as they are" in result.stdout.str()
    assert len(project.records()) == 12
    named = project.run("--bench=sums", "--bench=quiz", "--bench-model=demo", *TWINS)
    assert named.ret == 4
    assert "sums: has no perturbation choice-order" in named.stderr.str()


def test_the_ini_twin(project: Project) -> None:
    project.suite(4, QUIZ)
    (project.pytester.path / "pytest.ini").write_text("[pytest]\nbench_perturbation = choice-order\n")
    project.run("bench_sums.py", "--bench-model=demo")
    assert len(project.records()) == 8
