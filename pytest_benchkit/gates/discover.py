"""Finding and reading the files of a kernels tree (rules D1-D10 and F1-F2 of the gates' specification)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_benchkit.gates.problems import Problem, Sink, escape
from pytest_benchkit.gates.toml_lines import LineIndex

BENCH, HARDWARE, MODEL = "BENCH.toml", "HARDWARE.toml", "MODEL.toml"
POLICY, LEVERS = "GATES.toml", "LEVERS.toml"
NAMES = (BENCH, HARDWARE, MODEL)
DIRECTORY = re.compile(r"[a-z0-9][a-z0-9._-]*")
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Document:
    """One TOML file: what it says (``None`` when it cannot be read) and where its values stand."""

    path: str
    data: dict[str, Any] | None
    line: LineIndex


@dataclass
class Found:
    """The files of a tree by place. Keys: class id, then model directory."""

    root: Path
    shown: str
    hardware: dict[str, Document] = field(default_factory=dict)
    models: dict[tuple[str, str], Document] = field(default_factory=dict)
    benches: dict[tuple[str, str], Document] = field(default_factory=dict)
    policy: Document | None = None
    levers: Document | None = None
    problems: list[Problem] = field(default_factory=list)


def discover(root: Path, shown: str, *, named: bool, compat: bool = False) -> Found:
    """Reads every file of the tree. ``shown`` is the root's name in messages; ``named``: the user asked
    for it, so that it must exist."""
    found = Found(root, shown)
    sink = Sink(shown, compat)
    if not root.is_dir():
        if named:
            sink.add(
                "kernels-missing",
                f"the kernels root {escape(str(root))} is not a directory",
                "name an existing directory with --bench-kernels",
            )
        found.problems = sink.found
        return found
    for path, depth in _files(root, root, shown, compat, found.problems):
        _sort_in(found, path, depth, compat)
    for key in [key for key in found.benches if key[0] not in found.hardware]:
        document = found.benches.pop(key)
        place = Sink(document.path, compat)
        place.add(
            "orphan-bench",
            f"its class directory {key[0]} has no {HARDWARE}",
            f"add {shown}/{key[0]}/{HARDWARE}",
        )
        found.problems += place.found
    found.benches = dict(sorted(found.benches.items(), key=_bytes))
    found.models = {k: v for k, v in sorted(found.models.items(), key=_bytes) if k[0] in found.hardware}
    found.hardware = dict(sorted(found.hardware.items(), key=lambda item: item[0].encode()))
    return found


def _bytes(item: tuple[tuple[str, str], Document]) -> tuple[bytes, bytes]:
    return item[0][0].encode(), item[0][1].encode()


def _files(
    root: Path, folder: Path, shown: str, compat: bool, problems: list[Problem]
) -> Iterator[tuple[Path, int]]:
    """Files with one of our names, with the number of directories between root and file."""
    sink = Sink(shown if folder == root else f"{shown}/{_inside(root, folder)}", compat)
    problems_here = sink.found
    try:
        entries = sorted(os.scandir(os.fsencode(folder)), key=lambda entry: entry.name)
    except OSError as error:
        sink.add("unreadable", f"the directory cannot be read: {error.strerror}", "make it readable")
        problems += problems_here
        return
    depth = len(folder.relative_to(root).parts)
    later: list[Path] = []
    for entry in entries:
        try:
            name = entry.name.decode("utf-8")
        except UnicodeDecodeError:
            sink.add("unreadable", f"the name {entry.name!r} is not UTF-8", "rename it")
            continue
        path = folder / name
        if name.startswith(".") or name == "__pycache__":
            continue
        if entry.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            sink.add(
                "escapes-tree",
                f"{name} links to a place outside the root",
                "copy the file into the tree",
                key=name,
            )
            continue
        if entry.is_dir():
            later.append(path)
        elif name in NAMES or name in (POLICY, LEVERS):
            yield path, depth
        elif (right := {n.casefold(): n for n in NAMES}.get(name.casefold())) is not None:
            sink.add("misnamed-file", f"{name} is not read", f"rename it to {right}", key=name)
    problems += problems_here
    for path in later:
        yield from _files(root, path, shown, compat, problems)


def _inside(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _sort_in(found: Found, path: Path, depth: int, compat: bool) -> None:
    inside = _inside(found.root, path)
    shown = f"{found.shown}/{inside}"
    parts = path.relative_to(found.root).parts
    name = path.name
    right = {BENCH: 2, MODEL: 2, HARDWARE: 1, POLICY: 0, LEVERS: 0}[name]
    if name in (POLICY, LEVERS) and depth:
        return  # only the root's are ours
    if depth != right:
        sink = Sink(shown, compat)
        where = {0: "<root>", 1: "<root>/<class>", 2: "<root>/<class>/<model>"}[right]
        sink.add("misplaced-file", f"{name} is read from {where} only", f"move it to {where}/{name}")
        found.problems += sink.found
        return
    for place, directory in enumerate(parts[:-1]):
        if not DIRECTORY.fullmatch(directory):
            sink = Sink(f"{found.shown}/{'/'.join(parts[: place + 1])}", compat)
            sink.add(
                "bad-directory-name",
                f"{escape(directory)} does not fit {DIRECTORY.pattern}",
                "rename it: it becomes part of test and file names",
            )
            found.problems += [p for p in sink.found if p not in found.problems]
    document, problems = read(path, shown, compat)
    found.problems += problems
    if name == BENCH:
        found.benches[parts[0], parts[1]] = document
    elif name == MODEL:
        found.models[parts[0], parts[1]] = document
    elif name == HARDWARE:
        found.hardware[parts[0]] = document
    elif name == POLICY:
        found.policy = document
    else:
        found.levers = document


def read(path: Path, shown: str, compat: bool = False) -> tuple[Document, list[Problem]]:
    """One TOML file. Floats become ``Decimal`` as written."""
    sink = Sink(shown, compat)
    text = _text(path, sink)
    if text is None:
        return Document(shown, None, LineIndex("")), sink.found
    document, problems = parse(text, shown, compat)
    return document, sink.found + problems


def _text(path: Path, sink: Sink) -> str | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            sink.add("file-too-large", f"{path.stat().st_size} bytes are over 1 MiB", "split it by model")
            return None
        data = path.read_bytes()
    except OSError as error:
        sink.add("unreadable", f"cannot be read: {error.strerror}", "make it readable")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        sink.add(
            "file-encoding",
            f"byte {error.start} is not UTF-8",
            "save it as UTF-8",
            at=data[: error.start].count(b"\n") + 1,
        )
        return None


def parse(text: str, shown: str, compat: bool = False) -> tuple[Document, list[Problem]]:
    """The document of a TOML text, or one ``toml-syntax`` problem."""
    import tomli

    sink = Sink(shown, compat)
    data: dict[str, Any] | None = None
    try:
        data = tomli.loads(text, parse_float=Decimal)
    except (tomli.TOMLDecodeError, RecursionError, ValueError, ArithmeticError) as error:
        line = getattr(error, "lineno", None)
        column = getattr(error, "colno", None)
        cause = getattr(error, "msg", None) or str(error) or type(error).__name__
        place = f" at {line}:{column}" if line is not None else ""
        sink.add("toml-syntax", f"not TOML{place}: {cause}", "correct the syntax there", at=line)
    return Document(shown, data, LineIndex(text)), sink.found
