from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_benchkit.datasets import Rows
from pytest_benchkit.engine.preflight import missing_modules
from pytest_benchkit.score import Score
from pytest_benchkit.suite import Suite

if TYPE_CHECKING:
    from pytest_benchkit.reply import Reply
    from pytest_benchkit.task import Task


class Plain(Suite):
    """Plain: needs nothing."""

    key = "plain"
    data = Rows([{"question": "q"}])

    def prompt(self, task: Task) -> str:
        return "q"

    def score(self, task: Task, reply: Reply) -> Score:
        return Score(0.0)


class Needy(Plain):
    """Needy: needs three modules, one of which is here."""

    key = "needy"
    requires = {"no_such_a": "pack[extra]", "json": "never", "no_such_b": "pack[extra]"}


def test_sentence_names_what_is_missing_and_pips_command() -> None:
    assert missing_modules([Plain(), Needy()]) == [
        "needy: scoring needs no_such_a and no_such_b: pip install 'pack[extra]'"
    ]


def test_present_modules_are_no_problem() -> None:
    assert missing_modules([Plain()]) == []
