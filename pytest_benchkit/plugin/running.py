"""Running items: a short protocol for rows, and the reports through which a verdict reaches pytest.

An item's row is asked ahead of time by the engine; its call phase only collects the verdict. pytest's
own protocol costs about 1 ms of CPU an item, the short one a quarter of that; it is used only when
nothing in the session asks for more (a debugger, setup display, another plugin's runtest hooks).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_benchkit.engine.plan import NOT_ASKED, UNNEEDED, Verdict
from pytest_benchkit.plugin.collection import MissedRow, RowError, RowSkipped, TaskItem
from pytest_benchkit.score import Outcome

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession

KNOWN_PLUGINS = frozenset(
    {
        "_pytest",
        "pytest_benchkit",
        "xdist",
        "pytest_html",
        "pytest_metadata",
        "_hypothesis_pytestplugin",
        "anyio",
        "pytest_asyncio",
    }
)
"""Packages whose runtest hooks do nothing to an item that is no test function."""
RUNTEST_HOOKS = (
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
    "pytest_runtest_makereport",
)
FULL_PROTOCOL_OPTIONS = ("usepdb", "trace", "setupshow", "setuponly", "setupplan")
EXCLUDED = frozenset({Outcome.HARNESS_ERROR.value, Outcome.CONTAMINATED.value, NOT_ASKED})
UNSCORED = frozenset({Outcome.SKIPPED.value, UNNEEDED})
MISSES = frozenset(outcome.value for outcome in Outcome if outcome.missed)


def needs_full_protocol(config: pytest.Config) -> bool:
    """Whether something in this session wants to see pytest's own setup, call and teardown of rows."""
    if any(config.getoption(name, False) for name in FULL_PROTOCOL_OPTIONS):
        return True
    for name in RUNTEST_HOOKS:
        for implementation in getattr(config.hook, name).get_hookimpls():
            module = getattr(implementation.function, "__module__", "") or ""
            if module.split(".")[0] not in KNOWN_PLUGINS:
                return True
    return False


def run_loop(session: pytest.Session, bench: BenchSession) -> bool:
    """The run loop of a session without xdist: rows by the short protocol, everything else by pytest's."""
    config = session.config
    if session.testsfailed and not config.option.continue_on_collection_errors:
        raise session.Interrupted(
            f"{session.testsfailed} error{'s' if session.testsfailed != 1 else ''} during collection"
        )
    if config.option.collectonly:
        return True
    full = needs_full_protocol(config)
    items = session.items
    for place, item in enumerate(items):
        if isinstance(item, TaskItem) and not full:
            run_row(item, bench)
        else:
            nextitem = items[place + 1] if place + 1 < len(items) else None
            config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


def run_row(item: TaskItem, bench: BenchSession) -> None:
    """The short protocol of one row."""
    hook = bench.hook_of(item)
    location = item.location
    if not (bench.call_reports_suffice and item.job.key in bench.known and bench.same_file(item)):
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
    verdict = bench.verdict_of(item)
    for report in reports(item, verdict, bench):
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)


def run_stored(item: pytest.Item, bench: BenchSession) -> bool:
    """Reports a test function whose record an earlier session wrote; ``False`` when there is none."""
    if not bench.known or isinstance(item, TaskItem):
        return False
    from pytest_benchkit.plugin.fixtures import job_of

    job = job_of(item)
    row = bench.known.get(job.key) if job is not None else None
    if row is None:
        return False
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    verdict = Verdict.of(row, stored=True)
    # what a function scored partly had passed; what it asserted in vain had failed
    strict = verdict.outcome != Outcome.PARTIAL
    hook.pytest_runtest_logreport(report=report_of(item.nodeid, item.location, verdict, strict))
    hook.pytest_runtest_logreport(report=_report(item.nodeid, item.location, "passed", "teardown", None))
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def reports(item: TaskItem, verdict: Verdict, bench: BenchSession) -> Iterator[pytest.TestReport]:
    """The reports of a row: its call (or the setup that could not be), and a teardown that closes it."""
    stop = time.time()
    report = report_of(item.nodeid, item.location, verdict, bench.options.strict)
    report.duration = verdict.seconds
    report.start, report.stop = stop - verdict.seconds, stop
    if bench.options.junit_properties:
        report.user_properties = properties(item, verdict)
    yield report
    if not (verdict.stored and bench.call_reports_suffice):
        closing = _report(item.nodeid, item.location, "passed", "teardown", None)
        closing.user_properties = report.user_properties  # JUnit reads them off this one
        yield closing


def report_of(
    nodeid: str, location: tuple[str, int | None, str], verdict: Verdict, strict: bool
) -> pytest.TestReport:
    """A verdict in pytest's words. A miss goes through the expected-failure channel (`wasxfail`)."""
    outcome = verdict.outcome
    if outcome == Outcome.CORRECT:
        report = _report(nodeid, location, "passed", "call", None)
    elif outcome in MISSES and strict:
        report = _report(nodeid, location, "failed", "call", f"{outcome}: {verdict.reason}")
    elif outcome in MISSES:
        report = _report(nodeid, location, "skipped", "call", None)
        report.wasxfail = verdict.reason
    elif outcome in UNSCORED:
        report = _report(
            nodeid, location, "skipped", "setup", (location[0], location[1] or 0, verdict.reason)
        )
    else:
        report = _report(nodeid, location, "failed", "setup", verdict.reason)
    report.bench = verdict.plain()  # type: ignore[attr-defined]
    if verdict.text:
        report.sections.append(("benchkit", verdict.text))
    return report


def _report(
    nodeid: str,
    location: tuple[str, int | None, str],
    outcome: Literal["passed", "failed", "skipped"],
    when: Literal["setup", "call", "teardown"],
    longrepr: Any,
) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=nodeid, location=location, keywords={"bench": 1}, outcome=outcome, longrepr=longrepr, when=when
    )


def properties(item: TaskItem, verdict: Verdict) -> list[tuple[str, object]]:
    """Flat string properties for JUnit (PYT-6)."""
    cell = item.job.cell
    values = {
        "suite": cell.name,
        "model": cell.model,
        "outcome": verdict.outcome,
        "score": verdict.score,
        "output_tokens": verdict.tokens,
    }
    return [(f"benchkit.{name}", str(value)) for name, value in values.items() if value is not None]


def raise_verdict(verdict: Verdict) -> None:
    """For pytest's own protocol: turns a verdict into what ``runtest`` raises."""
    if verdict.outcome in MISSES:
        raise MissedRow(verdict)
    if verdict.outcome in UNSCORED:
        raise RowSkipped(verdict)
    if verdict.outcome in EXCLUDED:
        raise RowError(verdict)


def amend_report(
    item: TaskItem, call: pytest.CallInfo[None], report: pytest.TestReport, bench: BenchSession
) -> None:
    """Rewrites the call report of pytest's own protocol to what the short one would have said."""
    if call.when != "call":
        return
    error = call.excinfo.value if call.excinfo is not None else None
    if not isinstance(error, (MissedRow, RowError, RowSkipped)):
        return
    ours = report_of(item.nodeid, item.location, error.args[0], bench.options.strict)
    report.outcome, report.longrepr = ours.outcome, ours.longrepr
    report.sections.extend(ours.sections)
    report.bench = ours.bench  # type: ignore[attr-defined]
    if hasattr(ours, "wasxfail"):
        report.wasxfail = ours.wasxfail


def status_of(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, Any] | None:
    """Category, letter and word of a row's report; ``None`` leaves it to pytest."""
    bench = getattr(report, "bench", None)
    if bench is None:
        return None
    if bench["outcome"] == NOT_ASKED:
        return "not asked", "E", ("NOT ASKED", {"red": True})
    if hasattr(report, "wasxfail"):
        return "missed", "m", ("MISSED", {"yellow": True})
    if report.failed and bench["outcome"] in EXCLUDED:
        return "error", "E", ("ERROR", {"red": True})
    return None
