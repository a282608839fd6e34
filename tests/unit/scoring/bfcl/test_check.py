from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.scoring.bfcl.check import check
from pytest_benchkit.scoring.bfcl.values import fault, normal
from tests.unit.scoring.bfcl.rows import CLOCK, WEATHER, call, gold

ROME = gold(city=["Rome", "Roma"], days=[3, ""])


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([call(city="Rome")], None),
        ([call(city="r-o m.e", days=3)], None),
        ([], "wrong-count"),
        ([call(city="Rome"), call(city="Rome")], "wrong-count"),
        ([call("weather.today", city="Rome")], "wrong-name"),
        ([call(days=3)], "missing-required"),
        ([call(city="Rome", place=1)], "unexpected-param"),
        ([call(city="Rome", wind=True)], "unexpected-param"),  # in the schema, not in the answer
        ([call(city=5)], "wrong-type"),
        ([call(city="Rome", days="3")], "wrong-type"),
        ([call(city="Rome", days=3.0)], "wrong-type"),
        ([call(city="Paris")], "wrong-value"),
        ([call(city="Rome", days=4)], "wrong-value"),
    ],
)
def test_steps_in_order(calls: list[Any], wanted: str | None) -> None:
    assert check(calls, [WEATHER], [ROME], "simple_python").fault == wanted


def test_parameter_left_out_must_be_optional() -> None:
    strict = gold(city=["Rome"], days=[3])
    assert check([call(city="Rome")], [WEATHER], [strict], "simple_python").fault == "missing-optional"


def test_right_function_among_several() -> None:
    wanted = [gold("clock", zone=["UTC", ""])]
    assert check([call("clock")], [WEATHER, CLOCK], wanted, "multiple").fault is None
    assert check([call(city="Rome")], [WEATHER, CLOCK], wanted, "multiple").fault == "wrong-name"


@pytest.mark.parametrize(
    ("parameter", "value", "allowed", "wanted"),
    [
        ("limit", 5, [5.0], None),
        ("limit", True, [1.0], "wrong-type"),
        ("days", True, [1], "wrong-type"),
        ("wind", 1, [True], "wrong-type"),
        ("wind", False, [True], "wrong-value"),
        ("days", "count", ["count"], None),  # a variable
        ("days", "Count", ["count"], "wrong-value"),  # compared as it is
        ("days", None, [None], None),
        ("hours", [1, 2], [[1, 2]], None),
        ("hours", [2, 1], [[1, 2]], "wrong-value"),
        ("hours", [1, "2"], [[1, 2]], "wrong-type"),
        (
            "hours",
            [1, "x"],
            [[1, "x"]],
            "wrong-type",
        ),  # items are of the schema's class or of the first one's
        ("hours", ["x"], [["x"]], None),
        ("hours", [], [[1], ""], None),
        ("named", ("A b", "c"), [["ab", "C"]], None),
        ("at", {"lat": 1.0}, [{"lat": [1.0, 2.0]}], None),
        ("at", {"lat": 3.0}, [{"lat": [1.0, 2.0]}], "wrong-value"),
        ("at", {}, [{"lat": [1.0, ""]}], None),
        ("at", {}, [{"lat": [1.0]}], "wrong-value"),
        ("at", {"lon": 1.0}, [{"lat": [""]}], "wrong-value"),
        ("at", {"lat": 1.0}, ["", {"lat": [1.0]}], None),
        ("spots", [{"lat": 1}, {"lat": 2}], [[{"lat": [1]}, {"lat": [2]}]], None),
        ("spots", [{"lat": 2}, {"lat": 1}], [[{"lat": [1]}, {"lat": [2]}]], "wrong-value"),
        ("spots", [{"lat": 1}], [[{"lat": [1]}, {"lat": [2]}]], "wrong-value"),
        ("spots", ["x"], ["", [{"lat": [1]}]], "wrong-value"),  # upstream's checker raises on it
        ("city", "it's", ['IT"S'], None),
        ("limit", 10**400, [1.0], "wrong-value"),
    ],
)
def test_types_and_values(parameter: str, value: Any, allowed: list[Any], wanted: str | None) -> None:
    assert fault(value, WEATHER["parameters"]["properties"][parameter], allowed, "python") == wanted


def test_texts_are_compared_without_marks() -> None:
    assert normal("San Francisco, C.A./_-*^ 'x'") == 'sanfranciscoca"x"'
    assert normal(5) == 5


def test_java_and_javascript_arguments_are_texts() -> None:
    node = {"type": "integer"}
    assert fault(5, node, [5], "java") == "wrong-type"
    assert fault("5", node, [5], "java") is None
    assert fault("5L", {"type": "long"}, [5], "java") is None
    assert fault("5", {"type": "long"}, [5], "java") == "wrong-type"
    assert fault("'x'", {"type": "String"}, ["x"], "javascript") is None


def test_parallel_calls_need_no_order() -> None:
    wanted = [gold(city=["Rome"]), gold("clock", zone=["UTC"])]
    calls = [call("clock", zone="utc"), call(city="Rome")]
    assert check(calls, [WEATHER, CLOCK], wanted, "parallel_multiple").fault is None
    # one call cannot serve two golds
    twice = [gold(city=["Rome"]), gold(city=["Rome"])]
    found = check([call(city="Rome"), call(city="Oslo")], [WEATHER], twice, "parallel")
    assert (found.fault, found.detail, found.greedy_miss) == ("wrong-value", "city", False)


def test_greedy_matching_is_upstream_s_and_its_miss_is_told() -> None:
    """The first gold takes the only call that the second one would accept."""
    wanted = [gold(city=["Rome", "Oslo"]), gold(city=["Rome"])]
    found = check([call(city="Rome"), call(city="Oslo")], [WEATHER], wanted, "parallel")
    assert (found.fault, found.greedy_miss) == ("wrong-value", True)
    assert check([call(city="Oslo"), call(city="Rome")], [WEATHER], wanted, "parallel").fault is None


def test_fault_of_parallel_calls_is_the_one_that_came_furthest() -> None:
    wanted = [gold(city=["Rome"]), gold("clock", zone=["UTC"])]
    calls = [call("other"), call("clock", zone="CET")]
    assert check(calls, [WEATHER, CLOCK], wanted, "parallel_multiple").fault == "wrong-name"
    calls = [call(city="Rome"), call("clock", zone="CET")]
    assert check(calls, [WEATHER, CLOCK], wanted, "parallel_multiple").fault == "wrong-value"
