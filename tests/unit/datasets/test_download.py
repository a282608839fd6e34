from __future__ import annotations

import hashlib
import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets import download
from pytest_benchkit.datasets.files import HubFile, WebFile, ZippedFile
from pytest_benchkit.errors import DataDamaged, DataMissing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.datasets.hubserver import HubServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DATA = bytes(range(256)) * 40_000
SHA = hashlib.sha256(DATA).hexdigest()
FILE = HubFile("me/rows", COMMIT, "data/test.parquet")


def ignore(line: str) -> None:
    """Progress nobody reads."""


def web(hub: HubServer, data: bytes = DATA, sha256: str = SHA, size: int | None = len(DATA)) -> WebFile:
    hub.files["/plain.bin"] = data
    return WebFile(f"{hub.url}/plain.bin", sha256, size)


def test_hub_file_is_verified_against_what_the_hub_declares(hub: HubServer, tmp_path: Path) -> None:
    hub.put("me/rows", COMMIT, "data/test.parquet", DATA)
    said: list[str] = []
    assert download.hub_file(FILE, tmp_path / "f", said.append) == "declared"
    assert (tmp_path / "f").read_bytes() == DATA
    assert any("hash verified" in line for line in said)


def test_git_hash_of_a_small_hub_file_is_understood(hub: HubServer, tmp_path: Path) -> None:
    hub.etag = "git"
    hub.put("me/rows", COMMIT, "data/test.parquet", b"a,b\n1,2\n")
    assert download.hub_file(FILE, tmp_path / "f", ignore) == "declared"


@pytest.mark.parametrize("etag", ["", "0" * 64, "0" * 40])
def test_hub_file_without_a_hash_or_with_another_is_refused(
    hub: HubServer, tmp_path: Path, etag: str
) -> None:
    hub.etag = etag
    hub.put("me/rows", COMMIT, "data/test.parquet", DATA)
    with pytest.raises(DataDamaged, match="not installed"):
        download.hub_file(FILE, tmp_path / "f", ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["f.lock"]


def test_token_goes_to_the_hub_and_never_to_the_cdn(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.gated = True
    hub.put("me/rows", COMMIT, "data/test.parquet", DATA)
    monkeypatch.setenv("HF_TOKEN", "secret-token")
    said: list[str] = []
    download.hub_file(FILE, tmp_path / "f", said.append)
    to_cdn = [asked for asked in hub.asked if asked.path.startswith("cdn ")]
    to_hub = [asked for asked in hub.asked if not asked.path.startswith("cdn ")]
    assert to_cdn
    assert all("authorization" not in asked.headers for asked in to_cdn)
    assert all(asked.headers["authorization"] == "Bearer secret-token" for asked in to_hub)
    assert not any("secret-token" in line for line in said)


def test_gated_file_without_token_says_what_to_do(hub: HubServer, tmp_path: Path) -> None:
    hub.gated = True
    hub.put("me/rows", COMMIT, "data/test.parquet", DATA)
    with pytest.raises(DataMissing, match=r"accept the terms.*HF_TOKEN"):
        download.hub_file(FILE, tmp_path / "f", ignore)


def test_absent_file_is_told_at_once(hub: HubServer, tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="HTTP 404"):
        download.hub_file(FILE, tmp_path / "f", ignore)
    assert len(hub.asked) == 1


def test_busy_server_is_asked_again(hub: HubServer, tmp_path: Path) -> None:
    hub.faults = [429, 503, 500]
    download.web_file(web(hub), tmp_path / "f", ignore)
    assert (tmp_path / "f").read_bytes() == DATA
    assert len(hub.asked) == 4


def test_server_that_stays_busy_is_given_up(hub: HubServer, tmp_path: Path) -> None:
    hub.faults = [503] * 50
    with pytest.raises(DataMissing, match=f"HTTP 503.*sha256 {SHA}.* at .*/f by hand"):
        download.web_file(web(hub), tmp_path / "f", ignore)
    assert len(hub.asked) == download.TRIES


def test_cut_body_is_resumed_where_it_stopped(hub: HubServer, tmp_path: Path) -> None:
    hub.faults = ["cut", "cut"]
    download.web_file(web(hub), tmp_path / "f", ignore)
    assert (tmp_path / "f").read_bytes() == DATA
    starts = [int(asked.headers.get("range", "bytes=0-")[6:-1]) for asked in hub.asked]
    assert starts[0] == 0
    assert starts == sorted(set(starts))


def test_partial_file_of_an_earlier_process_is_resumed(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(DATA[:1000])
    download.web_file(web(hub), tmp_path / "f", ignore)
    assert hub.asked[0].headers["range"] == "bytes=1000-"
    assert (tmp_path / "f").read_bytes() == DATA


def test_partial_file_that_is_too_long_is_dropped(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(DATA + b"more")
    download.web_file(web(hub), tmp_path / "f", ignore)
    assert (tmp_path / "f").read_bytes() == DATA


@pytest.mark.parametrize("size", [len(DATA), None])
def test_wrong_bytes_are_refused_and_leave_nothing(hub: HubServer, tmp_path: Path, size: int | None) -> None:
    hub.faults = ["other"]
    with pytest.raises(DataDamaged, match=f"not the expected {SHA}"):
        download.web_file(web(hub, size=size), tmp_path / "f", ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["f.lock"]


def test_longer_body_than_pinned_is_refused(hub: HubServer, tmp_path: Path) -> None:
    with pytest.raises(DataDamaged, match="pinned 10 bytes"):
        download.web_file(web(hub, size=10), tmp_path / "f", ignore)


def test_offline_is_told_after_two_tries(tmp_path: Path, hub: HubServer) -> None:
    said: list[str] = []
    file = WebFile("http://127.0.0.1:9/plain.bin", SHA, len(DATA))
    with pytest.raises(DataMissing, match=r"without network, put f of http.* at .*/f by hand"):
        download.web_file(file, tmp_path / "f", said.append)
    assert sum("trying again" in line for line in said) == 1


def test_verified_file_is_not_downloaded_again(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(DATA)
    download.web_file(web(hub), tmp_path / "f", ignore)
    assert hub.asked == []


def test_file_put_by_hand_is_taken_when_the_hub_is_away(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (tmp_path / "f").write_bytes(DATA)
    assert download.hub_file(FILE, tmp_path / "f", ignore) == "by-hand"


def test_file_in_place_is_held_against_the_hub(hub: HubServer, tmp_path: Path) -> None:
    hub.put("me/rows", COMMIT, "data/test.parquet", DATA)
    (tmp_path / "f").write_bytes(DATA)
    assert download.hub_file(FILE, tmp_path / "f", ignore) == "declared"
    assert [asked.method for asked in hub.asked] == ["HEAD"]
    (tmp_path / "f").write_bytes(b"something else")
    assert download.hub_file(FILE, tmp_path / "f", ignore) == "declared"
    assert (tmp_path / "f").read_bytes() == DATA


def test_endless_redirects_end(hub: HubServer, tmp_path: Path) -> None:
    hub.files["/datasets/loop"] = b""
    hub.cdn_url = hub.url
    with pytest.raises(DataMissing, match="redirects more than"):
        download.web_file(WebFile(f"{hub.url}/datasets/loop", SHA), tmp_path / "f", ignore)


def test_zip_member_is_unpacked(hub: HubServer, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/val.jsonl", "{}\n")
    pinned = web(hub, packed.getvalue(), hashlib.sha256(packed.getvalue()).hexdigest(), None)
    download.web_file(pinned, tmp_path / "a.zip", ignore)
    assert download.unzipped(ZippedFile(pinned, "folder/val.jsonl"), tmp_path / "a.zip").read_text() == "{}\n"
    with pytest.raises(DataDamaged, match="no member"):
        download.unzipped(ZippedFile(pinned, "other"), tmp_path / "a.zip")
    (tmp_path / "b.zip").write_bytes(b"PK no archive")
    with pytest.raises(DataDamaged, match="not a readable archive"):
        download.unzipped(ZippedFile(pinned, "other"), tmp_path / "b.zip")


def test_revision_must_be_a_full_commit() -> None:
    with pytest.raises(ValueError, match="full commit id"):
        HubFile("me/rows", "main", "x.parquet")


def test_a_file_without_a_pinned_hash_is_only_taken_by_hand(hub: HubServer, tmp_path: Path) -> None:
    hub.files["/plain.bin"] = DATA
    file = WebFile(f"{hub.url}/plain.bin", None, len(DATA))
    target = tmp_path / "f"
    with pytest.raises(DataMissing, match="by hand if you trust it"):
        download.web_file(file, target, ignore)
    assert not target.exists()
    target.write_bytes(DATA[:-1])
    with pytest.raises(DataDamaged, match="does not have the"):
        download.web_file(file, target, ignore)
    target.write_bytes(DATA)
    assert download.web_file(file, target, ignore) == "by-hand"
