"""What each family's prompt holds: golds where they should be, nowhere else, and drawn before any size."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.datasets.ruler.cells import ESSAYS, FAMILIES, LENGTHS, SQUAD, WORDS, Cell
from pytest_benchkit.datasets.ruler.corpora import Corpora
from pytest_benchkit.datasets.ruler.lists import SHAPES, ZETA_2
from pytest_benchkit.datasets.ruler.source import Ruler
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.sizing import PlainSizer
from tests.support import ruler_texts
from tests.support.ruler_texts import corpora, spelt

if TYPE_CHECKING:
    from pytest_benchkit.task import Task

RULER = Ruler("ruler", 3, corpora())
NIAH = [name for name in FAMILIES if name.startswith("niah")]


class Tokenizer(PlainSizer):
    """Counts ``ratio`` characters as one token, exactly; remembers how often it was asked."""

    def __init__(self, ratio: float = 3.0, window: int | None = None) -> None:
        super().__init__(window)
        self.per_token = ratio
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return int(len(text) / self.per_token) + 1


def row(family: str, length: str = "4k", sample: int = 0) -> Task:
    place = (sample * len(LENGTHS) + list(LENGTHS).index(length)) * len(FAMILIES) + list(FAMILIES).index(
        family
    )
    task = RULER.load()[place]
    assert task.id == Cell(FAMILIES[family], length, sample).id
    return task


def made(family: str, length: str = "4k", sample: int = 0, ratio: float = 3.0) -> Task:
    return RULER.fit(row(family, length, sample), Tokenizer(ratio))


@pytest.mark.parametrize("family", NIAH)
@pytest.mark.parametrize("sample", range(3))
def test_needles_are_hidden_once_and_named_in_the_question(family: str, sample: int) -> None:
    task, spec = made(family, sample=sample), FAMILIES[family]
    assert len(task["golds"]) == len(task["depths"]) == spec.asked * spec.values
    text, _, question = task["prompt"].rpartition("\n\n")
    lines = dict(re.findall(r"One registered (?:number|UUID) of (?:[\w-]+) is ([\w-]+)\.()", text))
    assert len(lines) >= spec.keys * spec.values
    for gold in task["golds"]:
        assert text.count(gold) == 1
        key = re.search(rf"registered (?:number|UUID) of ([\w-]+) is {gold}\.", text)
        assert key is not None
        assert key[1] in question
        assert gold not in question
        assert re.fullmatch(r"\d{7}" if spec.value_form == "number" else r"[0-9a-f-]{36}", gold)
    noun = "number" if spec.value_form == "number" else "UUID"
    many = len(task["golds"]) > 1
    assert (f"Which {noun}s are" in question) == many
    assert (f"There are {len(task['golds'])}." in question) == many


def test_distractors_are_of_the_target_s_kind_and_differ() -> None:
    for family, form in (("niah_multikey_2", r"\d{7}"), ("niah_multikey_3", r"[0-9a-f-]{36}")):
        found = re.findall(r"of ([\w-]+) is ([\w-]+)\.", made(family)["prompt"])
        assert len(found) > 30
        assert len({key for key, _ in found}) == len({value for _, value in found}) == len(found)
        assert all(re.fullmatch(form, value) for _, value in found)


def test_no_key_is_part_of_another_key() -> None:
    texts = ruler_texts.texts()
    nouns = spelt(40, 3)
    texts[WORDS][0]["words"] = [*nouns, *(f"{noun}x" for noun in nouns)]
    texts[WORDS][1]["words"] = ["red", "blue", "green", "grey", "white"]
    parts = {name: ruler_texts.made(name, rows, here=True) for name, rows in texts.items()}
    few = Ruler("ruler", 3, Corpora(parts, ruler_texts.made("e", [], here=False)))
    asked_for_short = 0
    for sample in range(3):
        task = few.fit(row("niah_multikey_2", sample=sample), Tokenizer())
        keys = re.findall(r"number of ([\w-]+) is", task["prompt"])
        (key,) = re.findall(r"registered for ([\w-]+) in", task["prompt"])
        asked_for_short += not key.endswith("x")
        assert [other for other in keys if key in other] == [key]
    assert asked_for_short


def test_essay_needles_lie_on_forty_depths_without_repeat() -> None:
    task = made("niah_multiquery", "16k")
    assert len(set(task["depths"])) == 4
    assert all(round(depth * 39) == pytest.approx(depth * 39, abs=0.01) for depth in task["depths"])
    for gold, depth in zip(task["golds"], task["depths"], strict=True):
        assert task["prompt"].index(gold) / len(task["prompt"]) == pytest.approx(depth, abs=0.03)


def test_chain_can_be_followed_and_the_example_is_another() -> None:
    task = made("vt", "8k")
    text, _, question = task["prompt"].rpartition("\n")
    example, _, hay = text.partition("Now the text.\n")
    found = re.findall(r"VAR (\w{5}) = (?:VAR )?(\w{5})\b", hay)
    assert [name for name, _ in found] == task["golds"]
    assert [source for _, source in found] == [found[0][1], *task["golds"][:-1]]
    assert 10_000 <= int(found[0][1]) <= 99_998
    assert found[0][1] in question
    assert list(task["depths"]) == sorted(task["depths"])
    shown = re.findall(r"VAR (\w{3}) =", example)
    assert len(set(shown)) == 5
    assert ", ".join(shown) in example
    assert found[0][1] not in example


@pytest.mark.parametrize(
    ("length", "ratio", "shape"), [("8k", 3.0, 0), ("4k", 1.5, 1), ("4k", 1.1, 2), ("4k", 0.6, 3)]
)
def test_common_words_are_counted_and_part_of_no_other(length: str, ratio: float, shape: int) -> None:
    task = made("cwe", length, ratio=ratio)
    example, often, seldom = SHAPES[shape]
    assert ("shape" in task["facts"]) == (shape > 0)
    assert ("An example." in task["prompt"]) == example
    lists = re.findall(r"^1\. .*$", task["prompt"], re.M)
    counts = Counter(re.findall(r"\d+\. ([\w-]+)", lists[-1]))
    assert {word for word, count in counts.items() if count == often} == set(task["golds"])
    assert set(counts.values()) == {often, seldom}
    assert len(counts) >= 30
    for gold in task["golds"]:
        assert [word for word in counts if gold in word] == [gold]
    if example:
        shown = Counter(re.findall(r"\d+\. ([\w-]+)", lists[0]))
        assert sorted(shown.values()) == [3] * 30 + [10] * 10
        assert not shown.keys() & counts.keys()


def test_long_lists_go_on_with_upstream_s_words_or_with_pairs() -> None:
    plain = made("cwe", "128k", ratio=8.0)
    pairs = {word for word in re.findall(r"\d+\. ([\w-]+)", plain["prompt"]) if "-" in word}
    assert len(pairs) > 3000
    assert not [word for word in pairs if any(gold in word for gold in plain["golds"])]
    english = tuple("q" + word for word in spelt(9000, 4))
    other = Ruler("ruler", 3, corpora(english=english)).fit(row("cwe", "128k"), Tokenizer(8.0))
    words = set(re.findall(r"\d+\. ([\w-]+)", other["prompt"]))
    assert len(words & set(english)) > 8000
    assert not [word for word in words for gold in other["golds"] if gold in word and gold != word]
    assert other["golds"] == plain["golds"]


@pytest.mark.parametrize("length", LENGTHS)
def test_coded_words_follow_their_ranks(length: str) -> None:
    task = RULER.fit(row("fwe", length), PlainSizer())
    counts = Counter(task["prompt"].split("\n\n")[1].split(" "))
    ranked = counts.most_common(5)
    assert ranked[0][0] == "..."
    assert [word for word, _ in ranked[1:4]] == task["golds"]
    assert ranked[3][1] > ranked[4][1] >= 1
    assert all(earlier > later for (_, earlier), (_, later) in pairwise(ranked))
    units = ranked[0][1] * ZETA_2
    assert ranked[2][1] == pytest.approx(units / 9 / ZETA_2, abs=2)
    assert len(counts) <= (LENGTHS[length] - 50) // 50


def test_documents_hold_the_answer_and_are_numbered() -> None:
    for family in ("qa_1", "qa_2"):
        task = made(family, "4k", 1)
        numbers = [int(number) for number in re.findall(r"^Document (\d+):$", task["prompt"], re.M)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 10
        assert task["golds"][0] in task["prompt"]
        assert len(set(task["prompt"].split("\n\n"))) == len(task["prompt"].split("\n\n"))


def test_related_documents_come_before_random_ones_and_supporting_ones_before_all() -> None:
    (recipe,) = list(RULER.recipes(Cell(FAMILIES["qa_2"], "4k", 1)))[:1]
    assert recipe.least == 2
    least = recipe.build(2).prompt
    assert {"Xanth013", "Xanth017"} == set(re.findall(r"Xanth\d+", least))
    ten = recipe.build(10).prompt
    assert {f"Xanth{number:03d}" for number in range(10, 20)} == set(re.findall(r"Xanth\d+", ten))


def test_question_whose_documents_do_not_fit_gives_way_to_the_next() -> None:
    texts = ruler_texts.texts()
    rows = texts["ruler/hotpotqa"]
    rows[0]["paragraphs"][3] = "long " * 20_000
    parts = {name: ruler_texts.made(name, rows, here=True) for name, rows in texts.items()}
    task = Ruler("ruler", 3, Corpora(parts, ruler_texts.made("e", [], here=False))).fit(
        row("qa_2"), Tokenizer()
    )
    assert task["facts"] == {"skipped": [0]}
    assert task["golds"] == ["Xanth017"]


@pytest.mark.parametrize("family", FAMILIES)
def test_golds_do_not_depend_on_the_tokenizer_and_are_stable(family: str) -> None:
    first, second = made(family, "8k", ratio=3.0), made(family, "8k", ratio=2.0)
    assert first["golds"] == second["golds"]
    assert first["prompt"] != second["prompt"]
    assert made(family, "8k", 1)["golds"] != first["golds"]
    assert made(family, "8k")["prompt"] == first["prompt"]


def test_golden_hash_of_what_is_asked() -> None:
    """Changes with any change to seeds, draws or their order: then GENERATOR must be raised."""
    golds = [made(family, length)["golds"] for length in ("4k", "16k") for family in FAMILIES]
    found = hashlib.sha256(repr(golds).encode()).hexdigest()
    assert found == "1254f20f834d83ab18ff422c7b9d3110f7750ab3ae47bbb113a90b735022e8b1"


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_without_their_corpus_are_skipped_and_others_are_not(family: str) -> None:
    needed = FAMILIES[family].corpora
    for missing in (WORDS, ESSAYS, SQUAD):
        ruler = Ruler("ruler", 3, corpora(missing=(missing,)))
        if missing in needed:
            with pytest.raises(SkipTask, match=f"benchkit datasets install {missing}") as caught:
                ruler.fit(row(family), PlainSizer())
            assert caught.value.detail == "no_corpus"
        else:
            assert ruler.fit(row(family), PlainSizer())["prompt"]


@pytest.mark.parametrize("family", FAMILIES)
def test_window_decides_before_anything_is_made(family: str) -> None:
    nothing = Ruler("ruler", 3, corpora(missing=(WORDS, ESSAYS, SQUAD)))
    with pytest.raises(SkipTask, match=r"takes a window of 16,384 tokens, the model's is 16,383") as caught:
        nothing.fit(row(family, "16k"), PlainSizer(16383))
    assert caught.value.detail == "context_too_small"
    assert RULER.fit(row(family, "16k"), PlainSizer(16384))["prompt"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", ["4k", "32k"])
def test_prompt_fits_and_is_full_with_an_exact_counter(family: str, length: str) -> None:
    sizer = Tokenizer(3.1)
    sizer.allowance = 90
    task = RULER.fit(row(family, length), sizer)
    budget = LENGTHS[length] - FAMILIES[family].answer_tokens - 90
    full = 0.85 if family.startswith("qa") else 0.97
    if not family.startswith("qa") or length == "4k":  # our own documents run out
        assert task["tokens"] >= full * budget
    assert sizer.count(task["prompt"]) == task["tokens"] <= budget
    assert (task["sized"], task["bound"]) == ("exact", task["tokens"] + 90)
    assert sizer.asked <= 1 + 8
    again = RULER.fit(row(family, length, 1), sizer)
    assert again["tokens"] <= budget


def test_answers_of_a_row_fit_beside_a_long_template_or_the_row_is_skipped() -> None:
    sizer = Tokenizer()
    sizer.allowance = 3900
    with pytest.raises(SkipTask, match="no text of this family fits") as caught:
        RULER.fit(row("cwe"), sizer)
    assert caught.value.detail == "context_too_small"


def test_smallest_prompt_needs_no_model() -> None:
    for family in FAMILIES:
        task = RULER.smallest(row(family))
        assert task["golds"]
        assert len(task["prompt"]) < 12_000
