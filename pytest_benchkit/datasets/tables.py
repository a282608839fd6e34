"""Rows out of files: JSON lines, CSV, parquet. Always UTF-8, line ends as they are."""

from __future__ import annotations

import csv
import importlib.util
import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import DataFault, DataMissing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file by its ending: ``.parquet``, ``.csv``, else JSON lines."""
    return {".parquet": parquet, ".csv": csv_rows}.get(path.suffix, json_lines)(path)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-lines file. Raises :class:`DataFault` with the line's number."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise DataFault(f"{path}, line {number} is not JSON in UTF-8: {error}") from None
            if not isinstance(row, dict):
                raise DataFault(f"{path}, line {number} is not a JSON object")
            yield row


def csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a CSV file with a header line, quoted line breaks kept."""
    with path.open(encoding="utf-8", newline="") as file:
        try:
            yield from csv.DictReader(file)
        except (csv.Error, ValueError) as error:
            raise DataFault(f"{path} is not a readable CSV file in UTF-8: {error}") from None


def need_parquet(name: str) -> None:
    """Raises :class:`DataMissing` when this machine cannot read parquet files."""
    if importlib.util.find_spec("pyarrow") is None:
        raise DataMissing(
            f"{name} is a parquet file, and pyarrow is not installed: "
            "run `pip install 'pytest-benchkit[hub]'`"
        )


def parquet(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a parquet file. Raises :class:`DataMissing` without pyarrow."""
    need_parquet(path.name)
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise DataFault(f"{path} is not a readable parquet file: {error}") from None
