"""IFEval against lm-evaluation-harness 0.4.13's port of google-research's checkers, on the real rows.

Each row's instructions are put to both on replies made for it: one that tries to follow them, mutations of
it, and odd texts that are the same for all. Compared are the booleans of every instruction, strict and loose.
"""

from __future__ import annotations

import importlib
import logging
import random
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets.catalog import IFEVAL
from pytest_benchkit.scoring import ifeval, ifeval_samples
from tests.conformance.comparison import Comparison, EvaluatorMissing, installed, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_benchkit.task import Task

DISTRIBUTION, VERSION = "lm-eval", "0.4.13"
PER_ROW = 6
ODD = (
    " ",
    "\n\n",
    "*",
    "**",
    "* a\n*\n- b\n-\n\n  * c\n** d",
    "***\na\n***\n\n***",
    "a***b *** c\n***\nd",
    "******",
    "a******b",
    "******a\n******\nA******",
    "<<>> <<<>>> << >>\n<<a>> b>>",
    "[a [b] c] [d\n] [] [[e]]",
    "*a* **b** *** ** * *c\n* d*",
    '"quoted"',
    '"',
    '""',
    'my answer is yes. My answer is no. "',
    "```json\n{}\n```",
    "```JSON {} ```",
    "``````",
    '{"a": NaN}',
    "P.S. p. p. s p.p.s.",
    "p.\ns. P. P.S.",
    "Dr. Smith went to Washington D.C. yesterday. He said 3.5 was enough... Was it? Yes!",
    "SECTION 1 Section2 section 3\n\nDay1 PARAGRAPH 12",
    "'\"Word, and more\n\n\"'other' thing\n\n\n\nthird? yes\n\n",
    "I CAN'T SAY IT. WE'LL NOT-KNOW, D'YE? A.B. \"QUOTE\" (OK)",
    "ALL CAPITALS ARE HERE AND NOTHING ELSE IS WRITTEN",
    "only small letters are written in this sentence and it is long enough",
    "12345 !!! ### ,,, ，、",
    "Das ist ein deutscher Satz, der lang genug ist.",
    "\u2028\x85\x1c\r\nline\x0b\x0cends",
    "ümlaut ß İ ǅ ΑΣ ﬁ ①",
    "x\ud800y",
)
"""Texts at the edges of the checks."""


def evaluator(scratch: Path) -> Any:
    """The port's ``utils`` module, without the packages around it (they import the whole harness).

    ``scratch`` gets the sentence model out of the suite's own data, so that NLTK downloads nothing.
    """
    root = Path(str(installed(DISTRIBUTION, VERSION).locate_file("lm_eval")))
    if not IFEVAL.state().ready:
        raise EvaluatorMissing("the rows are not here: benchkit datasets install ifeval")
    import langdetect
    import nltk

    langdetect.DetectorFactory.seed = 0
    logging.getLogger("lm_eval").setLevel(logging.CRITICAL)
    _give_model(scratch)
    nltk.data.path.insert(0, str(scratch))
    names = ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval")
    for name, path in zip(names, (root, root / "tasks", root / "tasks" / "ifeval"), strict=True):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    try:
        return importlib.import_module("lm_eval.tasks.ifeval.utils")
    finally:
        for name in names:
            del sys.modules[name]


def _give_model(scratch: Path) -> None:
    folder = scratch / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for file in IFEVAL.companions:
        name = file.member.rpartition("/")[2]
        (folder / name).write_bytes(IFEVAL.companion(name))


def replies(task: Task, chance: random.Random) -> Iterator[str]:
    right, wrong = ifeval_samples.pair(task["instructions"], task["kwargs"])
    yield right
    yield wrong
    yield f"Sure! Here it is:\n{right}\nHope this helps."
    for _ in range(PER_ROW - 3):
        yield mutated(right, chance)


def mutated(text: str, chance: random.Random) -> str:
    """The text with a few things done to it that matter to some check."""
    for _ in range(chance.randint(1, 3)):
        place = chance.randint(0, len(text))
        end = min(len(text), place + chance.randint(0, 40))
        inserted = chance.choice(
            (
                "\n",
                "\n\n",
                "*",
                "**",
                "***",
                "******",
                ",",
                '"',
                "[x]",
                "<<t>>",
                "- ",
                "* ",
                "WORD ",
                ". ",
                " ",
            )
        )
        text = chance.choice(
            (
                text[:place] + text[end:],
                text[:place] + inserted + text[place:],
                text[:place] + text[place:end].swapcase() + text[end:],
                text + inserted + text[place:end],
                text.replace("\n\n", "\n", 1),
            )
        )
    return text


def is_googles(kwargs: Mapping[str, Any]) -> bool:
    """Whether the port would draw a letter by chance: it does for ``#`` and ``!``, google counts them."""
    return not kwargs.get("letter", "a").isalpha()


def compare(step: int = 1) -> Comparison:
    """Every ``step``-th row: all of them take 18 s, most of it in langdetect."""
    with tempfile.TemporaryDirectory() as scratch:
        return _compare(evaluator(Path(scratch)), IFEVAL.load()[::step])


def _compare(theirs: Any, tasks: Sequence[Task]) -> Comparison:
    held = Comparison(
        "ifeval",
        "lm-eval 0.4.13, tasks/ifeval (google-research's checkers)",
        note="google's letters `#` and `!` are counted as themselves; the port draws a letter by chance",
    )
    chance = random.Random(13)
    for task in tasks:
        example = theirs.InputExample(int(task.id), task["instructions"], task["prompt"], task["kwargs"])
        odd = chance.sample(ODD, 2)
        for reply in (*replies(task, chance), *odd):
            ours = ifeval.score(reply, task["instructions"], task["kwargs"]).labels
            strict = theirs.test_instruction_following_strict(example, reply).follow_instruction_list
            loose = theirs.test_instruction_following_loose(example, reply).follow_instruction_list
            ours_by_id = list(zip(ours["strict"], ours["loose"], strict=True))
            theirs_by_id = list(zip(strict, loose, strict=True))
            googles = [is_googles(kwargs) for kwargs in task["kwargs"]]
            for declared in sorted(set(googles)):
                held.hold(
                    [verdict for verdict, own in zip(ours_by_id, googles, strict=True) if own is declared],
                    [verdict for verdict, own in zip(theirs_by_id, googles, strict=True) if own is declared],
                    f"row {task.id}, reply {reply[:200]!r}",
                    declared=declared,
                )
    return held


@needs(DISTRIBUTION, VERSION)
@pytest.mark.skipif(not IFEVAL.state().ready, reason="benchkit datasets install ifeval")
def test_every_verdict_equals_the_port() -> None:
    compare(step=4).demand(at_least=1000)
