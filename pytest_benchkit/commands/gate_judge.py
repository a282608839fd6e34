"""``benchkit gate judge RUN``: the verdicts on a stored run, such as one that was merged from its parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.commands.table import show, show_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pytest_benchkit.gates.runs import Subject
    from pytest_benchkit.gates.tree import Tree
    from pytest_benchkit.gates.verdict import GateVerdict

RUNS = Path(".benchkit") / "runs"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="run folder or id")
    parser.add_argument("--required", action="store_true", help="exit 1 also when a gate is not judged")
    parser.add_argument("--hardware", metavar="ID", help="hardware class (default: that of this machine)")
    parser.add_argument("--checkpoint", metavar="ID", help="checkpoint that the models are held to")
    parser.add_argument("--kernels", metavar="PATH", help="kernels root (default: kernels)")
    parser.add_argument("--json", action="store_true", help="print the gate document")


def run(args: argparse.Namespace, tree: Tree) -> int:
    """Exit 0; 1 when a gate fails, or with ``--required`` is not judged, or no gate applies."""
    from pytest_benchkit.gates.runs import Run, judge_run
    from pytest_benchkit.gates.verdict import closing, document
    from pytest_benchkit.runs.store import named_run, read_info, read_ledger, write_json

    path = named_run(args.run, RUNS, Path(), "gate judge")
    info, ledger = read_info(path), read_ledger(path)
    rows = list(ledger.rows.values())
    results, kinds = _measured(path, info, rows)
    verdicts = judge_run(tree, Run(info, results, rows, kinds), _subject(args, tree, info))
    if (info.get("sessions") or [{}])[-1].get("reason") == "decided":
        verdicts = [_settled(verdict, info, rows) for verdict in verdicts]
    fails = any(verdict.verdict == "fail" for verdict in verdicts)
    unjudged = not verdicts or any(verdict.verdict == "not-judged" for verdict in verdicts)
    failed = fails or (args.required and unjudged)
    mode = "required" if args.required else "auto"
    found = document(path.name, mode, verdicts, tree.problems, fails=failed)
    write_json(path / "gate.json", found)
    if args.json:
        show_json(found)
    else:
        lines = [f"{ledger.damaged} damaged rows are left out"] if ledger.damaged else []
        lines += [line for verdict in verdicts for line in verdict.lines()]
        show([*lines, closing(verdicts) if verdicts else "no gate applies to this run"])
    return int(failed)


def _settled(verdict: GateVerdict, info: Mapping[str, Any], rows: list[Any]) -> GateVerdict:
    """What an early stop had settled is still settled."""
    from pytest_benchkit.gates.watching import settled

    axes = (verdict.model, verdict.harness, verdict.perturbation or "none")
    for cell in info.get("plan", {}).get("cells", []):
        suite = cell["suite"].partition(":")[0]
        same = (cell["model"], cell["harness"], cell["perturbation"]) == axes
        if verdict.entry is not None and suite == verdict.entry.suite_key and same:
            names = ("suite", "model", "harness", "perturbation")
            mine = [row for row in rows if all(row[name] == cell[name] for name in names)]
            return settled(verdict, mine, cell["planned"])
    return verdict


def _measured(
    path: Path, info: Mapping[str, Any], rows: list[Any]
) -> tuple[Mapping[str, Any], dict[str, Mapping[str, str]]]:
    """The results of the run, with the metrics of its suites, and the kinds of these."""
    from pytest_benchkit.commands.suites import suites_of
    from pytest_benchkit.runs.results import build

    suites = suites_of(info)
    own = {name: suite.metrics for name, suite in suites.items()}
    kinds = {suite.key: suite.metric_kinds for suite in suites.values()}
    return build(info, rows, own), kinds


def _subject(args: argparse.Namespace, tree: Tree, info: Mapping[str, Any]) -> Subject:
    from pytest_benchkit.gates.baseline import Reason
    from pytest_benchkit.gates.devices import probe
    from pytest_benchkit.gates.runs import Subject
    from pytest_benchkit.gates.subject import hardware_of_run

    classes: dict[str, str | Reason] = {}
    for model in info.get("models", []):
        urls = [endpoint["url"] for endpoint in model.get("endpoints", [])]
        classes[model["name"]] = hardware_of_run(tree, args.hardware, urls, probe)
    nothing = Reason("hardware-unknown", "no class is known", "name one with --hardware")
    checkpoints: dict[str | None, str] = {None: args.checkpoint} if args.checkpoint else {}
    return Subject(args.hardware or nothing, checkpoints, classes)
