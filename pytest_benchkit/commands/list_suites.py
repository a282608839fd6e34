"""``benchkit list [WORD]``: the suites of the current folder and the installed ones. Loads no rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.commands.table import megabytes, show, show_json, table, width_of_stdout
from pytest_benchkit.registry import SuiteRef, installed_suites, load_suites

if TYPE_CHECKING:
    import argparse

    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import TaskSource

HEAD = (
    "key tasks data size scoring harnesses perturbations needs overall licence source description".split()  # noqa: SIM905
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "word", nargs="?", metavar="WORD", help="only suites with this word in key or description"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Exit 0; 1 when a word matches no suite."""
    found = [fact for ref in (*project_suites(), *installed_suites().values()) for fact in facts(ref)]
    if args.word:
        word = args.word.lower()
        found = [fact for fact in found if word in fact["key"] or word in fact["description"].lower()]
    if args.json:
        show_json({"suites": found})
    elif found:
        show(table(HEAD, [_row(fact) for fact in found], keep=4, width=width_of_stdout()))
    else:
        show(
            [
                f"no suite has {args.word!r} in its key or description"
                if args.word
                else "no suite is installed"
            ]
        )
    return 0 if found or not args.word else 1


def project_suites() -> list[SuiteRef]:
    """Benchmark files of the current folder that speak of us; one that cannot be imported is named."""
    found = []
    for path in sorted(Path.cwd().glob("bench_*.py")):
        if b"pytest_benchkit" not in path.read_bytes():
            continue
        try:
            load_suites(path)
        except Exception as error:
            print(f"{path.name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        found.append(SuiteRef(path.stem, path, "project file"))
    return found


def facts(ref: SuiteRef) -> list[dict[str, Any]]:
    """What is known of the suites of a file, and of each variant as ``key:variant``."""
    found = []
    for suite in load_suites(ref.path):
        found.append(_facts(suite, suite.key, suite.data, ref))
        found += [_facts(suite, f"{suite.key}:{name}", data, ref) for name, data in suite.variants.items()]
    return found


def _facts(suite: type[Suite], key: str, data: TaskSource, ref: SuiteRef) -> dict[str, Any]:
    state = data.state()
    return {
        "key": key,
        "tasks": data.count,
        "data": state.word,
        "bytes": state.bytes if state.bytes is not None else getattr(data, "declared_bytes", None),
        "bytes_declared": state.bytes is None,
        "scoring": suite.scoring,
        "harnesses": list(suite.harnesses),
        "perturbations": list(suite.perturbations),
        "needs": sorted(suite.needs),
        "in_overall": suite.in_overall,
        "licence": getattr(data, "licence", None),
        "source": ref.origin,
        "description": suite.describe(),
    }


def _row(fact: dict[str, Any]) -> list[str]:
    return [
        fact["key"],
        f"{fact['tasks']:,}" if fact["tasks"] is not None else "not installed",
        fact["data"],
        megabytes(fact["bytes"], declared=fact["bytes_declared"]),
        fact["scoring"],
        ",".join(fact["harnesses"]) or "-",
        ",".join(fact["perturbations"]) or "-",
        ",".join(fact["needs"]) or "-",
        "yes" if fact["in_overall"] else "no",
        fact["licence"] or "-",
        fact["source"],
        fact["description"],
    ]
