"""Comparing two runs: who is paired, what may be said, what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pytest_benchkit.runs.compare import Side, compare
from pytest_benchkit.score import COUNTED, Outcome

FACTS = {"name": "gsm8k", "scorer_sha256": "s"}
HARDWARE = {"cpu": "x", "cores": 2}


def row(task: str, outcome: str, suite: str = "gsm8k", repeat: int = 0, **more: Any) -> dict[str, Any]:
    found = {
        "suite": suite,
        "task_id": task,
        "model": "m",
        "harness": "direct",
        "perturbation": "none",
        "repeat": repeat,
        "outcome": outcome,
        "reason": f"{outcome} {task}",
        "session": 0,
        **more,
    }
    if outcome in COUNTED:
        found["score"] = more.get("score", 1.0 if outcome == "correct" else 0.0)
    return found


def side(name: str, rows: list[dict[str, Any]] | None, **changed: Any) -> Side:
    suites = sorted({r["suite"] for r in rows or ()}) or ["gsm8k"]
    entries = [
        {
            "suite": suite,
            "model": "m",
            "harness": "direct",
            "perturbation": "none",
            "data_sha256": changed.get("data", "d"),
            "prompt_sha256": changed.get("prompt", "p"),
            "selection": {"kind": changed.get("kind", "all")},
            "metrics": {"planned": 4, "not_asked": 0, "samples": 4, "score": 0.5},
        }
        for suite in suites
    ]
    info = {
        "suites": [{**FACTS, "name": suite, "scorer_sha256": changed.get("scorer", "s")} for suite in suites],
        "models": [{"name": "m", "sampling": changed.get("sampling", {"temperature": 0.0})}],
        "hardware": changed.get("hardware", HARDWARE),
        "tool": {"version": "1"},
        "sessions": [{"host": "h"}],
    }
    return Side(name, "m", info, {"run": {"complete": True}, "results": entries}, rows)


def pair(gains: int, losses: int, both: int, suite: str = "gsm8k") -> tuple[list[Any], list[Any]]:
    first = ["incorrect"] * gains + ["correct"] * (losses + both)
    second = ["correct"] * gains + ["incorrect"] * losses + ["correct"] * both
    return (
        [row(str(n), outcome, suite) for n, outcome in enumerate(first)],
        [row(str(n), outcome, suite) for n, outcome in enumerate(second)],
    )


def test_every_pair_of_outcomes() -> None:
    """A pair counts exactly if both sides are in the denominator; all others are listed by outcome pair."""
    for one, two in itertools.product(Outcome, Outcome):
        document = compare(side("a", [row("1", one)]), side("b", [row("1", two)]))
        [entry] = document["suites"]
        if one in COUNTED and two in COUNTED:
            assert (entry["n"], entry["dropped"]) == (1, {})
        else:
            assert (entry["n"], entry["dropped"]) == (0, {f"{one.value} → {two.value}": 1})
            assert "p" not in entry


def test_discordant_rows_go_the_right_way() -> None:
    a, b = pair(30, 12, 1277)
    [entry] = compare(side("a", a), side("b", b))["suites"]
    assert (entry["n"], entry["gains"], entry["losses"]) == (1319, 30, 12)
    assert entry["p"] == pytest.approx(0.00792, abs=1e-5)
    assert entry["verdict"] == "better"
    assert {r["task_id"] for r in entry["discordant"]["gains"]} == {str(n) for n in range(30)}
    assert {r["task_id"] for r in entry["discordant"]["losses"]} == {str(n) for n in range(30, 42)}
    first = entry["discordant"]["gains"][0]
    assert (first["reason_a"], first["reason_b"]) == ("incorrect 0", "correct 0")


def test_a_run_against_itself() -> None:
    a, _ = pair(3, 5, 20)
    [entry] = compare(side("a", a), side("b", a))["suites"]
    assert (entry["delta_pp"], entry["p"], entry["gains"], entry["losses"]) == (0.0, 1.0, 0, 0)
    assert entry["verdict"] == "no difference shown"
    assert entry["detectable_pp"] > 0


def test_holm_over_several_suites() -> None:
    """Raw p of about 0.01, 0.04 and 0.20 become 0.03, 0.08 and 0.20."""
    first, second = [], []
    for suite, (gains, losses) in {"s1": (17, 5), "s2": (15, 5), "s3": (12, 6)}.items():
        a, b = pair(gains, losses, 100, suite)
        first += a
        second += b
    entries = {e["suite"]: e for e in compare(side("a", first), side("b", second))["suites"]}
    raw = {name: entry["p"] for name, entry in entries.items()}
    assert raw["s1"] < raw["s2"] < raw["s3"]
    assert entries["s1"]["p_holm"] == pytest.approx(min(1, 3 * raw["s1"]))
    assert entries["s2"]["p_holm"] == pytest.approx(max(3 * raw["s1"], 2 * raw["s2"]))
    assert entries["s3"]["p_holm"] == pytest.approx(max(2 * raw["s2"], raw["s3"]))
    assert entries["s2"]["verdict"] == "no difference shown"


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"data": "e"}, "data"),
        ({"prompt": "q"}, "prompt"),
        ({"scorer": "t"}, "scorer"),
        ({"kind": "ids"}, "selection"),
    ],
)
def test_each_barrier_alone(changed: dict[str, str], what: str) -> None:
    a, b = pair(1, 1, 5)
    document = compare(side("a", a), side("b", b, **changed))
    assert document["suites"] == []
    assert document["not_comparable"] == [
        {"suite": "gsm8k", "why": f"{what} differ (--allow {what} compares all the same)"}
    ]
    [entry] = compare(side("a", a), side("b", b, **changed), allow=frozenset({what}))["suites"]
    assert entry["allowed"] == [what]


def test_what_differs_besides_is_a_note() -> None:
    a, b = pair(1, 1, 5)
    document = compare(side("a", a), side("b", b, sampling={"temperature": 1.0}, hardware={"cpu": "y"}))
    assert len(document["suites"]) == 1
    assert any(note.startswith("sampling:") for note in document["notes"])
    assert "the runs were made on different client machines" in document["notes"]
    assert "different machines" in document["speed"][0]["why"]


def test_without_records_nothing_is_paired() -> None:
    [entry] = compare(side("a", None), side("b", None))["suites"]
    assert entry["why"] == "unpaired, records missing"
    assert "p" not in entry
    assert "verdict" not in entry


def test_repeats_and_groups_are_clusters() -> None:
    a = [row(str(t), "correct" if t % 2 else "incorrect", repeat=r) for t in range(20) for r in range(3)]
    b = [row(str(t), "correct", repeat=r) for t in range(20) for r in range(3)]
    [entry] = compare(side("a", a), side("b", b))["suites"]
    assert (entry["n"], entry["test"]) == (60, "bootstrap")


def test_speed() -> None:
    def timed(speed: float) -> list[dict[str, Any]]:
        return [
            row(str(n), "correct", timing={"e2e_ms": speed + n % 5, "end_ms": speed, "ttft_ms": 10.0})
            for n in range(200)
        ]

    document = compare(side("a", timed(100)), side("b", timed(90)))
    by_time = {entry["time"]: entry for entry in document["speed"]}
    assert by_time["e2e_ms"]["ratio"] == pytest.approx(0.9, abs=0.01)
    low, high = by_time["e2e_ms"]["ci"]
    assert low <= by_time["e2e_ms"]["ratio"] <= high < 1
    assert by_time["ttft_ms"]["ratio"] == 1.0
