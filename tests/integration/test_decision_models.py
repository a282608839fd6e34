"""Decision models: ``/v1/systemone`` on a real server process, every kind of answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import Exchange, FakeServer

QUIZ = """
from pytest_benchkit.datasets import Rows
from pytest_benchkit.scoring.suites import ChoiceSuite, YesNoSuite


class Quiz(ChoiceSuite):
    key = "quiz"
    data = Rows(
        [{"question": f"Number {n}?", "options": ["ape", "bee", "cow"], "answer": "ABC"[n % 3]}
         for n in range(COUNT)]
    )


class Truth(YesNoSuite):
    key = "truth"
    data = Rows([{"question": f"Is {n} odd?", "answer": "yes" if n % 2 else "no"} for n in range(COUNT)])

    def prompt(self, task):
        return task["question"]
"""


def deciding(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A route that answers each question; ``answer`` gets the body."""

    async def handle(exchange: Exchange) -> None:
        found = answer(exchange.request.json)
        await exchange.json({"answers": {"answer": found}})

    return handle


def perfect(body: dict[str, Any]) -> dict[str, Any]:
    question = body["questions"]["answer"]
    number = int("".join(c for c in body["state"] if c.isdigit()))
    if question["type"] == "noul":
        return {"noul": 0.9 if number % 2 else 0.2}
    keys = list(question["criteria"])
    return {"probabilities": {key: 0.8 if key == keys[number % 3] else 0.1 for key in keys}}


def serving(answer: Callable[[dict[str, Any]], dict[str, Any]], *, listed: bool = True) -> FakeServer:
    entry: dict[str, Any] = {"id": "m", "object": "model"}
    if listed:
        entry["architecture"] = {"output_modalities": ["decisions"]}

    async def models(exchange: Exchange) -> None:
        await exchange.json({"object": "list", "data": [entry]})

    return FakeServer(models=None, routes={"/v1/systemone": deciding(answer), "/v1/models": models})


@pytest.mark.parametrize("workers", [pytest.param((), id="one"), pytest.param(("-n", "2"), id="xdist")])
def test_a_run(project: Project, workers: tuple[str, ...]) -> None:
    project.suite(9, QUIZ)
    with serving(perfect) as server:
        result = project.run(
            "bench_sums.py", f"--bench-model=m@{server.url}", *workers, process=bool(workers)
        )
    assert result.ret == 0
    text = result.stdout.str()
    assert "m: decision model at" in text
    assert "quiz: 9 rows are few for an ECE" in text
    quiz, truth = project.results()["results"]
    assert (quiz["metrics"]["score"], truth["metrics"]["score"]) == (1.0, 1.0)
    assert quiz["metrics"]["brier"] == pytest.approx(0.06)
    assert quiz["metrics"]["ece"] == pytest.approx(0.2)
    assert truth["metrics"]["ece.yes"] == pytest.approx(0.1)
    assert truth["metrics"]["ece.no"] == pytest.approx(0.2)
    assert sum(part["n"] for part in quiz["calibration"]) == 9
    assert quiz["metrics"]["decisions_per_s"] > 0
    for name in ("output_tokens", "stream_tok_s", "aggregate_tok_s", "ttft_p50_ms"):
        assert name not in quiz["metrics"]
    record = next(r for r in project.records() if r["suite"] == "quiz")
    assert record["decision"]["correct"] is True
    assert record["decision"]["latency_ms"] > 0
    assert record["rule"] == "bare-letter"


def test_no_deviation_is_told_of_what_is_not_sent(project: Project) -> None:
    project.suite(3, QUIZ)
    with serving(perfect) as server:
        words = ("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-temperature=0.7")
        text = project.run(*words).stdout.str()
    assert "0.7" not in text
    assert all(entry["deviations"] == [] for entry in project.results()["results"])


def test_a_model_that_its_server_does_not_mark(project: Project) -> None:
    project.suite(3, QUIZ)
    with serving(perfect, listed=False) as server:
        word = f"--bench-model=m@{server.url}"
        assert project.run("bench_sums.py", word, "--bench-decision-models=m").ret == 0
        wrong = project.run("bench_sums.py", word, "--bench-decision-models=n")
    assert wrong.ret == 4
    assert "--bench-model names no such model, but m" in wrong.stderr.str()
    demo = project.run("bench_sums.py", "--bench-model=demo", "--bench-decision-models=demo")
    assert demo.ret == 4
    assert "demo answers with text" in demo.stderr.str()


def test_a_suite_without_a_decision_is_refused(project: Project) -> None:
    with serving(perfect) as server:
        result = project.run("bench_sums.py", f"--bench-model=m@{server.url}")
    assert result.ret == 4
    assert "sums: m is a decision model, and the suite has nothing to decide" in result.stderr.str()
    assert project.runs == []


def test_answers_that_are_no_distribution_are_errors(project: Project) -> None:
    project.suite(6, QUIZ)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        number = int("".join(c for c in body["state"] if c.isdigit()))
        if body["questions"]["answer"]["type"] == "noul":
            return {}
        broken: list[dict[str, float]] = [
            {"A": 1.0},
            {"A": 0.5, "B": 0.2, "C": 0.2},
            {"A": 0.5, "B": 0.2, "C": 0.2, "D": 0.1},
            {"A": 0.4, "B": 0.4, "C": 0.2},
            {"A": 1.2, "B": -0.2, "C": 0.0},
            {"A": 0.0, "B": 0.0, "C": 1.0},
        ]
        return {"probabilities": broken[number]}

    with serving(answer) as server:
        result = project.run("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-max-errors=100%")
    assert result.ret == 1
    by_id = {(r["suite"], r["task_id"]): r for r in project.records()}
    kinds = [by_id["quiz", str(n)].get("detail") for n in range(6)]
    assert kinds == ["invalid_distribution"] * 3 + [None, "invalid_distribution", None]
    assert "tie" in by_id["quiz", "3"]["flags"]
    assert all(by_id["truth", str(n)]["detail"] == "invalid_distribution" for n in range(6))


def test_perturbed_twins_compare_options_by_place(project: Project) -> None:
    """A model that always holds the first text to be right keeps its choice in every order."""
    project.suite(9, QUIZ)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        criteria = body["questions"]["answer"]["criteria"]
        return {"probabilities": {key: float(text == "ape") for key, text in criteria.items()}}

    with serving(answer) as server:
        project.run(
            "bench_sums.py",
            f"--bench-model=m@{server.url}",
            "-k",
            "quiz",
            "--bench-perturbation=choice-order",
        )
    [pair] = project.results()["pairs"]
    assert (pair["consistency"], pair["delta_pp"], pair["p_gold_change_mean"]) == (1.0, 0.0, 0.0)


def test_the_request(project: Project) -> None:
    project.suite(1, QUIZ)
    seen: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        seen.append(body)
        return perfect(body)

    with serving(answer) as server:
        project.run("bench_sums.py", f"--bench-model=m@{server.url}", "--bench-warmup=0", "--bench-seed=3")
    bodies = {json.dumps(body["questions"]["answer"]["type"]): body for body in seen}
    assert bodies['"choice"'] == {
        "model": "m",
        "state": "Number 0?",
        "questions": {
            "answer": {
                "type": "choice",
                "instructions": "Choose the best answer to the question.",
                "criteria": {"A": "ape", "B": "bee", "C": "cow"},
            }
        },
    }
    assert "criteria" not in bodies['"noul"']["questions"]["answer"]
