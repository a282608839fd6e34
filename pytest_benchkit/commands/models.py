"""``benchkit models install NAME``: the weights of the embedded model, fetched like a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_benchkit.commands.table import show
from pytest_benchkit.errors import UsageProblem

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    install = actions.add_parser("install", help="get the weights of an embedded model", allow_abbrev=False)
    install.add_argument("names", nargs="+", metavar="NAME", help="smollm2-135m")


def run(args: argparse.Namespace) -> int:
    """Exit 0 when all are there. Raises :class:`UsageProblem` for an unknown name."""
    from pytest_benchkit.models import weights

    for name in args.names:
        if name != weights.NAME:
            raise UsageProblem(f"no embedded model {name!r}: the one there is, is {weights.NAME}")
    file = weights.ensure(lambda line: show([line]))
    show([f"{weights.NAME}: {file}"])
    return 0
