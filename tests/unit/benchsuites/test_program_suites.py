"""The suites that are answered with programs, on small rows of ours and a real sandbox."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_benchkit.datasets import readers_programs as readers
from pytest_benchkit.errors import DataFault, SandboxError
from pytest_benchkit.registry import find_suite
from pytest_benchkit.reply import Reply
from pytest_benchkit.sandbox.probe import isolation
from pytest_benchkit.scoring.evalplus import HOW, restored
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

needs_sandbox = pytest.mark.skipif(
    isolation().backend is None, reason=isolation().problem or "the sandbox is here"
)

STUB = {
    "prompt": 'def twice(x):\n    """ Two times x.\n    >>> twice(2)\n    4\n    """\n',
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1.5) == -3.0\n",
}
SHORT = {
    "text": "Write a function to add two numbers.",
    "setup": "",
    "tests": ["assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert add(-1, 1) == 0"],
    "entry_point": "add",
}
FUNCTION = {"code": "def f(a, b):\n    return [a] * b", "input": "'x', 2", "output": "['x', 'x']"}
PLUS = {
    "task_id": "HumanEval/7",
    "prompt": STUB["prompt"],
    "entry_point": "twice",
    "canonical_solution": STUB["canonical_solution"],
    "base_input": [[1], [2]],
    "plus_input": [[-7], [0.1], ["ab"], [[1, 2]]],
    "atol": 0,
}


def suite(key: str) -> Suite:
    return find_suite(key)()


def task(row: dict[str, Any], id: str = "007") -> Task:
    return Task(id, 0, row)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path))
    return tmp_path


def plus_row(tmp_path: Path, **changed: Any) -> Task:
    """The row as the reader of the release file gives it."""
    file = tmp_path / "Plus.jsonl.gz"
    with gzip.open(file, "wt") as out:
        out.write(json.dumps({**PLUS, **changed}) + "\n")
    [row] = readers.evalplus([file])
    return row


SAMPLES = [
    ("humaneval", STUB),
    ("mbpp", SHORT),
    ("cruxeval-o", FUNCTION),
    ("cruxeval-i", FUNCTION),
    ("cruxeval-o-cot", FUNCTION),
    ("cruxeval-i-cot", FUNCTION),
]


@needs_sandbox
@pytest.mark.parametrize(("key", "row"), SAMPLES)
def test_sample_replies(key: str, row: dict[str, Any]) -> None:
    made, one = suite(key), task(row)
    samples = made.sample_replies(one)
    assert samples is not None
    scores = [made.score(one, Reply.of(text)) for text in samples if isinstance(text, str)]
    assert [score.value for score in scores] == [1.0, 0.0]
    assert scores[0].labels["category"] == "passed"
    assert made.score(one, Reply.of("")).value == 0.0
    prose = made.score(one, Reply.of("I would rather not say."))
    assert (prose.value, prose.extracted, prose.rule) == (0.0, None, "none")


@needs_sandbox
def test_humaneval_says_how_a_program_ended() -> None:
    made, one = suite("humaneval"), task(STUB)
    ends = {
        "    return 3 * x\n": "wrong_value",
        "    return x.twice()\n": "exception",
        "    raise SystemExit(0)\n": "bad_exit",
        "    return twice\n": "not_plain_data",
        "def other(x): return 1": "wrong_value",
        "    return (\n": None,
    }
    for text, category in ends.items():
        score = made.score(one, Reply.of(f"```python\n{text}\n```"))
        assert score.value == 0.0
        assert score.extracted == (category or "syntax"), text
        assert score.reason is not None
        assert "4" not in score.reason.split("[")[0], "no test value may show"
    dedented = made.score(one, Reply.of("return 2 * x"))
    assert (dedented.value, dedented.flags) == (1.0, ("reindented",))
    assert [(r.rule, r.score) for r in dedented.also] == [("official", 0.0)]


@needs_sandbox
def test_mbpp_classes_and_setup_stay_beside_the_program() -> None:
    row = {
        "text": "Count the nodes.",
        "setup": "root = Node(1)\r\nroot.left = Node(2)",
        "tests": ["assert count(root) == 2"],
        "entry_point": "count",
    }
    program = (
        "class Node:\n    def __init__(self, v):\n        self.left = None\n"
        "def count(n):\n    return 0 if n is None else 1 + count(n.left)\n"
    )
    assert suite("mbpp").score(task(row), Reply.of(f"```python\n{program}```")).value == 1.0


@needs_sandbox
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("cruxeval-o", "['x'] * 2", 1.0),
        ("cruxeval-o", "[ANSWER]assert f('x', 2) == f('x', 2)[/ANSWER]", 0.0),
        ("cruxeval-o", "[ANSWER]x, x[/ANSWER]", 0.0),
        ("cruxeval-i", "[ANSWER]assert f('x', 1 + 1) == ['x', 'x'][/ANSWER]", 1.0),
        ("cruxeval-i", "[ANSWER]assert ['x', 'x'] == ['x', 'x'][/ANSWER]", 0.0),
        ("cruxeval-i", "[ANSWER]assert f(*exit()) == ['x', 'x'][/ANSWER]", 0.0),
        ("cruxeval-i", "f(**{'a': chr(120), 'b': len('ab')})", 1.0),
        ("cruxeval-i", "f('y', 2)", 0.0),
    ],
)
def test_cruxeval(key: str, text: str, value: float) -> None:
    score = suite(key).score(task(FUNCTION), Reply.of(text))
    assert score.value == value
    if key == "cruxeval-o" and value:
        assert score.also[0].score == 0.0


CALLS = [
    "f('x', 2)",
    "𝐟('x', 2)",
    "eval('f')('x', 2)",
    "eval(chr(102))('x', 2)",
    "globals()['f']('x', 2)",
    "__import__('solution').f('x', 2)",
    "__import__('sys').modules['solution'].f('x', 2)",
    "[v for k, v in globals().items() if k == 'f'][0]('x', 2)",
    "[o for o in __import__('gc').get_objects() if getattr(o, '__name__', '') == 'f'][0]('x', 2)",
    "type('A', (list,), {'__eq__': lambda s, o: True})()",
]
REWRITES = [
    "f(setattr(f, '__code__', (lambda *a: ['x', 'x']).__code__))",
    "f(*[exec('f.__code__=(lambda *a:[\"x\"]*2).__code__') or 1])",
    "f((f := lambda *a: ['x', 'x']))",
    "f('', type('B', (), {'__rmul__': lambda s, o: ['x', 'x'], '__index__': lambda s: 2})())",
    "f(__import__('sys')._getframe(1).f_globals['plain'].__dict__.update(encode=lambda *a: b'N'), 1)",
    "f.__call__('x', 2)",
    "(lambda f: f('x', 2))(f)",
]


@needs_sandbox
@pytest.mark.parametrize("answer", CALLS)
def test_an_output_has_a_value_without_the_function(answer: str) -> None:
    score = suite("cruxeval-o").score(task(FUNCTION), Reply.of(f"assert f('x', 2) == {answer}"))
    assert (score.value, score.extracted is None) == (0.0, False)


@pytest.mark.parametrize("answer", REWRITES)
def test_an_input_that_may_rewrite_the_function_is_not_run(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_benchkit.scoring.programs.run", None)
    score = suite("cruxeval-i").score(task(FUNCTION), Reply.of(f"assert {answer} == ['x', 'x']"))
    assert score.value == 0.0
    assert score.reason is not None
    assert score.reason.startswith(("the input does more than make values", "the answer does not call f"))


@pytest.mark.parametrize(("answer", "right"), [("['x', 'x']", True), ("('x', 'x')", False)])
def test_a_literal_output_needs_no_process(answer: str, right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_benchkit.scoring.programs.run", None)
    score = suite("cruxeval-o").score(task(FUNCTION), Reply.of(f"assert f('x', 2) == {answer}"))
    assert (score.value, score.labels["category"]) == (float(right), "passed" if right else "wrong_value")
    assert score.also[0].score == score.value


@needs_sandbox
@pytest.mark.parametrize(
    ("code", "given", "output"),
    [
        ("def f(xs, change):\n    change(xs)\n    return xs", "[1, 2], lambda x: x.reverse()", "[2, 1]"),
        ("def f(xs):\n    return sum(xs)", "range(100, 102)", "201"),
        ("kept = [1, 2]\ndef f(xs):\n    return xs + kept", "kept[:]", "[1, 2, 1, 2]"),
    ],
)
def test_inputs_that_are_no_plain_data(code: str, given: str, output: str) -> None:
    row = task({"code": code, "input": given, "output": output})
    assert suite("cruxeval-i").score(row, Reply.of(f"assert f({given}) == {output}")).value == 1.0


@needs_sandbox
def test_plus_inputs_are_judged_by_the_reference(cache: Path) -> None:
    made, one = suite("humaneval-plus"), plus_row(cache)
    whole = made.score(one, Reply.of("```python\ndef twice(x):\n    return x + x\n```"))
    assert (whole.value, {r.rule: r.score for r in whole.also}["base"]) == (1.0, 1.0)
    only_base = made.score(one, Reply.of("```python\ndef twice(x):\n    return abs(x) + abs(x)\n```"))
    assert (only_base.value, {r.rule: r.score for r in only_base.also}["base"]) == (0.0, 1.0)
    near = made.score(plus_row(cache, plus_input=[[0.1]]), Reply.of("    return 2 * x + 1e-9"))
    assert near.value == 0.0  # base inputs are whole numbers: exact
    loose = plus_row(cache, base_input=[[1.5]], plus_input=[[0.1]])
    assert made.score(loose, Reply.of("    return 2 * x + 1e-9")).value == 1.0
    assert len(list((cache / "expected").iterdir())) == 3
    found = made.metrics(
        [{"score": 1.0, "rule": "r", "also": [{"rule": "base", "score": 1.0}], "labels": {}}]
    )
    assert found["score_base"] == 1.0


@needs_sandbox
def test_the_polynomial_of_task_32_is_right_by_its_zero(cache: Path) -> None:
    row = plus_row(
        cache,
        task_id="HumanEval/32",
        prompt="def zero(xs):\n    pass\n",
        entry_point="zero",
        canonical_solution="    return -xs[0] / xs[1]\n",
        base_input=[[[1, 2]]],
        plus_input=[[[3, 1]]],
        atol=1e-4,
    )
    score = suite("humaneval-plus").score(row, Reply.of("def zero(xs):\n    return 1e-6 - xs[0] / xs[1]"))
    assert score.value == 1.0


@needs_sandbox
def test_a_reference_that_fails_is_no_miss(cache: Path) -> None:
    row = plus_row(cache, canonical_solution="    return 1 / 0\n")
    with pytest.raises(SandboxError, match="reference solution of twice ended with exception"):
        suite("humaneval-plus").score(row, Reply.of("    return 2 * x"))


def test_a_release_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFault, match="no number or no inputs"):
        plus_row(tmp_path, base_input="x")
    broken = tmp_path / "x.jsonl.gz"
    broken.write_bytes(b"no gzip")
    with pytest.raises(DataFault, match="not readable as gzipped"):
        readers.evalplus([broken])


def test_types_that_json_lost() -> None:
    assert restored(2, [[[1, 2], [3]]]) == [[(1, 2), (3,)]]
    assert restored(63, [[[[1, 2]]]]) == [[[(1, 2)]]]
    assert restored(115, [[[[1], []]]]) == [[[{1}, {}]]]
    assert restored(124, [["1.5", "2+1j"]]) == [[1.5, 2 + 1j]]
    assert restored(580, [[[1, [2, [3]]]]]) == [[(1, (2, (3,)))]]
    assert restored(722, [[{"a": [1, 2]}, 3]]) == [[{"a": (1, 2)}, 3]]
    assert restored(4, [[[1]]]) == [[[1]]]
    assert len(HOW) == 62
