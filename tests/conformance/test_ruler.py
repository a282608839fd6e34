"""RULER's scorer held against the published rule, and its prompts against three real vocabularies."""

from __future__ import annotations

import hashlib
import random
import re
import string
import time
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.ruler import samples
from pytest_benchkit.datasets.ruler.cells import FAMILIES, HOTPOTQA, LENGTHS, SQUAD, cell_at
from pytest_benchkit.datasets.ruler.corpora import PARTS, Corpora
from pytest_benchkit.datasets.ruler.source import Ruler
from pytest_benchkit.scoring import ruler
from pytest_benchkit.sizing import PlainSizer
from tests.conformance import vocabularies
from tests.conformance.comparison import Comparison
from tests.support import ruler_texts

if TYPE_CHECKING:
    from pytest_benchkit.task import Task

TEMPLATE = 64
REPLIES = 6000


def string_match_all(prediction: str, references: list[str]) -> float:
    """The published rule for all families but qa, on one prediction."""
    return sum(1.0 if one.lower() in prediction.lower() else 0.0 for one in references) / len(references)


def string_match_part(prediction: str, references: list[str]) -> float:
    """The published rule for qa: the best reference counts."""
    return max(1.0 if one.lower() in prediction.lower() else 0.0 for one in references)


def postprocessed(prediction: str) -> str:
    return re.sub("[\x00-\x1f]", "\n", prediction.strip()).strip()


def compare() -> Comparison:
    """Replies made of golds, parts of golds, other needles and noise, in any case and order."""
    held = Comparison("ruler", "string_match_all, string_match_part (NVIDIA/RULER @ c3f5e3b, by their rule)")
    dice = random.Random(7)
    rows = Ruler("ruler", 3, ruler_texts.corpora())
    tasks = [rows.smallest(task) for task in rows.load()[:156]]
    for number in range(REPLIES):
        task = tasks[number % len(tasks)]
        golds: list[str] = list(task["golds"])
        reply = _reply(golds, tasks[dice.randrange(len(tasks))]["golds"], dice)
        any_gold = FAMILIES[task["family"]].any_gold
        theirs = (string_match_part if any_gold else string_match_all)(postprocessed(reply), golds)
        ours = ruler.score(reply, golds, any_gold=any_gold).value
        held.hold(ours, theirs, f"{task.id}: {reply!r}")
    return held


def _reply(golds: list[str], others: list[str], dice: random.Random) -> str:
    pieces = [gold for gold in golds if dice.random() < 0.6]
    pieces += [other for other in others if dice.random() < 0.3]
    pieces += [gold[1:] for gold in golds if dice.random() < 0.2]
    pieces += ["".join(dice.choices(string.printable, k=5)) for _ in range(dice.randrange(4))]
    dice.shuffle(pieces)
    text = dice.choice([", ", "\n", "", "\x00", " and "]).join(pieces)
    return dice.choice([text, text.upper(), text.title(), text.swapcase()])


def test_scorer_equals_the_published_rule() -> None:
    compare().demand(at_least=REPLIES)


# ---------------------------------------------------------------------- sizes

NEEDS = pytest.mark.skipif(
    not vocabularies.ready(), reason=f"get what is measured with: {vocabularies.COMMAND}"
)


def corpora() -> Corpora:
    """Words and essays of the catalog; questions and documents of ours, which no wheel has."""
    made = {SQUAD: ruler_texts.squad(900), HOTPOTQA: ruler_texts.hotpotqa(90)}
    own = {name: ruler_texts.made(name, rows, here=True) for name, rows in made.items()}
    return Corpora({**PARTS, **own})


class Counting(PlainSizer):
    """A sizer with one of the vocabularies."""

    def __init__(self, name: str) -> None:
        super().__init__(allowance=TEMPLATE)
        self.probes = 0
        self._counter = vocabularies.counter(name)

    def count(self, text: str) -> int:
        self.probes += 1
        return self._counter(text)


@pytest.fixture(scope="module")
def rows() -> Ruler:
    return Ruler("ruler", 3, corpora())


def tasks_of(rows: Ruler, length: str, families: tuple[str, ...] = tuple(FAMILIES)) -> list[Task]:
    first = list(LENGTHS).index(length) * len(FAMILIES)
    found = list(rows.load()[first : first + len(FAMILIES)])
    assert cell_at(first).length == length
    return [task for task in found if task["family"] in families]


def budget(task: Task) -> int:
    return LENGTHS[task["length"]] - FAMILIES[task["family"]].answer_tokens - TEMPLATE


@NEEDS
@pytest.mark.parametrize("name", vocabularies.MEMBERS)
@pytest.mark.parametrize("length", ["4k", "16k"])
def test_prompts_are_full_with_an_exact_counter(rows: Ruler, name: str, length: str) -> None:
    for bare in tasks_of(rows, length):
        sizer = Counting(name)
        task = rows.fit(bare, sizer)
        share = task["tokens"] / budget(task)
        documents = FAMILIES[task["family"]].haystack == "documents"
        assert (0.85 if documents else 0.97) <= share <= 1, (task.id, share)
        assert sizer.probes <= 8, task.id
        assert task["sized"] == "exact"
        golds = [gold for gold in task["golds"] if gold in task["prompt"]]
        assert golds == task["golds"] or documents


@NEEDS
@pytest.mark.parametrize("length", ["4k", "16k", "128k"])
def test_prompts_are_never_too_long_without_one(rows: Ruler, length: str) -> None:
    families = (
        tuple(FAMILIES) if length != "128k" else ("niah_single_1", "niah_multikey_3", "vt", "cwe", "fwe")
    )
    for bare in tasks_of(rows, length, families):
        started = time.process_time()
        task = rows.fit(bare, PlainSizer(allowance=TEMPLATE))
        assert time.process_time() - started < 1.0, task.id  # of a prompt of 128k too
        for name in vocabularies.MEMBERS:
            share = vocabularies.counter(name)(task["prompt"]) / budget(task)
            assert 0.35 < share <= 1, (task.id, name, share)


@NEEDS
@pytest.mark.parametrize("name", vocabularies.MEMBERS)
def test_prompts_are_never_too_long_with_measured_ratios(rows: Ruler, name: str) -> None:
    count = vocabularies.counter(name)
    texts = samples.texts(rows.corpora)
    ratios = {kind: 0.95 * len(text) / count(text) for kind, text in texts.items()}
    for length in ("4k", "32k"):
        for bare in tasks_of(rows, length):
            task = rows.fit(bare, PlainSizer(allowance=TEMPLATE, ratios=ratios))
            share = count(task["prompt"]) / budget(task)
            assert 0.7 < share <= 1, (task.id, share)
            assert task["sized"] == "calibrated"


@NEEDS
def test_needles_of_the_real_words_are_what_they_were() -> None:
    rows = Ruler("ruler", 3)
    golds = [
        rows.smallest(task)["golds"]
        for task in rows.load()
        if not {SQUAD, HOTPOTQA} & set(FAMILIES[task["family"]].corpora)
    ]
    assert (
        hashlib.sha256(repr(golds).encode()).hexdigest()
        == "7dba17c60378cd8d845c254f9a3e89d7e489cae897399192d59cf8d2bffd651b"
    )
