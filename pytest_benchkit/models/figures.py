"""Numbers that servers tell, read with suspicion: what is not plainly a number is absent."""

from __future__ import annotations

import math
from typing import Any

LARGEST = 2**53
"""Above it a count is none: no JSON reader that keeps numbers as floats would hold it exactly."""


def count(value: Any) -> int | None:
    """A whole number from 0 on. Integral floats and digit strings are allowed, booleans are not."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= LARGEST else None


def positive(value: Any) -> int | None:
    """A whole number from 1 on."""
    return count(value) or None


def measure(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
