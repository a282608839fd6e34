"""``benchkit compare A B``: which is better, by how much, how sure, and which rows changed."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.commands.table import show, show_json, width_of_stdout
from pytest_benchkit.errors import StoreError, UsageProblem

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pytest_benchkit.runs.compare import Side

RUNS = Path(".benchkit") / "runs"
NOTHING_COMPARED = 3
ALLOW = ("data", "prompt", "scorer", "selection", "hardware")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("a", metavar="A", help="run folder, results.json, run id, last, or last~N")
    add("b", metavar="B", nargs="?", help="the same; left out to compare two models of one run")
    add("--suite", action="append", default=[], metavar="KEY", help="only this suite; repeatable")
    add("--model", action="append", default=[], metavar="NAME", help="the model; twice: that of A, that of B")
    add("--allow", action="append", default=[], choices=ALLOW, help="compare although this differs")
    add("--rows", type=int, default=10, metavar="N", help="changed rows shown each way (default: 10)")
    add("--json", nargs="?", const="-", metavar="OUT", help="the whole comparison as JSON")
    add(
        "--fail-on",
        action="append",
        default=[],
        metavar="KIND[:PP]",
        help="exit 1 on: regression, score:PP, speed:PERCENT, incomplete",
    )


def run(args: argparse.Namespace) -> int:
    """Exit 0; 1 when a ``--fail-on`` is met or a run cannot be read; 2 when there is no such run, model or
    suite; 3 when no suite could be compared."""
    from pytest_benchkit.reports.comparison import comparison_lines
    from pytest_benchkit.runs.compare import compare

    checks = [_check_of(text) for text in args.fail_on]
    a, b = _sides(args)
    _refuse_unknown(args.suite, a, b)
    document = compare(a, b, allow=frozenset(args.allow), suites=args.suite)
    if args.json == "-":
        show_json(document)
    else:
        show(comparison_lines(document, width_of_stdout(), args.rows))
        if args.json:
            from pytest_benchkit.runs.store import write_json

            write_json(Path(args.json), document)
    if not document["suites"]:
        return NOTHING_COMPARED
    met = [words for check, limit in checks for words in _met(check, limit, document)]
    if met and args.json != "-":
        show([f"failed: {words}" for words in met])
    return int(bool(met))


# ---------------------------------------------------------------------- which runs


def _sides(args: argparse.Namespace) -> tuple[Side, Side]:
    if len(args.model) > 2:
        raise UsageProblem("--model may be given once for both sides, or twice: that of A, then that of B")
    if args.b is None and len(args.model) != 2:
        raise UsageProblem("one run needs two --model to compare; or name a second run")
    wanted = args.model * 2 if len(args.model) == 1 else args.model or [None, None]
    first = _side(args.a, wanted[0])
    second = _side(args.b if args.b is not None else args.a, wanted[1], like=first.model)
    return first, second


def _side(name: str, model: str | None, like: str | None = None) -> Side:
    """A run and its model: the one asked for, the only one, or the one that the other side has too."""
    from pytest_benchkit.runs.compare import Side

    label, info, results, rows, damaged = _read(name)
    models = list(dict.fromkeys(entry["model"] for entry in results["results"]))
    if model is None:
        model = like if like in models else models[0] if len(models) == 1 else None
    if model is None or model not in models:
        said = f"has no model {model!r}" if model else "has several models: name one with --model"
        raise UsageProblem(f"{name} {said}; it has: {', '.join(models) or 'none'}")
    return Side(label, model, info, results, rows, damaged)


def _refuse_unknown(suites: list[str], a: Side, b: Side) -> None:
    """A suite that neither side has is a slip of the hand, not a suite that could not be compared."""
    names = {cell[0] for side in (a, b) for cell in side.entries()}
    known = sorted(names | {name.partition(":")[0] for name in names})
    for suite in suites:
        if suite not in known:
            near = difflib.get_close_matches(suite, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageProblem(f"--suite={suite}: neither run has it; {hint}they have: {', '.join(known)}")


def _read(name: str) -> tuple[str, Mapping[str, Any], Mapping[str, Any], list[Any] | None, int]:
    """Label, ``run.json``, results, rows and number of damaged lines of a run; without rows for a lone
    ``results.json``."""
    from pytest_benchkit.runs.store import INFO, read_info, read_ledger

    path = _path_of(name)
    if path.is_file():
        results = _results_file(path)
        folder = path.parent
        if not (folder / INFO).exists():
            return path.name, _facts_of(results), results, None, 0
        path = folder
    info, ledger = read_info(path), read_ledger(path)
    rows = list(ledger.rows.values())
    if not rows and (path / "results.json").exists():
        return path.name, info, _results_file(path / "results.json"), None, ledger.damaged
    return path.name, info, _results(path, info, rows), rows, ledger.damaged


def _path_of(name: str) -> Path:
    from pytest_benchkit.runs.store import INFO, LAST, named_run

    if LAST.fullmatch(name):
        try:
            return named_run(name, RUNS, Path(), "compare")
        except StoreError as error:
            raise UsageProblem(str(error)) from None
    for path in (Path(name), RUNS / name):
        if path.is_file() or (path / INFO).exists() or (path / "results.json").exists():
            return Path(os.path.normpath(path))
    raise UsageProblem(f"{name}: no run folder and no results.json of that name here or in {RUNS}")


def _results_file(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes(), parse_constant=_no_constant)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is not a readable results.json: {error}") from None
    if not isinstance(found, dict) or found.get("kind") != "benchkit-results" or "results" not in found:
        raise StoreError(f"{path} is no results.json of pytest-benchkit")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _results(path: Path, info: Mapping[str, Any], rows: list[Any]) -> Mapping[str, Any]:
    """The stored results where they are; a run that was killed has none, and they are built from its rows."""
    from pytest_benchkit.runs.results import build

    stored = path / "results.json"
    return _results_file(stored) if stored.exists() else build(info, rows, {})


def _facts_of(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a lone ``results.json`` tells of its run."""
    run = results.get("run", {})
    return {"models": run.get("models", []), "hardware": run.get("hardware"), "tool": run.get("tool")}


# ---------------------------------------------------------------------- --fail-on


def _check_of(text: str) -> tuple[str, float]:
    kind, colon, amount = text.partition(":")
    if kind in ("regression", "incomplete") and not colon:
        return kind, 0.0
    try:
        limit = float(amount)
    except ValueError:
        limit = -1.0
    if kind not in ("score", "speed") or not 0 <= limit < 1000:
        raise UsageProblem(f"--fail-on={text}: it takes regression, score:PP, speed:PERCENT or incomplete")
    return kind, limit


def _met(kind: str, limit: float, document: Mapping[str, Any]) -> list[str]:
    """Sentences on what a check found."""
    suites = document["suites"]
    if kind == "incomplete":
        sides = [side for side in (document["a"], document["b"]) if not side["complete"]]
        return [f"{side['run']} is not complete" for side in sides]
    if kind == "regression":
        return [
            f"{e['suite']} is worse by {-e['delta_pp']:.1f} pp" for e in suites if e.get("verdict") == "worse"
        ]
    if kind == "score":
        worse = [e for e in suites if e.get("delta_pp", 0) < -limit and e.get("ci_pp", [0, 0])[1] < 0]
        return [f"{e['suite']} is worse by {-e['delta_pp']:.1f} pp, more than {limit:g}" for e in worse]
    found = []
    for entry in document["speed"]:
        if "ratio" not in entry:
            continue
        slower = entry["time"].endswith("_ms")
        change = 100 * (entry["ratio"] - 1) * (1 if slower else -1)
        sure = entry["ci"][0] > 1 if slower else entry["ci"][1] < 1
        if change > limit and sure:
            found.append(f"{entry['time']} is worse by {change:.1f} %, more than {limit:g}")
    return found
