"""A verdict as a row of the session: the three reports by which pytest and its plugins learn of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from pytest_benchkit.gates.verdict import GateVerdict, slug

WORDS: dict[str, Literal["passed", "failed", "skipped"]] = {
    "pass": "passed",
    "fail": "failed",
    "not-judged": "skipped",
}


@dataclass
class Row:
    """What the reports say. ``text``: why it failed, or was skipped."""

    path: str
    line: int
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    text: str
    properties: list[tuple[str, object]] = field(default_factory=list)

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.name}"

    @property
    def fails(self) -> bool:
        return self.outcome == "failed"

    def add_to_name(self, word: str) -> None:
        self.name = f"{self.name[:-1]}-{slug(word)}]"

    @classmethod
    def crashed(cls, trace: str) -> Row:
        """Judging itself raised."""
        text = f"judge-crashed: judging failed, so nothing is known; please report it\n{trace}"
        properties: list[tuple[str, object]] = [
            ("benchkit.verdict", "not-judged"),
            ("benchkit.codes", "judge-crashed"),
        ]
        return cls("kernels", 0, "gate[crashed]", "failed", text, properties)


def row_of(verdict: GateVerdict, *, fails: bool) -> Row:
    """``fails``: whether the verdict fails the session in the mode in force."""
    entry = verdict.entry
    parts = [verdict.gate]
    if verdict.gate != "none":
        parts.append(slug(verdict.checkpoint or verdict.model))
    if verdict.harness != "direct":
        parts.append(verdict.harness)
    if verdict.perturbation:
        parts.append(verdict.perturbation)
    name = f"gate[{'-'.join(part for part in parts if part)}]"
    outcome = "failed" if fails else WORDS[verdict.verdict]
    text = "\n".join(verdict.lines()) if outcome == "failed" else verdict.headline
    if outcome == "skipped":
        text = re.sub(r"\s+", " ", text)
    return Row(
        entry.path if entry is not None else "kernels",
        (entry.line or 1) - 1 if entry is not None else 0,
        name,
        outcome,
        text,
        _properties(verdict),
    )


def _properties(verdict: GateVerdict) -> list[tuple[str, object]]:
    """Flat texts, for JUnit."""
    values = {
        "gate": verdict.gate,
        "verdict": verdict.verdict,
        "codes": ",".join(verdict.codes),
        "hardware": verdict.hardware or "",
        "checkpoint": verdict.checkpoint or "",
        **{bound.metric: bound.value for bound in verdict.bounds if bound.value is not None},
    }
    return [(f"benchkit.{name}", str(value)) for name, value in values.items()]


def emit(session: pytest.Session, row: Row) -> None:
    """Hands the row to all that listen to reports. A failed one counts through pytest's own hook."""
    hook = session.config.hook
    location = (row.path, row.line, row.name)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
    session.testscollected += 1  # else the progress would pass 100 %
    hook.pytest_runtest_logstart(nodeid=row.nodeid, location=location)
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    if row.outcome == "skipped":
        phases = ("setup", "teardown")
    for when in phases:
        hook.pytest_runtest_logreport(report=_report(row, location, when))
    hook.pytest_runtest_logfinish(nodeid=row.nodeid, location=location)


def _report(
    row: Row, location: tuple[str, int, str], when: Literal["setup", "call", "teardown"]
) -> pytest.TestReport:
    decisive = when == ("setup" if row.outcome == "skipped" else "call")
    longrepr: Any = None
    if decisive and row.outcome == "failed":
        longrepr = row.text
    elif decisive and row.outcome == "skipped":
        longrepr = (row.path, row.line + 1, row.text)
    now = time.time()
    return pytest.TestReport(
        nodeid=row.nodeid,
        location=location,
        keywords={"bench": 1},
        outcome=row.outcome if decisive else "passed",
        longrepr=longrepr,
        when=when,
        user_properties=list(row.properties),
        start=now,
        stop=now,
    )
