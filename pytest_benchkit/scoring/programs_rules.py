"""When a value counts as the expected one: rules by name, for trials over inputs (EvalPlus, PG).

This file is read by :mod:`pytest_benchkit.scoring.programs_trials` and its text put before a trial, so that
it runs in the judge: standard library only, and every function total over plain data or raising, which is a
miss. Facts from evalplus 0.3.1 ``eval/__init__.py`` and ``eval/_special_oracle.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

RELATIVE = 1e-7
FLOAT_TOLERANCE = 1e-6
"""Absolute tolerance where the expected value is a float, or floats, and the row names none."""


def close(out: Any, expected: Any, tolerance: float) -> bool:
    """Whether numbers, or equally long series of them at any depth, are within the tolerance."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(out, (list, tuple)) or len(out) != len(expected):
            return False
        return all(close(mine, theirs, tolerance) for mine, theirs in zip(out, expected, strict=True))
    if not isinstance(out, (int, float, complex)) or not isinstance(expected, (int, float, complex)):
        return False
    if out == expected:
        return True
    return bool(abs(out - expected) <= tolerance + RELATIVE * abs(expected)) and math.isfinite(abs(expected))


def floats(value: Any) -> bool:
    """Whether a value is a float or a series of at least one, all floats."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def default(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """Equal, or of the same type and close."""
    if out == expected:
        return True
    if tolerance == 0 and floats(expected):
        tolerance = FLOAT_TOLERANCE
    return tolerance != 0 and type(out) is type(expected) and close(out, expected, tolerance)


def root(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """Any root of the polynomial whose coefficients are the first argument, lowest power first."""
    return bool(abs(sum(factor * math.pow(out, n) for n, factor in enumerate(args[0]))) <= tolerance)


def any_value(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """Whatever it is: the task is not decidable from its text."""
    return True


def or_zero(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    return bool(out == 0) or default(args, out, expected, tolerance)


def pyramid(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """Surface of a square pyramid: the second argument as slant height, or as perpendicular height."""
    edge, height = args
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    other = round(edge**2 + 4 * (edge * slant) / 2)
    return bool(abs(out - other) <= tolerance) or default(args, out, expected, tolerance)


def digit_distance(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """Also the sum of the differences of digits at equal places, the shorter number filled with zeros."""
    width = max(len(str(number)) for number in args)
    first, second = (str(number).zfill(width) for number in args)
    distance = sum(abs(int(mine) - int(theirs)) for mine, theirs in zip(first, second, strict=True))
    return bool(out == distance) or default(args, out, expected, tolerance)


def same_set(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """The same elements, in any order and number."""
    return bool(out == expected) or set(out) == set(expected)


def not_none(args: Any, out: Any, expected: Any, tolerance: float) -> bool:
    """A truth value, or anything but None for true."""
    return bool(out == expected) if isinstance(out, bool) else bool(expected == (out is not None))


RULES: dict[str, Callable[[Any, Any, Any, float], bool]] = {
    "default": default,
    "root": root,
    "any": any_value,
    "or-zero": or_zero,
    "pyramid": pyramid,
    "digit-distance": digit_distance,
    "same-set": same_set,
    "not-none": not_none,
}
"""By name; each takes arguments, value, expected value and absolute tolerance."""
