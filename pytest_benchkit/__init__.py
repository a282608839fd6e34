"""pytest-benchkit: LLM benchmarks and their gates as pytest test suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_benchkit.decisions import Decision
    from pytest_benchkit.errors import SkipTask
    from pytest_benchkit.models.base import ChatRequest, Model
    from pytest_benchkit.models.scripted import ScriptedModel
    from pytest_benchkit.reply import Reply, ToolCall
    from pytest_benchkit.score import Outcome, Reading, Score
    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import Message, Task

__version__ = "0.1.0"

_HOMES = {
    "ChatRequest": "models.base",
    "Decision": "decisions",
    "Message": "task",
    "Model": "models.base",
    "Outcome": "score",
    "Reading": "score",
    "Reply": "reply",
    "Score": "score",
    "SkipTask": "errors",
    "ScriptedModel": "models.scripted",
    "Suite": "suite",
    "Task": "task",
    "ToolCall": "reply",
}

__all__ = [
    "ChatRequest",
    "Decision",
    "Message",
    "Model",
    "Outcome",
    "Reading",
    "Reply",
    "Score",
    "ScriptedModel",
    "SkipTask",
    "Suite",
    "Task",
    "ToolCall",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Public names on first use (PEP 562): the entry point is imported by every pytest run."""
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f"pytest_benchkit.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
