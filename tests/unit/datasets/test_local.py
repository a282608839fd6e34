from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.datasets import JsonLines, Rows
from pytest_benchkit.datasets.local import task_id
from pytest_benchkit.errors import DataFault, DataMissing
from pytest_benchkit.task import TaskSource
from tests.unit.datasets import rowsets

if TYPE_CHECKING:
    from pathlib import Path


def test_json_lines_beside_the_suite(tmp_path: Path) -> None:
    rowsets.jsonl(tmp_path / "data" / "rows.jsonl", [{"id": "Task/A 1", "kind": 3, "doc": "d"}, {"id": "b"}])
    source = JsonLines("data/rows.jsonl", category="kind", group="doc")
    assert isinstance(source, TaskSource)
    assert source.state().word == "missing"
    source.bind(tmp_path)
    assert source.state().word == "bundled"
    assert [(task.id, task.category, task.group) for task in source.load()] == [
        ("task-a-1", "3", "d"),
        ("b", None, None),
    ]
    assert list(source.index().ids) == ["task-a-1", "b"]
    assert source.load()[0]["id"] == "Task/A 1"
    assert source.count is None
    assert source.id_words is None


def test_absent_file_is_told_with_its_place(tmp_path: Path) -> None:
    source = JsonLines("none.jsonl")
    source.bind(tmp_path)
    with pytest.raises(DataMissing, match=re.escape(str(tmp_path / "none.jsonl"))):
        source.load()


def test_rows_without_ids_are_numbered() -> None:
    source = Rows([{"q": place} for place in range(11)], name="mine")
    assert isinstance(source, TaskSource)
    assert [task.id for task in source.load()][9:] == ["09", "10"]
    assert source.count == 11
    assert source.state().word == "bundled"
    assert source.name == "mine"


def test_hash_follows_the_content() -> None:
    first = Rows([{"q": 1}]).index().rows_sha256
    assert first == Rows([{"q": 1}]).index().rows_sha256
    assert first != Rows([{"q": 2}]).index().rows_sha256


def test_same_ids_after_folding_are_a_fault() -> None:
    with pytest.raises(DataFault, match="rows 0 and 1 both have the id a-b"):
        Rows([{"id": "A b"}, {"id": "a/b"}]).load()


def test_id_without_letters_and_value_without_json_are_faults() -> None:
    with pytest.raises(DataFault, match="row 0 has no letter or digit"):
        Rows([{"id": "é!"}]).load()
    with pytest.raises(DataFault, match="not plain JSON"):
        Rows([{"q": object()}]).index()


def test_no_rows_is_an_empty_data_set() -> None:
    assert len(Rows([]).index()) == 0


@given(st.text())
def test_ids_hold_only_what_ids_may_hold(text: str) -> None:
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", task_id(text))
