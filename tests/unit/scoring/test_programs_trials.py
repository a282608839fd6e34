"""How trials are made from rows, and the rules by which a value counts. No sandbox is needed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.scoring import programs_trials as trials
from pytest_benchkit.scoring.programs_rules import RULES
from pytest_benchkit.scoring.programs_trials import Case

STUB = "import math\n\ndef helper():\n    return 1\n\ndef f(n):\n    import re\n    '''Doc.'''\n"


def test_the_stub_is_kept_without_its_entry() -> None:
    source = trials.checked(STUB, "f", "def check(candidate):\n    pass").source
    assert "import math" in source
    assert "def helper" in source
    assert "def f(" not in source
    assert source.rstrip().endswith("check(candidate)")


@pytest.mark.parametrize(("stub", "entry"), [("def g(): pass", "f"), ("def f(:", "f"), ("def f(): \0", "f")])
def test_a_stub_that_cannot_be_used_is_refused(stub: str, entry: str) -> None:
    with pytest.raises(ValueError, match="stub"):
        trials.checked(stub, entry, "")


def test_sides_of_asserts() -> None:
    trial = trials.asserts(
        ['assert f("a == b", [1]) == {"x": (1,)}  # why', "assert f() == -1, 'm'"], "x = 1"
    )
    assert trial.data == ("x = 1", [("f('a == b', [1])", "{'x': (1,)}"), ("f()", "-1")])


@pytest.mark.parametrize(
    "test",
    [
        "assert f()",
        "assert f() != 1",
        "assert f() == 1 == 1",
        "f() == 1",
        "assert f() == 1\nassert 1 == 1",
        "(",
    ],
)
def test_other_forms_of_asserts_are_refused(test: str) -> None:
    with pytest.raises(ValueError, match="assert"):
        trials.asserts([test])


def test_rows_that_judge_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="no assert"):
        trials.asserts([])
    with pytest.raises(ValueError, match="no rule 'odd'"):
        trials.inputs([("base", [Case([1], 1)])], "odd")
    with pytest.raises(ValueError):
        trials.expression("1", "print(1)")


def accepts(rule: str, out: Any, expected: Any, args: Any = (), tolerance: float = 0.0) -> bool:
    """The rule's verdict; raising is a refusal."""
    try:
        return RULES[rule](args, out, expected, tolerance)
    except Exception:
        return False


@pytest.mark.parametrize(
    ("out", "expected", "tolerance", "verdict"),
    [
        ([1, 2], [1, 2], 0.0, True),
        ((1, 2), [1, 2], 0.0, False),
        (1, 1.0, 0.0, True),
        (1.0000005, 1.0, 0.0, True),
        (1.000002, 1.0, 0.0, False),
        (1e9 + 50, 1e9, 0.0, True),
        (1, 1.0000005, 0.0, False),
        ([1.0, 2.0000005], [1.0, 2.0], 0.0, True),
        ((1.0, 2.0000005), [1.0, 2.0], 0.0, False),
        ([1.0], [1.0, 2.0], 0.0, False),
        ([1.0000005, 1], [1.0, 1], 0.0, False),
        ([1.0000005, 1], [1.0, 1], 1e-6, True),
        ([[1.01]], [[1.0]], 0.1, True),
        (math.inf, math.inf, 0.0, True),
        (5.0, math.inf, 0.0, False),
        (math.nan, math.nan, 0.0, False),
        (math.nan, 1.0, 1.0, False),
        ("1.0", 1.0, 1.0, False),
        ([], [], 0.0, True),
        (None, 1.0, 1.0, False),
    ],
)
def test_default_rule(out: object, expected: object, tolerance: float, verdict: bool) -> None:
    assert accepts("default", out, expected, (), tolerance) is verdict


@pytest.mark.parametrize(
    ("rule", "args", "out", "expected", "tolerance", "verdict"),
    [
        ("root", [[-6, 11, -6, 1]], 2.0, 1.0, 1e-6, True),
        ("root", [[-6, 11, -6, 1]], 2.5, 1.0, 1e-6, False),
        ("root", [[1, 0, 1]], 1j, 1.0, 1e-6, False),
        ("root", [[1, 2]], "x", 1.0, 1e-6, False),
        ("any", [], object, 1, 0.0, True),
        ("or-zero", [], 0, 7, 0.0, True),
        ("or-zero", [], 7, 7, 0.0, True),
        ("or-zero", [], 6, 7, 0.0, False),
        ("pyramid", [3, 4], 33, 33, 0.0, True),
        ("pyramid", [3, 4], 35, 33, 0.0, True),  # round(9 + 6 * sqrt(2.25 + 16))
        ("pyramid", [3, 4], 34, 33, 0.0, False),
        ("digit-distance", [23, 56], 6, 6, 0.0, True),
        ("digit-distance", [123, 5], 5, 10, 0.0, True),  # 1 + 2 + 2
        ("digit-distance", [123, 5], 4, 10, 0.0, False),
        ("same-set", [], [2, 1, 1], (1, 2), 0.0, True),
        ("same-set", [], [2], (1, 2), 0.0, False),
        ("same-set", [], 5, (1, 2), 0.0, False),
        ("not-none", [], "match", True, 0.0, True),
        ("not-none", [], None, False, 0.0, True),
        ("not-none", [], False, True, 0.0, False),
        ("not-none", [], None, True, 0.0, False),
    ],
)
def test_special_rules(
    rule: str, args: object, out: object, expected: object, tolerance: float, verdict: bool
) -> None:
    assert accepts(rule, out, expected, args, tolerance) is verdict


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner, inner)),
    max_leaves=6,
)


@given(VALUES, VALUES, st.sampled_from([0.0, 1e-6]))
def test_any_values_are_judged_and_a_value_counts_as_itself(
    out: Any, expected: Any, tolerance: float
) -> None:
    for rule in RULES:
        assert accepts(rule, out, expected, [[1, 2]], tolerance) in (True, False)
    if "nan" not in repr(expected):
        assert accepts("default", expected, expected, (), tolerance)
