from __future__ import annotations

import hashlib
import io
import json
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets import catalog, readers, store
from pytest_benchkit.datasets.files import HubFile, WebFile, ZippedFile
from pytest_benchkit.datasets.sources import Dataset, Route
from pytest_benchkit.errors import DataDamaged, DataError, DataFault, DataMissing
from pytest_benchkit.task import Task, TaskSource
from tests.unit.datasets import rowsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.datasets.hubserver import HubServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [{"question": f"q{place}", "answer": f"#### {place}"} for place in range(12)]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def ignore(line: str) -> None:
    """Progress nobody reads."""


def small(hub: HubServer, **changes: Any) -> Dataset:
    hub.files["/rows.jsonl"] = TEXT
    file = WebFile(f"{hub.url}/rows.jsonl", hashlib.sha256(TEXT).hexdigest(), len(TEXT))
    entry = Dataset(
        name="small/rows",
        origins=(Route((file,), readers.gsm8k, COMMIT),),
        rows=12,
        licence="MIT",
        citation="ours",
    )
    return replace(entry, **changes)


def test_install_index_and_load(hub: HubServer, cache: Path) -> None:
    data: TaskSource = small(hub)
    assert isinstance(data, TaskSource)
    assert isinstance(data, Dataset)
    assert data.state().word == "missing"
    with pytest.raises(DataMissing, match="benchkit datasets install small/rows"):
        data.index()
    with pytest.raises(DataMissing, match="benchkit datasets install small/rows"):
        data.load()
    data.install(ignore)
    index, tasks = data.index(), data.load()
    assert list(index.ids) == [f"{place:02}" for place in range(12)] == [task.id for task in tasks]
    assert list(index.categories) == [None] * 12 == list(index.groups)
    assert index.rows_sha256 == store.rows_hash(tasks)
    assert (index.revision, index.source) == (COMMIT, f"{hub.url}/rows.jsonl")
    assert [task.index for task in tasks] == list(range(12))
    assert data.state().ready
    assert data.state().bytes == (data.folder / "rows.jsonl").stat().st_size
    said: list[str] = []
    data.install(said.append)
    assert said == ["small/rows: already there"]
    assert len(hub.asked) == 1


def test_several_processes_may_install_at_once(hub: HubServer, cache: Path) -> None:
    data = small(hub)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: data.install(ignore), range(4)))
    assert len(hub.asked) == 1
    assert len(data.load()) == 12


def test_flipped_byte_is_damage_and_install_repairs_it(hub: HubServer, cache: Path) -> None:
    data = small(hub)
    data.install(ignore)
    rows = data.folder / "rows.jsonl"
    data.verify()
    good = rows.read_bytes()
    rows.write_bytes(good.replace(b"q3", b"q4"))
    for use in (data.index, data.load, data.verify):
        with pytest.raises(DataDamaged, match=r"rows\.jsonl is damaged.*datasets install small/rows"):
            use()
    rows.write_bytes(good[:-5])
    assert data.state().word == "damaged"
    data.install(ignore)
    assert rows.read_bytes() == good


def test_copied_cache_keeps_its_bytes_and_gets_new_stamps(hub: HubServer, cache: Path) -> None:
    data = small(hub)
    data.install(ignore)
    os.utime(data.folder / "rows.jsonl", ns=(1, 1))
    assert data.state().ready
    assert "hashed at next use" in data.state().detail
    assert len(data.index()) == 12
    assert "hashed at next use" not in data.state().detail


def test_changed_recipe_or_pin_means_missing(hub: HubServer, cache: Path) -> None:
    small(hub).install(ignore)
    assert small(hub, recipe=2).state().word == "missing"
    assert small(hub, rows_sha256="0" * 64).state().word == "missing"
    assert small(hub, rows=13).state().word == "missing"


@pytest.mark.parametrize("text", ["", "{}", '{"format": 99}', '{"format": 1, "recipe": 1}', "[1, 2"])
def test_index_that_is_none_means_missing(hub: HubServer, cache: Path, text: str) -> None:
    data = small(hub)
    data.install(ignore)
    (data.folder / "index.json").write_text(text)
    assert data.state().word == "missing"
    data.install(ignore)
    assert data.state().ready


def test_rows_that_differ_from_the_pin_or_the_count_are_refused(hub: HubServer, cache: Path) -> None:
    with pytest.raises(DataDamaged, match="not the pinned 0000"):
        small(hub, rows_sha256="0" * 64).install(ignore)
    with pytest.raises(DataDamaged, match="has 11 rows, but 12 were read"):
        small(hub, rows=11).install(ignore)
    assert small(hub).state().word == "missing"


def test_repeated_or_odd_ids_are_faults(hub: HubServer, cache: Path) -> None:
    def twice(paths: Sequence[Path]) -> list[Task]:
        return [Task("same", 0, {}), Task("same", 1, {})]

    def odd(paths: Sequence[Path]) -> list[Task]:
        return [Task("Ünï", 0, {})]

    route = small(hub).origins[0]
    with pytest.raises(DataError, match="rows 0 and 1 both have the id same"):
        small(hub, rows=2, origins=(replace(route, read=twice),)).install(ignore)
    with pytest.raises(DataError, match="not lower-case words"):
        small(hub, rows=1, origins=(replace(route, read=odd),)).install(ignore)
    with pytest.raises(DataFault):
        store.check_ids("x", [task.id for task in twice([])])


def test_next_route_is_tried_and_all_failures_are_told(hub: HubServer, cache: Path) -> None:
    good = small(hub).origins[0]
    away = Route((WebFile("http://127.0.0.1:9/away.jsonl", "0" * 64),), readers.gsm8k, "x")
    said: list[str] = []
    small(hub, mirrors=(away,), origins=(good,)).install(said.append)
    assert any("trying" in line and "rows.jsonl" in line for line in said)
    with pytest.raises(
        DataMissing, match=r"small/rows could not be installed: .*away.jsonl.*; or .*gone.jsonl"
    ):
        gone = Route((WebFile(f"{hub.url}/gone.jsonl", "0" * 64),), readers.gsm8k, "x")
        small(hub, recipe=2, mirrors=(away,), origins=(gone,)).install(ignore)


def test_file_put_by_hand_needs_no_network(hub: HubServer, cache: Path) -> None:
    file = WebFile("http://127.0.0.1:9/rows.jsonl", hashlib.sha256(TEXT).hexdigest(), len(TEXT))
    data = small(hub, origins=(Route((file,), readers.gsm8k, COMMIT),))
    with pytest.raises(DataMissing) as caught:
        data.install(ignore)
    place = Path(str(caught.value).partition(" at ")[2].removesuffix(" by hand"))
    place.write_bytes(TEXT)
    data.install(ignore)
    assert len(data.load()) == 12


def test_hub_rows_without_a_pin_say_how_they_were_verified(
    hub: HubServer, cache: Path, tmp_path: Path
) -> None:
    made = rowsets.parquet(tmp_path / "t.parquet", rowsets.mmlu())
    hub.put("cais/mmlu", COMMIT, "all/test.parquet", made.read_bytes())
    route = Route((HubFile("cais/mmlu", COMMIT, "all/test.parquet"),), readers.mmlu, COMMIT)
    data = replace(catalog.MMLU, origins=(route,), rows=6)
    data.install(ignore)
    assert any("hub declares" in note for note in data.state().notes)
    pinned = replace(data, rows_sha256=data.index().rows_sha256, recipe=2)
    pinned.install(ignore)
    assert pinned.state().notes == ()
    assert [task.id for task in pinned.load()] == list(pinned.index().ids)
    assert list(pinned.index().categories) == ["abstract_algebra"] * 3 + ["us_foreign_policy"] * 3


def test_zip_of_a_plain_address_is_a_route(hub: HubServer, cache: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Data/Main/test.jsonl", TEXT)
    hub.files["/all.zip"] = packed.getvalue()
    pinned = WebFile(f"{hub.url}/all.zip", hashlib.sha256(packed.getvalue()).hexdigest())
    route = Route((ZippedFile(pinned, "Data/Main/test.jsonl"),), readers.gsm8k, "v1")
    data = small(hub, origins=(route,))
    data.install(ignore)
    assert len(data.load()) == 12
    assert data.index().source == f"{hub.url}/all.zip: Data/Main/test.jsonl"


def test_parquet_without_pyarrow_is_refused_before_the_download(
    hub: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataMissing, match=r"pytest-benchkit\[hub\]"):
        catalog.MMLU.install(ignore)
    assert hub.asked == []


def test_index_of_the_largest_data_set_is_quick(cache: Path) -> None:
    tasks = [
        Task(f"subject-{place % 57}-{place:05}", place, {"question": "q" * 300}, f"subject_{place % 57}")
        for place in range(14_042)
    ]
    facts = {"name": "mmlu", "recipe": 1, "source": "s", "revision": "r", "verified": "rows"}
    store.write(catalog.MMLU.folder, tasks, facts)
    spent = []
    for _ in range(5):
        start = time.process_time()
        index = catalog.MMLU.index()
        spent.append(time.process_time() - start)
    assert len(index) == 14_042
    assert index.categories[57] == "subject_0"
    assert min(spent) < 0.1
