"""``benchkit gate validate | explain | judge | calibrate``: thresholds without a model."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.commands import gate_judge
from pytest_benchkit.commands.table import show, show_json
from pytest_benchkit.errors import UsageProblem

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_benchkit.gates.calibrate import Proposal
    from pytest_benchkit.gates.problems import Problem
    from pytest_benchkit.gates.schema import Bound, Entry
    from pytest_benchkit.gates.tree import Tree

DEFAULT_ROOT = "kernels"
LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
"""GitHub's words for our severities."""


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    validate = actions.add_parser("validate", help="check every threshold file", allow_abbrev=False)
    validate.add_argument("path", nargs="?", metavar="PATH", help="kernels root (default: kernels)")
    validate.add_argument("--compat", action="store_true", help="read by the rules of the format's origin")
    validate.add_argument("--format", choices=("text", "json", "github"), default="text")
    validate.add_argument("--warnings-as-errors", action="store_true")
    explain = actions.add_parser("explain", help="what a gate demands of a run", allow_abbrev=False)
    explain.add_argument("gate", metavar="GATE")
    _subject(explain)
    judge = actions.add_parser("judge", help="verdicts on a stored run", allow_abbrev=False)
    gate_judge.configure(judge)
    calibrate = actions.add_parser("calibrate", help="cut bounds from repeated runs", allow_abbrev=False)
    calibrate.add_argument("runs", nargs="+", metavar="RUN", help="run folders of one subject")
    calibrate.add_argument("--gate", metavar="ID", required=True, help="gate whose entry is measured")
    _subject(calibrate)
    calibrate.add_argument(
        "--metric", action="append", metavar="NAME", help="default: score and samples; repeatable"
    )
    calibrate.add_argument(
        "--false-alarm", type=float, default=0.01, metavar="P", help="share of healthy runs that may fail"
    )
    calibrate.add_argument("--step", metavar="X", help="grid that a bound is rounded to")
    calibrate.add_argument("--allow-one-boot", action="store_true", help="speed bounds from one server start")
    calibrate.add_argument("--write", action="store_true", help="write the bounds into the entry")


def _subject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hardware", metavar="ID", help="class (default: the only one with this gate)")
    parser.add_argument("--checkpoint", metavar="ID", help="checkpoint (default: the default entry)")
    parser.add_argument("--kernels", metavar="PATH", help="kernels root (default: kernels)")


def run(args: argparse.Namespace) -> int:
    """validate: 0 clean, 1 errors. explain: 0. calibrate: 0, 1 refused. Wrong usage is 2."""
    if args.action == "validate":
        return _validate(args)
    if args.action == "judge":
        return gate_judge.run(args, _tree(args.kernels))
    return _explain(args) if args.action == "explain" else _calibrate(args)


def _tree(path: str | None, *, compat: bool = False) -> Tree:
    from pytest_benchkit.gates.suites import rules
    from pytest_benchkit.gates.tree import load

    root = Path(path or DEFAULT_ROOT)
    if not root.is_dir():
        raise UsageProblem(f"{root} is no directory: name the kernels root")
    return load(
        root, root.as_posix(), compat=compat, rules=rules(_project_files), recipes=root.parent / "recipes"
    )


def _project_files() -> list[Path]:
    """Suites of the project in the current folder, at the usual depths."""
    return sorted({*Path.cwd().glob("bench_*.py"), *Path.cwd().glob("*/bench_*.py")})


# ---------------------------------------------------------------------- validate


def _validate(args: argparse.Namespace) -> int:
    from pytest_benchkit.gates.problems import errors

    tree = _tree(args.path, compat=args.compat)
    problems = tree.problems
    warnings = [problem for problem in problems if problem.severity == "warning"]
    failed = bool(errors(problems)) or (args.warnings_as_errors and bool(warnings))
    measured = sum(entry.measured for entry in tree.entries)
    counts = {
        "files": len(tree.files),
        "entries": len(tree.entries),
        "measured": measured,
        "unmeasured": len(tree.entries) - measured,
        "gates": len(tree.gates),
        "classes": len(tree.hardware),
        "errors": len(errors(problems)),
        "warnings": len(warnings),
    }
    if args.format == "json":
        show_json({"problems": [problem.plain() for problem in problems], "counts": counts})
        return int(failed)
    from pytest_benchkit.gates.problems import render

    show([render(p) if args.format == "text" else _annotation(p) for p in problems])
    if args.compat and (more := _added_by_strict(args.path, problems)):
        show([f"compat: strict reading would add {more} problems"])
    show([", ".join(f"{number} {word}" for word, number in counts.items())])
    return int(failed)


def _added_by_strict(path: str | None, problems: Sequence[Problem]) -> int:
    return max(0, len(_tree(path).problems) - len(problems))


def _annotation(problem: Problem) -> str:
    """A workflow command; data and properties are escaped as GitHub asks."""
    from pytest_benchkit.gates.problems import render

    def escaped(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    place = escaped(problem.path).replace(":", "%3A").replace(",", "%2C")
    line = f",line={problem.line}" if problem.line is not None else ""
    return f"::{LEVELS[problem.severity]} file={place}{line}::{escaped(render(problem))}"


# ---------------------------------------------------------------------- explain


def _entry(tree: Tree, args: argparse.Namespace) -> Entry:
    """The entry that the options mean, measured or not. Raises :class:`UsageProblem`."""
    import difflib

    mine = [entry for entry in tree.entries if entry.gate == args.gate]
    if not mine:
        near = difflib.get_close_matches(args.gate, tree.gates, n=1)
        words = f"did you mean {near[0]}?" if near else f"it has: {', '.join(tree.gates) or 'none'}"
        raise UsageProblem(f"{tree.shown} has no gate {args.gate}; {words}")
    for name in ("hardware", "checkpoint"):
        if (asked := getattr(args, name)) is not None:
            known = sorted({getattr(entry, name) for entry in mine})
            mine = [entry for entry in mine if getattr(entry, name) == asked]
            if not mine:
                raise UsageProblem(
                    f"{args.gate} has no entry for --{name}={asked}; it has: {', '.join(known)}"
                )
    if args.checkpoint is None and len(mine) > 1:
        mine = [entry for entry in mine if entry.default] or mine
    if len(mine) > 1:
        subjects = ", ".join(f"{entry.hardware} / {entry.checkpoint}" for entry in mine)
        raise UsageProblem(f"{args.gate} has several entries: {subjects}; add --hardware and --checkpoint")
    return mine[0]


def _explain(args: argparse.Namespace) -> int:
    from pytest_benchkit.gates.explain import explain
    from pytest_benchkit.gates.suites import rules

    tree = _tree(args.kernels)
    entry = _entry(tree, args)
    facts = rules(_project_files).suite
    show(explain(tree, entry, facts(entry.suite_key) if facts is not None else None))
    return 0


# ---------------------------------------------------------------------- calibrate


def _calibrate(args: argparse.Namespace) -> int:
    from pytest_benchkit.gates import campaign
    from pytest_benchkit.gates.suites import rules

    if not 0 < args.false_alarm < 1:
        raise UsageProblem(f"--false-alarm={args.false_alarm}: write a share between 0 and 1")
    tree = _tree(args.kernels)
    entry = _entry(tree, args)
    look = rules(_project_files).suite
    facts = look(entry.suite_key) if look is not None else None
    runs = [_one_run(Path(path), entry, facts.own if facts is not None else {}) for path in args.runs]
    if refused := campaign.refusals(runs):
        show([f"refused [{reason.code}]: {reason.message}. Remedy: {reason.remedy}." for reason in refused])
        return 1
    found = campaign.proposals(
        runs,
        args.metric or (),
        facts,
        false_alarm=args.false_alarm,
        step=_step(args.step),
        existing=entry.metrics or {},
        allow_one_boot=args.allow_one_boot,
    )
    if any(run.simulated for run in runs):
        show(["warning [run-simulated]: the model is a simulation; its bounds say nothing of a real one"])
    for proposal in found:
        show(_lines(proposal))
    bounds = {p.metric: p.bound for p in found if p.bound is not None}
    refused_any = any(p.refusal is not None for p in found)
    if args.write and bounds:
        _write(tree, entry, bounds, _note(runs, args.false_alarm))
    return int(refused_any or not bounds)


def _one_run(path: Path, entry: Entry, own: dict[str, str] | Any) -> Any:
    """The result of the entry's suite and axes in a run. Raises :class:`UsageProblem`."""
    from pytest_benchkit.gates.campaign import read_run

    found = [
        run
        for run in read_run(path, entry.suite_key, entry.wanted[0], own)
        if (run.result.harness, run.result.perturbation) == (entry.harness, entry.perturbation)
    ]
    if len(found) != 1:
        models = ", ".join(run.result.model for run in found) or "none"
        raise UsageProblem(f"{path} must hold one result of {entry.suite_key}; models found: {models}")
    from pytest_benchkit.gates.judge import protocol_mismatches

    if bad := protocol_mismatches(found[0].result, entry):
        raise UsageProblem(f"{path} does not follow the entry: {bad[0].message}; {bad[0].remedy}")
    return found[0]


def _step(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        step = Decimal(text)
    except InvalidOperation:
        step = Decimal(0)
    if not step.is_finite() or step <= 0:
        raise UsageProblem(f"--step={text}: write a number above 0")
    return step


def _lines(proposal: Proposal) -> list[str]:
    """What the runs say about one metric."""
    p = proposal
    if p.refusal is not None:
        return [f"{p.metric}: refused [{p.refusal.code}]: {p.refusal.message}. Remedy: {p.refusal.remedy}."]
    bound = ", ".join(f"{key} = {value}" for key, value in (p.bound.plain() if p.bound else {}).items())
    lines = [
        f"{p.metric}: {bound}",
        f"  {p.k} runs: mean {p.mean:.6g}, sd {p.sd:.4g}, from {p.low:.6g} to {p.high:.6g}",
    ]
    if p.headroom is not None and p.drop_80 is not None and p.drop_95 is not None:
        lines.append(
            f"  headroom {p.headroom:.4g}; catches a drop of {p.drop_80:.4g} in 80 %, {p.drop_95:.4g} in 95 %"
        )
    if p.false_alarms is not None:
        seen, expected = p.false_alarms
        lines.append(
            f"  the bound in use fails {seen:.1%} of these runs, {expected:.1%} of healthy ones expected"
        )
    if p.stale:
        lines.append(
            "  warning [stale-bound]: the bound in use lies more than 3 times as far as the proposed one"
        )
    return lines + [f"  warning [{code}]: {_meaning(code)}" for code in p.warnings]


def _meaning(code: str) -> str:
    from pytest_benchkit.gates.codes import CODES

    return CODES[code].meaning


def _note(runs: Sequence[Any], false_alarm: float) -> str:
    import textwrap

    names = ", ".join(run.run_id for run in runs)
    words = f"Cut by benchkit gate calibrate (false alarm {false_alarm:g}) from {len(runs)} runs: {names}."
    return textwrap.fill(words, 110, break_long_words=False, break_on_hyphens=False)


def _write(tree: Tree, entry: Entry, bounds: dict[str, Bound], note: str) -> None:
    from pytest_benchkit.gates.baseline import assemble
    from pytest_benchkit.gates.write_back import diff, with_bounds
    from pytest_benchkit.runs.store import write_atomic

    path = tree.root / Path(entry.path).relative_to(tree.shown)
    before = path.read_bytes().decode("utf-8")
    place = assemble(tree, entry.gate).get(entry.hardware)
    lonely = place is None or place.default is None
    after = with_bounds(before, entry, bounds, note, make_default=lonely)
    write_atomic(path, after.encode())
    show(diff(before, after, entry.path))
