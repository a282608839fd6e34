"""``benchkit datasets``: show the data sets of the installed suites, install them, rehash them."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from pytest_benchkit.commands.table import megabytes, show, show_json, table, width_of_stdout
from pytest_benchkit.datasets.catalog import DATASETS
from pytest_benchkit.datasets.draws import Draw
from pytest_benchkit.datasets.mixed import Mixed
from pytest_benchkit.datasets.ruler.source import Ruler
from pytest_benchkit.datasets.sources import Dataset
from pytest_benchkit.errors import DataError
from pytest_benchkit.registry import installed_suites, load_suites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

HEAD = ("key", "state", "size", "rows", "licence", "revision", "source")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    install = actions.add_parser(
        "install", help="get data sets (default: all missing ones)", allow_abbrev=False
    )
    install.add_argument("keys", nargs="*", metavar="KEY", help="data set, suite, or SUITE:VARIANT")
    install.add_argument("--all", action="store_true", help="also those that need terms accepted by hand")
    verify = actions.add_parser("verify", help="rehash what is installed", allow_abbrev=False)
    verify.add_argument("keys", nargs="*", metavar="KEY")


def run(args: argparse.Namespace) -> int:
    """Exit 0 when all is well, 1 when something failed, is damaged or unknown."""
    known = known_datasets()
    if args.action == "install":
        return _install(args.keys, args.all, known)
    if args.action == "verify":
        return _verify(args.keys, known)
    found = [facts(data) for data in dict.fromkeys(known.values())]
    if args.json:
        show_json({"datasets": found})
        return 0
    show(table(HEAD, [_row(fact) for fact in found], keep=4, width=width_of_stdout()))
    if notes := [f"{fact['key']}: {note}" for fact in found for note in fact["notes"]]:
        show(["", *notes])
    if missing := [fact["key"] for fact in found if fact["state"] in ("missing", "damaged")]:
        show(
            [
                "",
                f"not installed: {', '.join(missing)}",
                f"get them: benchkit datasets install {' '.join(missing)}",
            ]
        )
    return 0


def known_datasets() -> dict[str, Dataset]:
    """Data sets by every name a user may give: their own, ``SUITE`` and ``SUITE:VARIANT``."""
    found = dict(DATASETS)
    for ref in installed_suites().values():
        for suite in load_suites(ref.path):
            sources = {suite.key: suite.data} | {
                f"{suite.key}:{name}": s for name, s in suite.variants.items()
            }
            for key, source in sources.items():
                whole = source.whole if isinstance(source, Draw) else source
                if isinstance(whole, Dataset):
                    found.setdefault(key, whole)
                    found.setdefault(source.name, whole)
    return found


def made_of_several() -> dict[str, list[Dataset]]:
    """The data sets of each suite whose rows come out of several."""
    found = {}
    for ref in installed_suites().values():
        for suite in load_suites(ref.path):
            source, parts = suite.data, []
            if isinstance(source, Mixed):
                parts = [data for data, _ in source.parts.values()]
            elif isinstance(source, Ruler):
                parts = [data for data in source.corpora.parts.values() if isinstance(data, Dataset)]
            if parts:
                found[suite.key] = parts
    return found


def facts(data: Dataset) -> dict[str, Any]:
    """State, size, source and revision of a data set, installed or as the catalog declares it."""
    state = data.state()
    route = data.routes[0]
    index = data.index() if state.ready else None
    return {
        "key": data.name,
        "state": state.word,
        "bytes": state.bytes if state.bytes is not None else data.declared_bytes,
        "bytes_declared": state.bytes is None,
        "rows": data.rows,
        "rows_sha256": index.rows_sha256 if index else data.rows_sha256,
        "licence": data.licence,
        "citation": data.citation,
        "revision": index.revision if index else route.revision,
        "source": index.source if index else route.described,
        "notes": list(state.notes),
    }


def _row(fact: dict[str, Any]) -> list[str]:
    size = megabytes(fact["bytes"], declared=fact["bytes_declared"])
    return [
        fact["key"],
        fact["state"],
        size,
        f"{fact['rows']:,}",
        fact["licence"],
        fact["revision"],
        fact["source"],
    ]


def _install(keys: Sequence[str], everything: bool, known: dict[str, Dataset]) -> int:
    chosen, bad = _chosen(keys, known)
    if not keys:
        chosen = [data for data in chosen if everything or not data.by_hand_only]
    return max(bad, _each(chosen, lambda data: data.install(_say)))


def _verify(keys: Sequence[str], known: dict[str, Dataset]) -> int:
    chosen, bad = _chosen(keys, known)
    if not keys:
        chosen = [data for data in chosen if data.state().word != "missing"]
    return max(bad, _each(chosen, _rehash))


def _rehash(data: Dataset) -> None:
    data.verify()
    _say(f"{data.name}: good")


def _chosen(keys: Sequence[str], known: dict[str, Dataset]) -> tuple[list[Dataset], int]:
    if not keys:
        return list(dict.fromkeys(known.values())), 0
    several = made_of_several() if any(key not in known for key in keys) else {}
    found = {key: [known[key]] if key in known else several.get(key, []) for key in keys}
    for key, chosen in found.items():
        if not chosen:
            print(f"benchkit: no data set {key!r}: `benchkit datasets` shows all", file=sys.stderr)
    return list(dict.fromkeys(chain.from_iterable(found.values()))), int(not all(found.values()))


def _each(chosen: Sequence[Dataset], act: Callable[[Dataset], None]) -> int:
    """Does it for every data set; a failure does not stop the others. 1 when one failed."""
    failed = 0
    for data in chosen:
        try:
            act(data)
        except DataError as error:
            failed = 1
            print(f"benchkit: {error}", file=sys.stderr)
    return failed


def _say(line: str) -> None:
    show([line])
    sys.stdout.flush()
