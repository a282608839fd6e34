"""Hooks of pytest-benchkit, for ``conftest.py`` files and other plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_benchkit.models.base import Model


def pytest_benchkit_models(config: pytest.Config) -> Mapping[str, Callable[[], Model]] | None:
    """Registers models of one's own: name for ``--bench-model`` to a function that makes the model.

    Called once per process when a bench option is in force. The factory runs in every process that asks
    (each xdist worker), so it must not need anything that only the controller has.
    """


def pytest_benchkit_record(config: pytest.Config, record: Mapping[str, Any]) -> None:
    """Sees each finished record, on the controller, in the order in which records become durable.

    The record is complete (texts included) and must not be changed. Called from whatever thread stored
    it; an exception ends the run.
    """


def pytest_benchkit_columns(config: pytest.Config, result: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Adds columns to the summary table: heading to cell, for one entry of ``results.json``."""
