"""The folder of one run: ``run.json``, ``records.jsonl``, spools of workers, and what they say together."""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_benchkit.errors import StoreError
from pytest_benchkit.runs import lock
from pytest_benchkit.runs.journal import Journal, Tail
from pytest_benchkit.runs.plain import line, parse, plain
from pytest_benchkit.runs.record import slim
from pytest_benchkit.runs.wellformed import well_formed
from pytest_benchkit.score import Outcome

FINISHED = frozenset(outcome.value for outcome in Outcome if outcome.finished)
RECORDS, INFO, SPOOL, INDEX = "records.jsonl", "run.json", "spool", "records.idx"

LAST = re.compile(r"last(?:~(\d+))?")
"""How a run is named by its age: ``last~1`` is the one before the newest."""


def now_text() -> str:
    """RFC 3339 UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Ledger:
    """The final row of each key, whatever order lines came in (J-6).

    Of several lines of one key the last counts, except that an error never replaces a scored row.
    """

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.superseded = 0
        self.damaged = 0

    def add(self, record: Mapping[str, Any]) -> bool:
        """Whether the record is news (not the same ask again)."""
        key = record["key"]
        old = self.rows.get(key)
        if old is not None:
            if old.get("ask_id") == record.get("ask_id"):
                return False
            self.superseded += 1
            if finished(old) and not finished(record):
                return True
        self.rows[key] = slim(record)
        return True

    def add_line(self, data: bytes) -> dict[str, Any] | None:
        """Takes one stored line; ``None`` when it is damaged, which is counted, or blank."""
        if not data.strip():
            return None
        record = read_record(data)
        if record is None:
            self.damaged += 1
        else:
            self.add(record)
        return record


def read_record(data: bytes) -> dict[str, Any] | None:
    """The record of a stored line; ``None`` when the line is torn, or not as records are written. Every line
    of a run is read here."""
    try:
        record = parse(data)
    except (ValueError, RecursionError):
        return None
    return record if well_formed(record) else None


def finished(row: Mapping[str, Any]) -> bool:
    """Whether a resumed run leaves this row alone."""
    return row["outcome"] in FINISHED


def new_run_dir(root: Path) -> Path:
    """Makes ``<root>/<UTC time to the second>-<six hex digits>`` with exclusive creation."""
    root.mkdir(parents=True, exist_ok=True)
    while True:
        path = root / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path


class RunStore:
    """One run's folder, opened for writing by one process.

    Raises :class:`StoreError` when the folder cannot be used, :class:`~pytest_benchkit.errors.StoreLocked`
    when another live process writes to it.
    """

    def __init__(self, path: Path, *, say: Callable[[str], None] = lambda text: None) -> None:
        self.path = path
        self.ledger = Ledger()
        self.on_record: Callable[[Mapping[str, Any]], None] = lambda record: None
        self._guard = threading.Lock()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the run folder {path}: {error.strerror}") from None
        self._lock = lock.acquire(path, say)
        for row in iter_lines(path / RECORDS):
            self.ledger.add_line(row)
        self.journal = Journal(path / RECORDS)
        self.info: dict[str, Any] = read_info(path) if (path / INFO).exists() else {}
        self._tails: dict[Path, Tail] = {}
        self._grown = False
        self.fold_spools(remove=True)

    def append(self, record: Mapping[str, Any]) -> None:
        """Makes a finished task durable."""
        data = line(record)
        with self._guard:
            self.journal.append(data)
            self.ledger.add(record)
            self._grown = True
        self.on_record(record)

    # ------------------------------------------------------------------ spools of workers

    @property
    def spool(self) -> Path:
        path = self.path / SPOOL
        path.mkdir(exist_ok=True)
        return path

    def fold_spools(self, *, remove: bool = False) -> int:
        """Takes in what workers have written since the last call; returns how many records were new."""
        folder = self.path / SPOOL
        if not folder.is_dir():
            return 0
        count = 0
        for path in sorted(folder.glob("*.jsonl")):
            tail = self._tails.setdefault(path, Tail(path))
            for data in tail.lines():
                count += self._fold(data)
            if remove:
                path.unlink()
                del self._tails[path]
        if remove:
            for leftover in folder.iterdir():
                leftover.unlink()
            folder.rmdir()
        return count

    def _fold(self, data: bytes) -> int:
        record = read_record(data)
        if record is None:
            self.ledger.damaged += 1
            return 0
        known = self.ledger.rows.get(record["key"])
        if known is not None and known.get("ask_id") == record.get("ask_id"):
            return 0
        with self._guard:
            self.journal.append(data + b"\n")
            self.ledger.add(record)
            self._grown = True
        self.on_record(record)
        return 1

    # ------------------------------------------------------------------ run.json and files

    def write_info(self) -> None:
        write_json(self.path / INFO, self.info)

    def write_index(self) -> None:
        """``records.idx``: key, outcome, output tokens and milliseconds per row; may be deleted at any time.

        Written only when records have come since it was."""
        if not self._grown and (self.path / INDEX).exists():
            return
        rows = []
        for key, row in self.ledger.rows.items():
            timing = row.get("timing", {})
            rows.append(
                [key, row["outcome"], row.get("usage", {}).get("output_tokens"), timing.get("e2e_ms")]
            )
        write_atomic(self.path / INDEX, b"\n".join(line(row).strip() for row in rows) + b"\n")

    def close(self) -> None:
        self.journal.close()
        self._lock.unlink(missing_ok=True)


def iter_lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            yield from file


def read_info(path: Path) -> dict[str, Any]:
    """``run.json`` of a run folder. Raises :class:`StoreError` when there is none that can be read."""
    file = path / INFO
    try:
        info = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{path} is not a run folder: it has no {INFO}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{file} cannot be read: {error}") from None
    if not isinstance(info, dict) or not isinstance(info.get("schema"), int) or not _is_info(info):
        raise StoreError(f"{file} is not a run's description")
    if info["schema"] > 1:
        raise StoreError(f"{file} has schema {info['schema']}, newer than this version reads (1); upgrade")
    return info


def runs_newest_first(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Every readable run folder below ``root`` with its ``run.json``, by its last session's start."""
    found = []
    for path in root.iterdir() if root.is_dir() else []:
        try:
            found.append((path, read_info(path)))
        except StoreError:
            continue

    def last_start(run: tuple[Path, dict[str, Any]]) -> tuple[str, str]:
        sessions = run[1].get("sessions") or [{}]
        return str(sessions[-1].get("started_at", "")), run[0].name

    return sorted(found, key=last_start, reverse=True)


def named_run(name: str, root: Path, folder: Path, option: str) -> Path:
    """A run by folder or id, or as ``last``, ``last~1`` ... Raises :class:`StoreError` naming the option when
    there is none."""
    if match := LAST.fullmatch(name):
        runs = [path for path, _ in runs_newest_first(root)]
        place = int(match[1] or 0)
        if place >= len(runs):
            raise StoreError(f"{option}={name}: {root} holds {len(runs)} runs")
        return runs[place]
    for path in (folder / name, root / name):
        if (path / INFO).exists():
            return Path(os.path.normpath(path))
    raise StoreError(f"{option}={name}: no run folder of that name here or in {root}")


def same_run(asked: Mapping[str, Any], root: Path, option: str) -> Path:
    """The newest incomplete run that was asked the same, else the newest one that was.

    Raises :class:`StoreError` naming the option when there is none.
    """
    runs = [(path, info) for path, info in runs_newest_first(root) if info.get("asked") == asked]
    if not runs:
        raise StoreError(
            f"{option}: no earlier run in {root} has these models, suites and paths; name one: {option}=RUN"
        )
    return next((path for path, info in runs if not info.get("complete")), runs[0][0])


def _is_info(info: Mapping[str, Any]) -> bool:
    lists = all(
        isinstance(info.get(name, []), list) and all(isinstance(entry, dict) for entry in info.get(name, []))
        for name in ("sessions", "models", "suites", "settings", "warnings")
    )
    named = lists and all("name" in entry for name in ("models", "suites") for entry in info.get(name, []))
    plan = info.get("plan", {})
    return named and isinstance(plan, dict) and isinstance(plan.get("cells", []), list)


def read_ledger(path: Path) -> Ledger:
    """All rows of a run folder, read without locking it."""
    ledger = Ledger()
    for data in iter_lines(path / RECORDS):
        ledger.add_line(data)
    for spool in sorted((path / SPOOL).glob("*.jsonl")):
        for data in Tail(spool).lines():
            ledger.add_line(data)
    return ledger


def iter_records(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole stored record with its texts, superseded ones included, in file order."""
    for data in iter_lines(path / RECORDS):
        if (record := read_record(data)) is not None:
            yield record


def read_lengths(path: Path) -> dict[str, float]:
    """Measured length of each row of an earlier run (output tokens, else milliseconds), by key."""
    lengths: dict[str, float] = {}
    for data in iter_lines(path / INDEX):
        try:
            key, _, tokens, e2e = parse(data)
        except (ValueError, KeyError, TypeError):
            continue
        if (length := tokens if tokens is not None else e2e) is not None:
            lengths[key] = float(length)
    return lengths


def write_atomic(path: Path, data: bytes) -> None:
    """Temporary name, sync, rename: readers see the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}") from None


def write_json(path: Path, value: object, *, sort_keys: bool = False) -> None:
    text = json.dumps(plain(value), indent=1, sort_keys=sort_keys, ensure_ascii=True, allow_nan=False)
    write_atomic(path, text.encode() + b"\n")
