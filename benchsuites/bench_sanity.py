"""Sanity: twenty-five rows of five suites, a smoke test that takes a minute.

Rows of humaneval, gsm8k, ifeval, arc and piqa, asked and scored exactly as their own suites do it, at their
version; the order is round-robin. Not part of an overall score and comparable with nothing. A part that
cannot run here (no sandbox for programs, no libraries for IFEval's checks) skips its five rows only.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from benchsuites.bench_arc import ARC
from benchsuites.bench_gsm8k import GSM8K
from benchsuites.bench_humaneval import HumanEval
from benchsuites.bench_ifeval import IFEval
from benchsuites.bench_piqa import PIQA
from pytest_benchkit.datasets import catalog
from pytest_benchkit.datasets.mixed import Mixed
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.reply import Reply
from pytest_benchkit.sandbox import probe
from pytest_benchkit.score import Score
from pytest_benchkit.scoring import metrics
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Message, Task

PARTS: Mapping[str, type[Suite]] = {suite.key: suite for suite in (HumanEval, GSM8K, IFEval, ARC, PIQA)}


class Sanity(Suite):
    """Sanity: 25 rows of humaneval, gsm8k, ifeval, arc and piqa, a smoke test of a minute."""

    key = "sanity"
    data = Mixed(
        "sanity",
        {
            "humaneval": (catalog.HUMANEVAL, ("016", "018", "020", "124", "125")),
            "gsm8k": (catalog.GSM8K, ("0000", "0005", "0007", "0013", "0019")),
            "ifeval": (catalog.IFEVAL, ("1001", "1005", "1019", "1075", "1107")),
            "arc": (catalog.ARC, ("0004", "0009", "0013", "0017", "0019")),
            "piqa": (catalog.PIQA, ("0006", "0014", "0018", "0023", "0024")),
        },
    )
    not_comparable = "a smoke test of 25 rows"
    in_overall = False
    scoring = "binary"

    @cached_property
    def _suites(self) -> dict[str, Suite]:
        return {key: suite() for key, suite in PARTS.items()}

    def _suite(self, task: Task) -> Suite:
        """The suite that a row comes from."""
        return self._suites[str(task.category)]

    def prompt(self, task: Task) -> str | list[Message]:
        suite = self._suite(task)
        if "sandbox" in suite.needs:
            probe.require()
        for module, extra in suite.requires.items():
            if importlib.util.find_spec(module) is None:
                raise SkipTask("no_library", f"scoring needs {module}: pip install '{extra}'")
        return suite.prompt(task)

    def score(self, task: Task, reply: Reply) -> Score:
        return self._suite(task).score(task, reply)

    def sample_replies(self, task: Task) -> Any:
        return self._suite(task).sample_replies(task)

    def repair_limit(self, task: Task) -> int | None:
        return self._suite(task).repair_limit(task)

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return metrics.common(rows)
