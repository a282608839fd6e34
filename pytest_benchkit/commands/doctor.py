"""``benchkit doctor``: will a run work here, and if not, what to do. Installs and changes nothing."""

from __future__ import annotations

import asyncio
import difflib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.commands.table import show, show_json
from pytest_benchkit.errors import UsageProblem

if TYPE_CHECKING:
    import argparse

    from pytest_benchkit.engine.checkup import Check
    from pytest_benchkit.engine.preflight import Preflight, Prepared
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.reply import Exchange
    from pytest_benchkit.suite import Suite

WIDTH = 22


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--bench-model",
        action="append",
        default=[],
        metavar="NAME[@URL]",
        help="model to look at; repeatable",
    )
    add("--suite", action="append", default=[], metavar="KEY", help="suite that is to run; repeatable")
    add("--settings", action="store_true", help="show every setting, not only those that somebody set")
    add("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Exit 0; 1 when a check fails."""
    from pytest_benchkit.engine import checkup
    from pytest_benchkit.engine.preflight import missing_modules

    specs = [_spec(name) for name in args.bench_model]
    suites = _suites(args.suite)
    checks = checkup.settings_checks(specs, _unknown_variables(), everything=args.settings)
    for spec in specs:
        checks += _model_checks(spec, suites)
    checks += checkup.sandbox_checks(suites)
    checks += checkup.data_checks(suites)
    checks += checkup.library_checks(missing_modules(suites))
    checks += checkup.machine_checks(Path.cwd())
    failed = sum(check.state == "fail" for check in checks)
    if args.json:
        fields = ("section", "name", "state", "seen", "todo")
        show_json({"checks": [{name: getattr(check, name) for name in fields} for check in checks]})
    else:
        show(_lines(checks))
    return int(failed > 0)


def _lines(checks: list[Check]) -> list[str]:
    from pytest_benchkit.reports.format import safe

    lines: list[str] = []
    section = ""
    for check in checks:
        if check.section != section:
            section = check.section
            lines += ["", section] if lines else [section]
        todo = f"; {check.todo}" if check.todo else ""
        lines.append(safe(f"  {check.state:<5} {check.name:<{WIDTH}} {check.seen}{todo}"))
    counts = {
        state: sum(check.state == state for check in checks) for state in ("pass", "warn", "fail", "n/a")
    }
    return [*lines, "", ", ".join(f"{count} {state}" for state, count in counts.items() if count)]


# ---------------------------------------------------------------------- what is asked for


def _spec(name: str) -> ModelSpec:
    from pytest_benchkit.models.profiles import resolve_model
    from pytest_benchkit.plugin.asked import profiles

    return resolve_model(
        name, command_line={}, environ=dict(os.environ), profiles=profiles(Path.cwd()), ini={}
    )


def _suites(keys: list[str]) -> list[Suite]:
    from pytest_benchkit.commands.list_suites import project_suites
    from pytest_benchkit.errors import SuiteError
    from pytest_benchkit.registry import find_suite, load_suites

    own = {suite.key: suite for ref in project_suites() for suite in load_suites(ref.path)}
    try:
        return [(own.get(key) or find_suite(key))() for key in keys]
    except SuiteError as error:
        raise UsageProblem(str(error)) from None


def _unknown_variables() -> dict[str, str]:
    """``BENCHKIT_*`` variables that mean nothing, each with the nearest one that does."""
    from pytest_benchkit.plugin.controller import OTHER_VARIABLES
    from pytest_benchkit.settings import definitions

    known = {definition.env for definition in definitions()} | OTHER_VARIABLES
    strange = sorted(name for name in os.environ if name.startswith("BENCHKIT_") and name not in known)
    return {name: next(iter(difflib.get_close_matches(name, known, n=1)), "") for name in strange}


# ---------------------------------------------------------------------- a model


def _model_checks(spec: ModelSpec, suites: list[Suite]) -> list[Check]:
    from pytest_benchkit.engine import checkup
    from pytest_benchkit.engine.preflight import Preflight
    from pytest_benchkit.engine.template_check import template_checks

    with tempfile.TemporaryDirectory() as folder:
        preflight = Preflight(lambda line: None, Path(folder))
        try:
            checks, ready = checkup.endpoint_checks(spec, lambda: _prepared(preflight, spec))
            if ready is not None:
                checks += checkup.reply_checks(spec, ready, lambda: _ask(spec, ready))
                checks += template_checks(spec, ready)
                checks += checkup.decision_checks(suites, ready)
        finally:
            preflight.close()
    return checks


def _prepared(preflight: Preflight, spec: ModelSpec) -> Prepared:
    [ready] = preflight.prepare([spec], {}, warm=False)
    return ready


def _ask(spec: ModelSpec, ready: Prepared) -> Exchange:
    """The request that warms a model up, and what came of it."""
    return asyncio.run(_ask_once(spec, ready))


async def _ask_once(spec: ModelSpec, ready: Prepared) -> Exchange:
    from pytest_benchkit.engine.checkup import REPLY_LIMIT_S
    from pytest_benchkit.engine.lanes import build_lane
    from pytest_benchkit.engine.preflight import warm_up_request
    from pytest_benchkit.models.limits import SharedHold, Ticket
    from pytest_benchkit.reply import Exchange, Failure, Reply

    lane = build_lane(spec, ready, share=1, hold=SharedHold(), say=lambda line: None, registered={})
    try:
        async with asyncio.timeout(REPLY_LIMIT_S):
            exchange = await lane.model.ask(warm_up_request(lane), Ticket(lane.slots, taken=False))
    except TimeoutError:
        words = f"no reply of 8 tokens within {REPLY_LIMIT_S:g} s"
        exchange = Exchange(Reply(), Failure("request", words, "deadline"))
    finally:
        await lane.model.aclose()
    ready.dropped = sorted(getattr(lane.model, "dropped", ()))
    return exchange
