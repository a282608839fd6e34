"""The suites of a stored run, as far as they are installed or lie in the current folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import SuiteError
from pytest_benchkit.registry import find_suite, load_suites

if TYPE_CHECKING:
    from pytest_benchkit.suite import Suite


def suites_of(info: Mapping[str, Any]) -> dict[str, Suite]:
    """By name in records (``gsm8k``, ``hellaswag:activitynet-1000``). A suite that is not found is left out:
    what the engine measures of it is known all the same."""
    from pytest_benchkit.commands.list_suites import project_suites

    own = {suite.key: suite for ref in project_suites() for suite in load_suites(ref.path)}
    found = {}
    for entry in info.get("suites", []):
        key, _, variant = entry["name"].partition(":")
        try:
            found[entry["name"]] = (own.get(key) or find_suite(key))(variant or None)
        except SuiteError:
            continue
    return found
