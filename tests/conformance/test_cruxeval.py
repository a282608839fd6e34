"""CRUXEval's verdicts held against upstream's rule: the function, then ``assert gold == answer``,
executed."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchkit.datasets import catalog
from pytest_benchkit.registry import find_suite
from pytest_benchkit.reply import Reply
from pytest_benchkit.sandbox.probe import isolation
from pytest_benchkit.task import Task
from tests.conformance.comparison import Comparison, EvaluatorMissing
from tests.conformance.jail import outcomes

OFFICIAL = """
import json, os, sys
for line in sys.stdin:
    code, gold, answer = json.loads(line)
    child = os.fork()
    if not child:
        try:
            exec(f"{code}\\nassert {gold} == {answer}", {})
        except BaseException:
            os._exit(1)
        os._exit(0)
    print(int(os.waitpid(child, 0)[1] == 0), flush=True)
"""
CHANGES = ("{0}", "({0})", "[{0}]", "str({0})", "not {0}", "{0} * 1", "repr({0})", "None")
"""How a right output is changed into an answer; most of them are wrong for most rows."""


def compare(every: int = 1) -> Comparison:
    """Both directions: the gold of every row, and outputs changed in eight ways for every fourth of them."""
    held = Comparison(
        "cruxeval",
        "utils_general.py @ 190faf16, restated: exec of the assertion",
        note="left out: outputs that call f, inputs that may rewrite it, `==` in a string (cut upstream)",
    )
    if isolation().backend is None or shutil.which("bwrap") is None:
        raise EvaluatorMissing("programs run in isolation only, and there is none here")
    if not catalog.CRUXEVAL.state().ready:
        raise EvaluatorMissing("the rows are not here: benchkit datasets install cruxeval")
    rows = list(catalog.CRUXEVAL.load())[::every]
    cases: list[tuple[str, Task, str]] = []
    for place, task in enumerate(rows):
        cases.append(("cruxeval-i", task, f"f({task['input']})"))
        changes = CHANGES if place % 4 == 0 else CHANGES[:1]
        cases += [("cruxeval-o", task, change.format(task["output"])) for change in changes]
    told = "".join(json.dumps([t["code"], t["output"], answer]) + "\n" for _, t, answer in cases)
    suites = {key: find_suite(key)() for key in ("cruxeval-i", "cruxeval-o")}

    def ours(case: tuple[str, Task, str]) -> bool:
        key, task, answer = case
        text = f"assert {answer} == {task['output']}" if key == "cruxeval-i" else f"assert f() == {answer}"
        return suites[key].score(task, Reply.of(f"[ANSWER]{text}[/ANSWER]")).value == 1.0

    with ThreadPoolExecutor(2) as pool:
        mine = list(pool.map(ours, cases))
    for (key, task, answer), one, theirs in zip(cases, mine, outcomes(OFFICIAL, told), strict=True):
        held.hold(one, theirs, f"{key} {task.id} answered {answer!r}")
    return held


def test_cruxeval() -> None:
    try:
        held = compare(every=16)
    except EvaluatorMissing as error:
        pytest.skip(str(error))
    held.demand(at_least=150)
