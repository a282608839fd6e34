"""The ``benchkit`` command: a table of subcommands, each imported only when it is asked for.

To add one: write ``pytest_benchkit/commands/<module>.py`` with ``configure(parser)`` and ``run(args)``, and
a line in :data:`COMMANDS`. ``run`` returns the exit code; a :class:`BenchkitError` becomes one line on
stderr and exit 1, wrong usage exit 2.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING, Protocol

from pytest_benchkit.errors import BenchkitError, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("list_suites", "show the installed suites"),
    "datasets": ("datasets", "show, install or verify data sets"),
    "compare": ("compare", "hold two runs, or two models of one, against each other"),
    "doctor": ("doctor", "look at servers, data, isolation and this machine before a run"),
    "gate": ("gate", "check thresholds, explain them, cut them from runs"),
    "merge": ("merge", "put the parts of a sharded run together"),
    "models": ("models", "install embedded models"),
}
"""Name of each subcommand: its module below ``pytest_benchkit.commands``, and one line of help."""


class Command(Protocol):
    """What a module of a subcommand offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Adds arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Does the work; gives the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``benchkit`` with these arguments (default: those of the process); gives the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="benchkit", description="Benchmarks of language models.", allow_abbrev=False
    )
    parser.add_argument(
        "--version", action="version", version=f"benchkit {_version()}" if "--version" in words else ""
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen: Command | None = None
    for name, (module, told) in COMMANDS.items():
        command = commands.add_parser(name, help=told, description=told, allow_abbrev=False)
        if name == next((word for word in words if not word.startswith("-")), None):
            chosen = importlib.import_module(f"pytest_benchkit.commands.{module}")
            chosen.configure(command)
    try:
        args = parser.parse_args(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 2
    if chosen is None:
        raise AssertionError("argparse accepted a command that is not in the table")
    return _run(chosen, args)


def _run(command: Command, args: argparse.Namespace) -> int:
    try:
        code = command.run(args)
        sys.stdout.flush()
    except UsageProblem as problem:
        print(f"benchkit: {problem}", file=sys.stderr)
        return 2
    except BenchkitError as error:
        print(f"benchkit: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader (head, a pager) has left; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pytest-benchkit")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
