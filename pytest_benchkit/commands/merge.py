"""``benchkit merge A B ... -o C``: the parts of a sharded run as one run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.commands.suites import suites_of
from pytest_benchkit.commands.table import show
from pytest_benchkit.errors import StoreError

if TYPE_CHECKING:
    import argparse

RUNS = Path(".benchkit") / "runs"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folders or ids of --bench-shard parts")
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="folder of the merged run")


def run(args: argparse.Namespace) -> int:
    """Exit 0; 1 when the runs are not parts of one plan, or a part or records are missing (the run is written
    all the same then, as incomplete)."""
    from pytest_benchkit.reports.files import write_all
    from pytest_benchkit.reports.scores import score_columns
    from pytest_benchkit.reports.table import layout
    from pytest_benchkit.runs.merge import merged_info, objections, session_offsets
    from pytest_benchkit.runs.results import build
    from pytest_benchkit.runs.store import RECORDS, RunStore, iter_records, named_run, read_info, read_ledger

    paths = [named_run(name, RUNS, Path(), "merge") for name in args.runs]
    infos = [read_info(path) for path in paths]
    read = [read_ledger(path) for path in paths]
    ledgers = [ledger.rows for ledger in read]
    if problems := objections(infos, [list(rows) for rows in ledgers]):
        raise StoreError("these runs cannot be put together:\n  " + "\n  ".join(problems))
    out = Path(os.path.normpath(args.out))
    if out.exists() and any(out.iterdir()):
        raise StoreError(f"{out} is not empty: name a new folder")
    store = RunStore(out)
    try:
        for path, rows, offset in zip(paths, ledgers, session_offsets(infos), strict=True):
            for record in iter_records(path):
                last = rows.get(record["key"])
                if last is not None and last["ask_id"] == record["ask_id"]:
                    store.append({**record, "session": record.get("session", 0) + offset})
        store.info = merged_info(infos, out.name, [len(rows) for rows in ledgers])
        store.write_info()
        store.write_index()
        own = {name: suite.metrics for name, suite in suites_of(store.info).items()}
        results = build(store.info, list(store.ledger.rows.values()), own)
        problems = write_all(results, out)
    finally:
        store.close()
    show([*layout(score_columns(results["results"])), ""])
    if banner := results["run"].get("banner"):
        problems.append(banner.partition(";")[0])
    problems += [
        f"{path}: {_lines(ledger.damaged)} of {RECORDS} cannot be read"
        for path, ledger in zip(paths, read, strict=True)
        if ledger.damaged
    ]
    show([*problems, f"merged {len(paths)} parts into {out}"])
    return int(bool(problems))


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
