"""Every hub route of the catalog, at its own repository, commit and path, with rows of ours."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.catalog import DATASETS
from pytest_benchkit.datasets.files import HubFile
from pytest_benchkit.datasets.sources import TASK_ID
from pytest_benchkit.datasets.wheels import WheelMember
from tests.unit.datasets import rowsets

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchkit.datasets.sources import Route
    from tests.unit.datasets.hubserver import HubServer


def hub_route(name: str) -> Route | None:
    return next((r for r in DATASETS[name].origins if isinstance(r.files[0], HubFile)), None)


ON_THE_HUB = [name for name in DATASETS if hub_route(name) is not None]


@pytest.mark.parametrize("name", ON_THE_HUB)
def test_hub_route_installs(name: str, hub: HubServer, cache: Path, tmp_path: Path) -> None:
    route = hub_route(name)
    assert route is not None
    file = route.files[0]
    assert isinstance(file, HubFile)
    rows = rowsets.hub_rows(name)
    made = tmp_path / file.path.rpartition("/")[2]
    if made.suffix == ".csv":
        with made.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif made.suffix == ".json":
        made.write_text(json.dumps(rows), encoding="utf-8")
    elif made.suffix == ".jsonl":
        rowsets.jsonl(made, rows)
    else:
        rowsets.parquet(made, rows)
    hub.put(file.repo, file.revision, file.path, made.read_bytes())
    route = replace(route, files=(replace(file, sha256=None, bytes=None),))  # rows of ours have other hashes
    entry = replace(
        DATASETS[name], mirrors=(), origins=(route,), companions=(), rows=len(rows), rows_sha256=None
    )
    entry.install(lambda line: None)
    tasks, index = entry.load(), entry.index()
    assert [task.id for task in tasks] == list(index.ids)
    assert all(TASK_ID.fullmatch(task.id) for task in tasks)
    assert index.revision == file.revision
    words = entry.id_words
    assert words is not None
    assert all(not word or word in words for task in tasks for word in [task.id.rstrip("0123456789")])
    for task in tasks:
        if "options" in task:
            assert 2 <= len(task["options"]) <= 13
            assert "ABCDEFGHIJKLM".index(task["answer"]) < len(task["options"])


def test_every_suite_without_a_mirror_of_all_rows_is_covered() -> None:
    alone = [
        name
        for name, entry in DATASETS.items()
        if not entry.mirrors
        and "/" not in name
        and not entry.by_hand_only
        and not isinstance(entry.origins[0].files[0], WheelMember)
    ]
    assert alone == ["hellaswag", "mmlu", "mmlu-pro", "humaneval-plus-tr"]
    assert set(alone) <= set(ON_THE_HUB)
