from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets import catalog, readers_bfcl, store
from pytest_benchkit.datasets.draws import Draw, first_rows
from pytest_benchkit.datasets.entries import bfcl
from pytest_benchkit.datasets.files import path_in
from pytest_benchkit.errors import DataDamaged, DataFault, DataMissing
from pytest_benchkit.task import TaskIndex
from tests.unit.datasets.rowsets import jsonl

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {
    "irrelevance": 240,
    "live_irrelevance": 884,
    "live_multiple": 1053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    "live_simple": 258,
    "multiple": 200,
    "parallel": 200,
    "parallel_multiple": 200,
    "simple_java": 100,
    "simple_javascript": 50,
    "simple_python": 400,
}


def question(subset: str, place: int, kind: str = "string") -> dict[str, Any]:
    live = f"-{place // 2}-0" if subset.startswith("live") else ""
    node = {"type": kind, "description": "d"}
    parameters = {"type": "dict", "properties": {"p": node}, "required": []}
    return {
        "id": f"{subset}_{place}{live}",
        "question": [[{"role": "user", "content": f"q{place}"}]],
        "function": [{"name": "a.b", "description": "d", "parameters": parameters}],
    }


def files(folder: Path, rows: int = 3, **changed: Any) -> list[Path]:
    """Questions and answers of every subset, in the order of the reader."""
    paths = []
    for subset, answered in readers_bfcl.SUBSETS.items():
        kind = "String" if "java" in subset else "string"
        asked = [question(subset, place, kind) for place in range(rows)]
        paths.append(jsonl(folder / f"{subset}.json", changed.get(subset, asked)))
        if answered:
            golds = [{"id": row["id"], "ground_truth": [{"a.b": {"p": ["x", ""]}}]} for row in asked]
            paths.append(jsonl(folder / f"{subset}-a.json", changed.get(f"{subset}_answers", golds)))
    return paths


def test_rows_of_all_subsets(tmp_path: Path) -> None:
    tasks = readers_bfcl.bfcl(files(tmp_path))
    assert len(tasks) == 3 * 12
    assert [task.index for task in tasks] == list(range(36))
    assert len({task.id for task in tasks}) == 36
    by_id = {task.id: task for task in tasks}
    live = by_id["live-simple-2-1-0"]
    assert (live.category, live.group) == ("live_simple", "live_simple-1")
    assert live["messages"] == [{"role": "user", "content": "q2"}]
    assert live["golds"] == [{"a.b": {"p": ["x", ""]}}]
    assert (by_id["simple-java-0"].group, by_id["irrelevance-0"]["golds"]) == (None, [])
    words = catalog.BFCL.id_words or ()
    assert all(any(word and task.id.startswith(word) for word in words) for task in tasks)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"parallel_answers": []}, "the answers of parallel are not those"),
        ({"irrelevance": [{"id": "irrelevance_0"}]}, "not of the expected form"),
        ({"irrelevance": [question("irrelevance", 0, "Set")]}, "p is of the unknown type 'Set'"),
        ({"simple_python_answers": "none"}, "0 golds in a row of simple_python"),
        ({"simple_python_answers": "two"}, "2 golds in a row of simple_python"),
        ({"simple_python_answers": "other"}, "the gold 'f' is none of its functions"),
        ({"simple_python_answers": "flat"}, "the gold of 'p' is not a list"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    golds: dict[str, Any] = {
        "none": [],
        "two": [{"a.b": {}}, {"a.b": {}}],
        "other": [{"f": {}}],
        "flat": [{"a.b": {"p": "x"}}],
    }
    if isinstance(name := changed.get("simple_python_answers"), str):
        made = [{"id": f"simple_python_{n}", "ground_truth": golds[name]} for n in range(3)]
        changed = {"simple_python_answers": made}
    with pytest.raises(DataFault, match=words):
        readers_bfcl.bfcl(files(tmp_path, **changed))


def index_of(sizes: dict[str, int]) -> TaskIndex:
    ids = [f"{subset}-{place}" for subset, size in sizes.items() for place in range(size)]
    categories = [subset for subset, size in sizes.items() for _ in range(size)]
    return TaskIndex(ids, categories, [None] * len(ids), "0" * 64)


@pytest.mark.parametrize("draw", [catalog.BFCL_GOLDEN, catalog.BFCL_ECHOLP, catalog.BFCL_MINI])
def test_draws_have_the_published_sizes(draw: Draw) -> None:
    assert sum(SIZES.values()) == catalog.BFCL.rows
    places = draw.choose(index_of(SIZES))
    assert len(places) == draw.count
    assert list(places) == sorted(set(places))


def test_first_rows_of_each_category() -> None:
    index = index_of({"a": 10, "b": 3, "c": 40, "d": 40})
    places = first_rows({"a": 500, "b": 1, "c": 10}, floor=3)(index)
    assert [index.ids[place] for place in places] == [
        "a-0",
        "a-1",
        "a-2",
        "a-3",
        "a-4",
        "b-0",
        "b-1",
        "b-2",
        "c-0",
    ]


def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draw:
    """A draw of rows of ours, installed as those of the catalog are."""
    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path / "cache"))
    tasks = readers_bfcl.bfcl(files(tmp_path, rows=4))
    whole = replace(catalog.BFCL, rows=len(tasks), rows_sha256=store.rows_hash(tasks))
    facts = {"name": "bfcl", "recipe": 1, "source": "s", "revision": "r", "verified": "rows"}
    store.write(whole.folder, tasks, facts)
    return Draw("bfcl/two", whole, 4, first_rows({"parallel": 500, "live_simple": 500}, floor=1))


def test_draw_is_a_view_of_the_installed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = installed(tmp_path, monkeypatch)
    index, tasks = draw.index(), draw.load()
    assert draw.state().ready
    assert list(index.ids) == ["live-simple-0-0-0", "live-simple-1-0-0", "parallel-0", "parallel-1"]
    assert [task.id for task in tasks] == list(index.ids)
    assert [task.index for task in tasks] == [0, 1, 2, 3]
    assert (
        [task.group for task in tasks] == list(index.groups) == ["live_simple-0", "live_simple-0", None, None]
    )
    assert list(index.categories) == ["live_simple", "live_simple", "parallel", "parallel"]
    assert [path.name for path in (tmp_path / "cache" / "data").iterdir()] == ["bfcl"]


def test_draw_has_a_hash_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = installed(tmp_path, monkeypatch)
    other = replace(draw, choose=first_rows({"parallel": 500, "multiple": 500}, floor=1))
    hashes = {draw.index().rows_sha256, other.index().rows_sha256, draw.whole.index().rows_sha256}
    assert len(hashes) == 3
    assert draw.index().rows_sha256 == draw.index().rows_sha256
    assert (draw.index().revision or "").startswith("r; ids sha256 ")
    wrong = replace(draw, count=5)
    with pytest.raises(DataDamaged, match="bfcl/two has 5 rows, but 4 were drawn"):
        wrong.load()


def test_draw_without_the_whole_says_what_to_install(cache: Path) -> None:
    with pytest.raises(DataMissing, match="benchkit datasets install bfcl"):
        catalog.BFCL_MINI.index()
    assert catalog.BFCL_MINI.state().word == "missing"


def test_files_of_one_name_have_places_of_their_own() -> None:
    for route in catalog.BFCL.routes:
        places = [path_in(file) for file in route.files]
        assert len(set(places)) == 22
    assert len(catalog.BFCL_LIVE_RELEVANCE.routes[0].files) == 1
    assert set(bfcl.QUESTIONS) == {*readers_bfcl.SUBSETS, "live_relevance"}
    assert set(bfcl.ANSWERS) == {subset for subset, answered in readers_bfcl.SUBSETS.items() if answered}


def test_subset_that_is_in_no_draw(tmp_path: Path) -> None:
    rows = jsonl(tmp_path / "rows.json", [question("live_relevance", place) for place in range(2)])
    tasks = readers_bfcl.bfcl_live_relevance([rows])
    assert [(task.id, task.category, task.index) for task in tasks] == [
        ("live-relevance-0-0-0", "live_relevance", 0),
        ("live-relevance-1-0-0", "live_relevance", 1),
    ]
    assert json.dumps(tasks[0]["golds"]) == "[]"
