"""Counts that servers tell: only what is plainly one is believed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.models.figures import count
from pytest_benchkit.models.usage import read_usage


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        *((0, 0), (12, 12), (12.0, 12), ("12", 12), (2**53, 2**53), (str(2**53), 2**53)),
        *((2**53 + 1, None), (str(2**53 + 1), None), (10**30, None), (1e30, None), ("9" * 5000, None)),
        *((-1, None), (1.5, None), (True, None), (None, None), ("-1", None), ("x", None), ([], None)),
        *((float("inf"), None), (float("nan"), None)),
    ],
)
def test_count(told: Any, wanted: int | None) -> None:
    assert count(told) == wanted


def test_a_usage_beyond_belief_is_unknown() -> None:
    usage = {
        "prompt_tokens": 10**30,
        "completion_tokens": 2**53 + 1,
        "prompt_tokens_details": {"cached_tokens": -1},
        "completion_tokens_details": {"reasoning_tokens": 1.5},
    }
    found, flags = read_usage(usage, {"prompt_n": 10**30}, None, generated=True)
    assert (found.input_tokens, found.output_tokens, found.source) == (None, None, None)
    assert (found.cached_tokens, found.reasoning_tokens, flags) == (None, None, [])
