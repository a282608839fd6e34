"""RULER as a source of rows, its draws and its readers."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.datasets.ruler import draws, readers, samples
from pytest_benchkit.datasets.ruler.cells import (
    ESSAYS,
    FAMILIES,
    HOTPOTQA,
    LENGTHS,
    SAFE_RATIOS,
    SQUAD,
    WORDS,
    cell_at,
)
from pytest_benchkit.datasets.ruler.corpora import Essays, Words
from pytest_benchkit.datasets.ruler.source import Ruler
from pytest_benchkit.datasets.sources import TASK_ID
from pytest_benchkit.errors import DataFault, DataMissing
from pytest_benchkit.task import TaskSource
from tests.support import ruler_texts
from tests.support.ruler_texts import corpora

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = (WORDS, ESSAYS, SQUAD, HOTPOTQA)


def test_every_78_rows_hold_all_cells_once() -> None:
    ruler: TaskSource = Ruler("ruler", 3, corpora(missing=NOTHING))
    tasks = ruler.load()
    assert len(tasks) == ruler.count == 234
    for start in range(0, 234, 78):
        cells = {(task["family"], task["length"]) for task in tasks[start : start + 78]}
        assert cells == {(family, length) for family in FAMILIES for length in LENGTHS}
        assert {task["sample"] for task in tasks[start : start + 78]} == {start // 78}
    assert (tasks[0].id, tasks[77].id) == ("4k-niah-single-1-000", "128k-qa-2-000")
    assert tasks[-1].id == "128k-qa-2-002"
    with pytest.raises(IndexError):
        _ = tasks[234]


def test_index_of_39000_rows_makes_none() -> None:
    full = Ruler("ruler-full", 500, corpora(missing=NOTHING))
    index, tasks = full.index(), full.load()
    assert len(index) == full.count == 39_000
    assert index.planned
    assert len(set(index.ids)) == 39_000
    words = full.id_words or ()
    for place in (0, 1, 77, 78, 20_000, 38_999):
        task = tasks[place]
        assert (task.id, task.category, task.index) == (index.ids[place], index.categories[place], place)
        assert TASK_ID.fullmatch(task.id)
        assert cell_at(place).id == task.id
        assert all(any(run in word for word in words) for run in re.split(r"\d+", task.id) if run)


def test_hash_of_the_rows_covers_corpora_and_ids() -> None:
    whole = Ruler("ruler", 3, corpora()).index()
    assert whole.rows_sha256 == Ruler("ruler", 3, corpora()).index().rows_sha256
    assert whole.source == f"{ESSAYS}; {SQUAD}; {HOTPOTQA}; {WORDS}"
    others = [
        Ruler("ruler", 2, corpora()),
        Ruler("ruler", 3, corpora(missing=(SQUAD,))),
        Ruler("ruler", 3, corpora(english=("q",))),
    ]
    assert len({whole.rows_sha256, *(other.index().rows_sha256 for other in others)}) == 4


def test_only_words_are_indispensable() -> None:
    assert Ruler("ruler", 3, corpora()).state().gaps == []
    state = Ruler("ruler", 3, corpora(missing=(SQUAD, HOTPOTQA))).state()
    assert state.ready
    (gap,) = state.gaps
    assert f"benchkit datasets install {SQUAD} {HOTPOTQA}`" in gap
    assert not Ruler("ruler", 3, corpora(missing=(WORDS,))).state().ready


def test_installing_tries_all_and_fails_for_words_only() -> None:
    said: list[str] = []
    Ruler("ruler", 3, corpora(missing=(SQUAD,))).install(said.append)
    assert said == [f"ruler: rows that need {SQUAD} will be skipped: {SQUAD} cannot be had"]
    with pytest.raises(DataMissing, match=f"{WORDS} cannot be had"):
        Ruler("ruler", 3, corpora(missing=(ESSAYS, WORDS))).install(said.append)
    assert f"{ESSAYS} cannot be had" in said[1]


def test_samples_have_a_text_for_each_kind_whose_corpus_is_here() -> None:
    made = samples.texts(corpora())
    assert made.keys() == SAFE_RATIOS.keys()
    assert all(1500 <= len(text) <= 2600 for text in made.values()), {k: len(v) for k, v in made.items()}
    bare = samples.texts(corpora(missing=NOTHING))
    assert bare.keys() == {"noise", "uuids", "chains", "coded"}
    assert "documents" in samples.texts(corpora(missing=(SQUAD,)))


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_draws_apart_share_nothing(seed: int, count: int) -> None:
    bits = Random(seed)
    texts = ["abc DEF"]
    found = draws.apart(lambda: draws.letters(bits, 1 + bits.getrandbits(1) + 1, draws.UPPER), count, texts)
    assert len(found) == count
    for one in found:
        assert one.lower() not in texts[0].lower()
        assert sum(one in other for other in found) == 1


@given(st.integers(0, 2**32))
def test_numbers_and_uuids_have_their_form(seed: int) -> None:
    bits = Random(seed)
    assert re.fullmatch(r"[1-9]\d{6}", draws.number(bits))
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", draws.uuid4(bits)
    )
    assert sorted(draws.places(bits, 5, 5)) == [0, 1, 2, 3, 4]


@given(st.integers(0, 200))
def test_essays_begin_again_and_are_cut_at_the_word(words: int) -> None:
    text = Essays(["One two.  Three\nfour", " five! Six"])
    assert text.text == "One two. Three four five! Six"
    found = " ".join(text.sentences(words)).split(" ") if words else []
    assert found == (text.text.split() * 40)[:words]


def test_words_of_several_words_are_left_out() -> None:
    lists = {
        "nounlist": ["ATM", "contact lens", "arm-rest", "atm"],
        "adjectivelist": ["wet "],
        "verblist": [""],
    }
    words = Words(lists)
    assert (words.nouns, words.adjectives) == (["atm", "arm-rest"], ["wet"])
    assert words.all == ["arm-rest", "atm", "wet"]


def test_readers_of_questions(tmp_path: Path) -> None:
    qas = [
        {"question": "q1", "is_impossible": False, "answers": [{"text": "a"}, {"text": "a"}, {"text": "b"}]},
        {"question": "q2", "is_impossible": True, "answers": []},
    ]
    squad = {"data": [{"title": "T", "paragraphs": [{"context": "text", "qas": qas}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(squad))
    (task,) = readers.squad([path])
    assert task["paragraphs"] == [{"text": "text", "questions": [{"question": "q1", "golds": ["a", "b"]}]}]
    hotpot = [
        {
            "question": "q",
            "answer": "yes",
            "supporting_facts": [["B", 0], ["B", 2]],
            "context": [["A", ["One.", " Two."]], ["B", ["Three."]]],
        }
    ]
    path.write_text(json.dumps(hotpot))
    (task,) = readers.hotpotqa([path])
    assert (task["paragraphs"], task["supporting"], task["golds"]) == (
        ["A\nOne. Two.", "B\nThree."],
        [1],
        ["yes"],
    )
    for read in (readers.squad, readers.hotpotqa, readers.english_words):
        for text in ('{"data": 3}', "[[]]", "{", '[{"question": "q"}]'):
            path.write_text(text)
            with pytest.raises(DataFault):
                read([path])


def test_readers_of_words_and_essays(tmp_path: Path) -> None:
    first, second = tmp_path / "nounlist.txt", tmp_path / "b.txt"
    first.write_text("one\ntwo\n")
    second.write_bytes(b"three\r\nfour")
    (row,) = readers.words([first])
    assert (row.id, row["words"]) == ("nounlist", ["one", "two"])
    assert [task["text"] for task in readers.essays([first, second])] == ["one\ntwo\n", "three\r\nfour"]
    second.write_bytes(b"\xff")
    with pytest.raises(DataFault, match="not UTF-8"):
        readers.essays([second])
    for text in ('["x", "y"]', '{"0": "x", "1": "y"}'):
        first.write_text(text)
        (row,) = readers.english_words([first])
        assert row["words"] == ["x", "y"]


def test_corpora_of_the_catalog_are_read_as_the_generator_needs_them() -> None:
    from pytest_benchkit.datasets.catalog import DATASETS
    from pytest_benchkit.datasets.ruler.corpora import ENGLISH, PARTS

    assert {**PARTS, ENGLISH: DATASETS[ENGLISH]} == {
        name: data for name, data in DATASETS.items() if name.startswith("ruler/")
    }
    assert set(ruler_texts.texts()) == set(PARTS)
