"""The smoke test of many suites: each row is its own suite's, and a part that cannot run skips its rows."""

from __future__ import annotations

from typing import Any

import pytest

from benchsuites.bench_sanity import PARTS, Sanity
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.reply import Reply
from pytest_benchkit.sandbox import probe
from pytest_benchkit.task import Task

ROWS: dict[str, dict[str, Any]] = {
    "gsm8k": {"question": "6 times 3?", "answer": "18"},
    "arc": {"question": "Which?", "options": ["x", "y"], "answer": "B"},
    "piqa": {"question": "How?", "options": ["x", "y"], "answer": "A"},
    "ifeval": {"prompt": "No commas.", "instructions": ["punctuation:no_comma"], "kwargs": [{}]},
    "humaneval": {
        "prompt": "def one():\n    pass\n",
        "entry_point": "one",
        "canonical_solution": "",
        "test": "def check(candidate): pass",
    },
}


def row(key: str) -> Task:
    return Task(f"{key}-0001", 0, ROWS[key], key)


@pytest.mark.parametrize("key", ["gsm8k", "arc", "piqa", "ifeval"])
def test_rows_are_asked_and_scored_by_their_own_suite(key: str) -> None:
    sanity, own = Sanity(), PARTS[key]()
    assert sanity.prompt(row(key)) == own.prompt(row(key))
    for text in ("18", "#### 18", "A", "B", "No, thanks"):
        assert sanity.score(row(key), Reply.of(text)) == own.score(row(key), Reply.of(text))


def test_the_source_names_every_part_without_reading() -> None:
    assert set(Sanity.data.parts) == set(PARTS)
    assert Sanity.data.count == 25
    assert Sanity.data.id_words == ("arc-", "gsm8k-", "humaneval-", "ifeval-", "piqa-")


def test_without_isolation_programs_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "isolation", lambda: probe.Isolation(None, "none here"))
    with pytest.raises(SkipTask, match="none here"):
        Sanity().prompt(row("humaneval"))
    assert Sanity().prompt(row("arc"))


def test_without_its_libraries_ifeval_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PARTS["ifeval"], "requires", {"no_such_module": "some[extra]"})
    with pytest.raises(SkipTask, match=r"pip install 'some\[extra\]'"):
        Sanity().prompt(row("ifeval"))
