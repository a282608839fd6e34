from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.datasets.hubserver import HubServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BENCHKIT_CACHE", str(folder))
    return folder


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A server that speaks the hub's routes; ``HF_ENDPOINT`` points at it, waits are short."""
    monkeypatch.setattr("pytest_benchkit.datasets.download.FIRST_WAIT_S", 0.01)
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HF_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
