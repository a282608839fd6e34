from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pytest_benchkit.datasets.catalog import DATASETS
from pytest_benchkit.datasets.files import HubFile, WebFile, ZippedFile, describe, path_in
from pytest_benchkit.datasets.subjects import MMLU_AREAS
from pytest_benchkit.datasets.wheels import WheelMember

SHA = re.compile(r"[0-9a-f]{64}")


@pytest.mark.parametrize("name", DATASETS)
def test_entry_is_whole(name: str) -> None:
    entry = DATASETS[name]
    assert entry.name == name
    assert entry.count is not None
    assert entry.licence
    assert entry.citation
    assert entry.rows_sha256 is None or SHA.fullmatch(entry.rows_sha256)
    places = [path_in(file) for route in entry.routes for file in route.files]
    assert len(set(places)) == len(places)
    for route in entry.routes:
        for file in route.files:
            assert describe(file)
            if isinstance(file, WheelMember):
                assert SHA.fullmatch(file.sha256)
                assert SHA.fullmatch(file.wheel_sha256 or "")
                assert entry.rows_sha256 is not None
            elif isinstance(file, ZippedFile):
                assert file.archive.sha256 is not None
                assert SHA.fullmatch(file.archive.sha256)
                assert file.archive.url.startswith("https://")
            elif isinstance(file, WebFile) and file.sha256 is None:
                assert any("by hand" in note for note in entry.notes)
                assert entry.by_hand_only
            elif isinstance(file, WebFile):
                assert file.sha256 is not None
                assert SHA.fullmatch(file.sha256)
                assert file.url.startswith("https://")


def test_only_hub_files_may_lack_a_pinned_hash() -> None:
    for entry in DATASETS.values():
        for route in entry.routes:
            loose = [file for file in route.files if isinstance(file, HubFile) and file.sha256 is None]
            assert all(re.fullmatch("[0-9a-f]{40}", file.revision) for file in loose)


def test_data_sets_under_other_names_have_other_folders() -> None:
    assert len({entry.folder for entry in DATASETS.values()}) == len(DATASETS)


def test_mmlu_has_57_subjects_each_in_one_area() -> None:
    subjects = [subject for area in MMLU_AREAS.values() for subject in area]
    assert len(subjects) == len(set(subjects)) == 57
    assert {area: len(names) for area, names in MMLU_AREAS.items()} == {
        "stem": 18,
        "humanities": 13,
        "social-sciences": 12,
        "other": 14,
    }
    assert "high-school-us-history-" in (DATASETS["mmlu"].id_words or ())


def test_catalog_loads_no_heavy_library() -> None:
    code = (
        "import sys, pytest_benchkit.datasets.catalog\n"
        "heavy = ('httpx', 'aiohttp', 'pydantic', 'pyarrow', 'numpy')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
