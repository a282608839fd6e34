"""The kinds of files that a data set can come from, as plain values; getting them is elsewhere."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from pytest_benchkit.datasets.wheels import WheelMember

HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file at a plain address, pinned by its sha256; GitHub's raw files at a commit are such files.

    Without a hash nobody has checked a copy yet: the file is never downloaded, only taken where a person
    has put it. ``name`` is what the file is called here, where a data set has two files of one name.
    """

    url: str
    sha256: str | None
    bytes: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ZippedFile:
    """One member of a zip archive at a plain address; the pinned hash of the archive covers it."""

    archive: WebFile
    member: str


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a data set repository of the Hugging Face hub at a full commit id.

    The commit id fixes the content. While ``sha256`` is not pinned, the file is held against the hash
    that the hub itself declares for it at that commit.
    """

    repo: str
    revision: str
    path: str
    sha256: str | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(f"{self.repo}: the revision must be a full commit id, not {self.revision!r}")

    @property
    def url(self) -> str:
        base = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
        return f"{base}/datasets/{self.repo}/resolve/{self.revision}/{self.path}"


File = WheelMember | WebFile | ZippedFile | HubFile


def path_in(file: File) -> str:
    """Where the file lies below a data set's ``files`` folder: a folder per source, then its own name."""
    if isinstance(file, WheelMember):
        return f"{file.distribution}-{file.version}/{file.name or PurePosixPath(file.member).name}"
    if isinstance(file, HubFile):
        return f"hub/{PurePosixPath(file.path).name}"
    if isinstance(file, ZippedFile):
        file = file.archive
    parts = urlsplit(file.url)
    return f"{parts.hostname or 'web'}/{file.name or PurePosixPath(parts.path).name}"


def describe(file: File) -> str:
    """The file's home in a few words, for reports."""
    if isinstance(file, WheelMember):
        return f"PyPI {file.distribution} {file.version}: {file.member}"
    if isinstance(file, HubFile):
        return f"{HUB.removeprefix('https://')}/datasets/{file.repo}: {file.path}"
    if isinstance(file, ZippedFile):
        return f"{file.archive.url}: {file.member}"
    return file.url


def declared_bytes(file: File) -> int | None:
    """The size told by the catalog, where it is known."""
    return file.archive.bytes if isinstance(file, ZippedFile) else file.bytes
