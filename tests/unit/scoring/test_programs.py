"""Verdicts on programs: what the trials of each benchmark's form accept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox import pool
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.scoring import programs_trials as trials
from pytest_benchkit.scoring.programs import CATEGORIES, Program, Trial, Verdict, run
from pytest_benchkit.scoring.programs_trials import Case
from tests.support.sandbox import need_isolation

STUB = (
    "from typing import List\nimport math\n\n"
    "def double(n: int) -> int:\n    return n * 2\n\n"
    'def twice_all(xs: List[int]) -> List[int]:\n    """Doubles each."""\n'
)
TEST = (
    "METADATA = {}\n\ndef check(candidate):\n    assert candidate([1, 2]) == [double(1), double(2)]\n"
    "    assert twice_all([]) == []\n    assert math.fabs(sum(candidate([3])) - 6) < 1e-6\n"
)
BODY = "    return [double(x) for x in xs]\n"


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> Iterator[None]:
    need_isolation()
    yield
    pool.close()


def test_a_completed_stub_passes_and_a_wrong_one_does_not() -> None:
    trial = trials.checked(STUB, "twice_all", TEST)
    verdict = run(Program(STUB + BODY, "twice_all"), trial)
    assert (verdict.passed, verdict.category, verdict.retried, verdict.over_3s) == (
        True,
        "passed",
        False,
        False,
    )
    assert verdict.cpu_s is None or verdict.cpu_s < 3
    wrong = run(Program(STUB + "    return xs\n", "twice_all"), trial)
    assert (wrong.category, wrong.detail, wrong.feedback) == ("wrong_value", "", "wrong value")
    raised = run(Program(STUB + "    return xs[9]\n", "twice_all"), trial)
    assert raised.feedback == "exception: IndexError"


def test_asserts_see_the_program_s_own_classes_only_beside_it() -> None:
    program = Program(
        "class Node:\n    def __init__(self, n):\n        self.n = n\n\n"
        "def total(*nodes):\n    return sum(x.n for x in nodes)\n"
    )
    tests = ["assert total(root, Node(2 * 3)) == 7", "assert (total(root)) == 1 # one", "assert total() == 0"]
    assert run(program, trials.asserts(tests, "root = Node(1)")).passed
    assert run(program, trials.asserts(tests)).detail == "NameError"
    assert run(program, trials.asserts(["assert total(Node(1)) == 2"])).category == "wrong_value"
    assert run(program, trials.asserts(["assert Node(1) == 2"])).category == "not_plain_data"


@pytest.mark.parametrize(
    ("expression", "category"),
    [
        ("[1, 2]", "passed"),
        ("list(range(1, 3))", "passed"),
        ("f(0)", "passed"),
        ("[2, 1]", "wrong_value"),
        ("word", "exception"),
        ("[1, 2", "syntax"),
        ("x = 1", "syntax"),
        ("__import__('os')._exit(0)", "bad_exit"),
        ("type('A', (), {'__eq__': lambda s, o: True})()", "not_plain_data"),
        ("\ud800", "syntax"),
    ],
)
def test_expressions_are_evaluated_beside_the_program(expression: str, category: str) -> None:
    program = Program("def f(n):\n    return [n + 1, n + 2]\n")
    assert run(program, trials.expression(expression, "[1, 2]"), Limits(cpu_s=3.0)).category == category


def test_groups_of_inputs_are_reported_one_by_one() -> None:
    base = ("base", [Case([1, 2.0], 3.0), Case([0, 0.0], 0.0, seconds=1.0)])
    plus = ("plus", [Case([10**20, 0.5], 1e20), Case([1, 1e-9], 1.0)])
    program = Program("def add(a, b):\n    return a + b\n", "add")
    verdict = run(program, trials.inputs([base, plus]))
    assert (verdict.passed, verdict.notes) == (True, {"base": True, "plus": True})
    short = Program("def add(a, b):\n    return a + b if a < 9 else None\n", "add")
    verdict = run(short, trials.inputs([base, plus]))
    assert (verdict.passed, verdict.notes) == (False, {"base": True})
    leaves = Program("import os\ndef add(a, b):\n    return a + b if a < 9 else os._exit(0)\n", "add")
    verdict = run(leaves, trials.inputs([base, plus]))
    assert (verdict.category, verdict.notes) == ("bad_exit", {"base": True})


def test_a_call_has_a_limit_of_its_own() -> None:
    program = Program("def f(n):\n    while n: pass\n    return n\n", "f")
    verdict = run(program, trials.inputs([("base", [Case([0], 0, 5.0), Case([1], 0, 0.2)])]))
    assert (verdict.category, verdict.retried, verdict.time_only) == ("time", True, True)
    assert verdict.cpu_s is None or verdict.cpu_s < 5


def test_expected_values_come_from_the_same_sandbox() -> None:
    program = Program("def f(a, b):\n    return {a: (b, {b})}\n", "f")
    verdict = run(program, trials.reference([[1, "x"], [2, "y"]]))
    assert verdict.notes["values"] == [{1: ("x", {"x"})}, {2: ("y", {"y"})}]
    assert all(0 <= seconds < 1 for seconds in verdict.notes["seconds"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("this is no Python", "SyntaxError"),
        ("unknown(candidate)", "NameError"),
        ("assert False", "AssertionError"),
        ("pass", "asked nothing"),
    ],
)
def test_a_broken_trial_is_our_fault(source: str, words: str) -> None:
    with pytest.raises(SandboxError, match=words):
        run(Program("def f():\n    return 1\n", "f"), Trial(source))


def test_values_that_the_tests_cannot_handle_are_misses() -> None:
    trial = Trial("assert abs(candidate() - 1) < 1e-6")
    for value in ("'x'", "None", "[1]", "float('nan')", "10**400"):
        verdict = run(Program(f"def f():\n    return {value}\n", "f"), trial)
        assert verdict.category == "wrong_value", value


def test_a_value_that_is_slow_to_look_at_ends_with_the_judge_s_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_benchkit.sandbox.conversation.JUDGE_S", 0.5)
    slow = Trial("n = candidate()\nwhile n: n += 1")
    verdict = run(Program("def f():\n    return 1\n", "f"), slow)
    assert (verdict.category, verdict.feedback) == ("wrong_value", "wrong value")


def test_a_source_too_large_is_no_program() -> None:
    assert run(Program("#" * (1 << 21)), Trial("evaluate('1')")).category == "syntax"


def test_feedback_names_the_category_only() -> None:
    for category in CATEGORIES:
        told = Verdict(False, category, "detail").feedback
        assert told == ("exception: detail" if category == "exception" else category.replace("_", " "))
