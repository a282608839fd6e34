"""The window that Ollama is asked for (M-17)."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_benchkit.datasets import Rows
from pytest_benchkit.engine.windows import largest_need, settle
from pytest_benchkit.errors import SkipTask, UsageProblem
from pytest_benchkit.models.profiles import ModelSpec
from pytest_benchkit.reply import Reply
from pytest_benchkit.score import Score
from pytest_benchkit.settings import Settings
from pytest_benchkit.sizing import TEMPLATE_TOKENS, Sizer
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Message, Task


class Words(Suite):
    """Rows of given lengths; a negative one cannot be asked."""

    key = "words"
    data = Rows([{"size": size} for size in (10, 4000, -1, 300)])
    max_tokens = 100

    def prompt(self, task: Task) -> str | list[Message]:
        if task["size"] < 0:
            raise ValueError("no such row")
        return "x" * int(task["size"])

    def score(self, task: Task, reply: Reply) -> Score:
        return Score(0.0, None, None, "none")


class Sized(Words):
    """Rows that are made for a window."""

    key = "sized"

    def fit(self, task: Task, sizer: Sizer) -> Task:
        if task["size"] < 0:
            raise SkipTask("context_too_small", "too long")
        return Task(task.id, task.index, {**task.data, "bound": 10 * task["size"]})

    def prompt_tokens(self, task: Task) -> int | None:
        return task.get("bound")


def spec(**settings: Any) -> ModelSpec:
    return ModelSpec("m", "http", "m", Settings(**settings), {}, base_url="http://x")


def test_the_largest_row_with_its_reply() -> None:
    suite = Words()
    settings = Settings()
    assert largest_need([(suite, range(4))], settings) == TEMPLATE_TOKENS + 2000 + 100
    assert largest_need([(suite, [0, 3])], settings) == TEMPLATE_TOKENS + 150 + 100
    assert largest_need([(suite, [0])], Settings(max_tokens=7)) == TEMPLATE_TOKENS + 5 + 7
    assert largest_need([(suite, [0]), (Sized(), range(4))], settings) == 40_000 + 100


def test_what_else_is_in_a_prompt_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [image, {"type": "text", "text": "é" * 10}]
    monkeypatch.setattr(Words, "prompt", lambda self, task: [{"role": "user", "content": parts}])
    need = largest_need([(Words(), [0])], Settings(system="y" * 40))
    assert need == TEMPLATE_TOKENS + 31 + 2048 + 100  # 40 + 1 + 20 bytes
    monkeypatch.setattr(Words, "tools", lambda self, task: [{"name": "z" * 86}])
    assert largest_need([(Words(), [0])], Settings(system="y" * 40)) == need + 50


@pytest.mark.parametrize("planned", [[], [(Words(), [2])], [(Sized(), [2])]])
def test_where_no_row_tells_it_is_the_usual_limit(planned: list[tuple[Suite, list[int]]]) -> None:
    assert largest_need(planned, Settings()) == TEMPLATE_TOKENS + 16_384
    assert largest_need(planned, Settings(max_tokens=9)) == TEMPLATE_TOKENS + 9


@pytest.mark.parametrize(
    ("context", "most", "need", "earlier", "window", "said"),
    [
        (None, 40960, 4096, None, 4096, 0),
        (None, 40960, 4097, None, 8192, 0),
        (None, None, 99_999, None, 102_400, 0),
        (None, 8000, 9000, None, 8000, 1),  # all it has, and too little
        (None, 8000, 7000, None, 8000, 0),
        (5000, 40960, 9000, None, 5000, 0),  # asked for, to the token
        (50_000, 40960, 100, None, 40960, 1),
        (None, 40960, 9000, 4096, 4096, 1),  # a run has one window
        (12_000, 40960, 9000, 4096, 12_000, 0),
    ],
)
def test_one_window(
    context: int | None, most: int | None, need: int, earlier: int | None, window: int, said: int
) -> None:
    lines: list[str] = []
    assert settle(spec(context=context), most, need, earlier, lines.append) == window
    assert len(lines) == said


def test_extra_body_does_not_hold_another() -> None:
    with pytest.raises(UsageProblem, match=r"options\.num_ctx"):
        settle(spec(extra_body={"options": {"num_ctx": 1}}), None, 1, None, print)
    assert settle(spec(extra_body={"options": "odd"}), None, 1, None, print) == 4096
