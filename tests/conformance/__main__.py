"""``python -m tests.conformance [--all] [--quick] [SUITE ...]``: runs every comparison, prints the table as
markdown. ``--quick`` takes every eighth row of the suites whose programs are run.

Exit status 1 when a scorer disagrees with its evaluator outside the declared deviations, and with ``--all``
when an evaluator is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import sys
import time
from typing import TYPE_CHECKING

import tests.conformance
from pytest_benchkit.errors import SandboxError
from tests.conformance.comparison import Comparison, EvaluatorMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUICK = 8
HEAD = ("suite", "upstream evaluator", "replies compared", "disagreements", "declared", "deviations declared")


def comparisons() -> Iterator[tuple[str, Callable[[], Comparison]]]:
    """Every module of the package that has a ``compare``, by name."""
    for found in pkgutil.iter_modules(tests.conformance.__path__):
        if found.name in ("__main__", "comparison"):
            continue
        module = importlib.import_module(f"{tests.conformance.__name__}.{found.name}")
        if compare := getattr(module, "compare", None):
            yield found.name.removeprefix("test_"), compare


def row(held: Comparison) -> str:
    cells = [
        held.suite,
        held.evaluator,
        f"{held.compared:,}",
        f"{held.found:,}",
        f"{held.declared:,}",
        held.note or "none",
    ]
    return "| " + " | ".join(cells) + " |"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="suites to compare (default: all)")
    parser.add_argument("--all", action="store_true", help="exit 1 when an evaluator is not installed")
    parser.add_argument("--quick", action="store_true", help="fewer rows where programs are run")
    options = parser.parse_args(words)
    print("| " + " | ".join(HEAD) + " |")
    print("|---|---|---:|---:|---:|---|")
    broken, strict, quick, asked = False, options.all, options.quick, options.suites
    for name, compare in comparisons():
        if asked and name not in asked:
            continue
        started = time.monotonic()
        try:
            thin = quick and "every" in inspect.signature(compare).parameters
            held = compare(every=QUICK) if thin else compare()  # type: ignore[call-arg]
        except SandboxError as error:
            print(f"| {name} | not compared: {error} | – | – | – | – |", flush=True)
            broken = True
            continue
        except EvaluatorMissing as error:
            print(f"| {name} | not compared: {error} | – | – | – | – |", flush=True)
            broken = broken or strict
            continue
        print(row(held), flush=True)
        print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr)
        for line in held.disagreements:
            print(f"{name}: {line}", file=sys.stderr)
        broken = broken or held.found > 0
    return int(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
