"""Whether a stored row is as rows are written: the members that tables compute with have their types and are
finite (J-3). A table of checks, each a total function of any JSON value; what it does not name is not looked
at, so rows with fields of a later version are fine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pytest_benchkit.score import COUNTED, Outcome

Check = Callable[[Any], bool]
OUTCOMES = frozenset(outcome.value for outcome in Outcome)
SCORED = frozenset(outcome.value for outcome in COUNTED)


def text(value: Any) -> bool:
    return type(value) is str


def whole(value: Any) -> bool:
    return type(value) is int


def number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def share(value: Any) -> bool:
    return number(value) and 0 <= value <= 1


def truth(value: Any) -> bool:
    return type(value) is bool


def scalar(value: Any) -> bool:
    return value is None or text(value) or whole(value)


def either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def many(check: Check) -> Check:
    """A list of such values."""
    return lambda value: type(value) is list and all(map(check, value))


def table(check: Check) -> Check:
    """An object of such values."""
    return lambda value: type(value) is dict and all(map(check, value.values()))


def members(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    """An object with these members, and others."""
    must, may = tuple(required.items()), tuple(optional.items())

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, good in must:
            if name not in value or not good(value[name]):
                return False
        return all(name not in value or good(value[name]) for name, good in may)

    return check


ERROR = members({"kind": text}, {"message": text, "status": scalar})
ASK = members({}, {"tries": whole, "retries": many(members({}, {"cause": text, "wait_s": number}))})
EXCHANGE: dict[str, Check] = {
    "score": share,
    "usage": table(either(number, text)),
    "timing": table(either(number, truth, table(number))),
    "ask": ASK,
    "error": ERROR,
}
DECISION = members(
    {"brier": number, "p_gold": number, "confidence": number, "gold": text}, {"latency_ms": number}
)
ROW = members(
    {
        **dict.fromkeys(("key", "suite", "task_id", "model", "harness", "perturbation", "reason"), text),
        "outcome": lambda value: text(value) and value in OUTCOMES,
        "repeat": lambda value: whole(value) and value >= 0,
        "flags": many(text),
    },
    {
        **EXCHANGE,
        **dict.fromkeys(("ask_id", "started_at", "finished_at", "group", "category", "detail"), text),
        "session": whole,
        "rule": scalar,
        "labels": table(lambda value: True),
        "also": many(members({"rule": text, "score": share}, {})),
        "attempts": many(members({}, EXCHANGE)),
        "decision": DECISION,
        "loop": members({"state": text, "killed": truth}, {}),
        "perturbed": members({}, {"order": many(whole), "gold_before": scalar, "gold_after": scalar}),
        "reply": members({}, {"trace_status": text}),
    },
)


def well_formed(record: Any) -> bool:
    """Whether a table can be made of it. Runs once per stored line."""
    return ROW(record) and ("score" in record or record["outcome"] not in SCORED)
