from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets.ifeval import INSTRUCTIONS, ifeval
from pytest_benchkit.datasets.intents import INTENTS
from pytest_benchkit.datasets.readers_labels import KINDS, banking77, medfailbench, xstest
from pytest_benchkit.errors import DataFault
from tests.unit.datasets import rowsets

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchkit.task import Task


def plain(tasks: list[Task]) -> list[tuple[Any, ...]]:
    return [(task.id, task.index, task.category, dict(task.data)) for task in tasks]


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_banking77_reads_upstream_and_the_interleaved_mirror_alike(tmp_path: Path) -> None:
    upstream = [
        {"text": "where is it?", "category": "card_arrival"},
        {"text": "\n\nmy card, twice", "category": "card_linking"},
        {"text": "rate ", "category": "exchange_rate"},
    ]
    mirror = [
        {"task_id": "BANKING77/2", "question": "rate ", "answer": "exchange_rate"},
        {"task_id": "BANKING77/0", "question": "where is it?", "answer": "card_arrival"},
        {"task_id": "BANKING77/1", "question": "my card, twice", "answer": "card_linking"},
    ]
    first = banking77([written(tmp_path / "a.csv", upstream)])
    assert plain(first) == plain(banking77([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    assert [(task.id, task["question"], task.category) for task in first] == [
        ("0", "where is it?", "card_arrival"),
        ("1", "my card, twice", "card_linking"),
        ("2", "rate ", "exchange_rate"),
    ]


def test_banking77_refuses_an_unknown_intent(tmp_path: Path) -> None:
    rows = [{"text": "x", "category": "card_arrivals"}]
    with pytest.raises(DataFault, match="banking77 row 0: 'card_arrivals' is none of the 77"):
        banking77([written(tmp_path / "a.csv", rows)])
    assert len(set(INTENTS)) == 77


def test_xstest_reads_copies_with_and_without_ids(tmp_path: Path) -> None:
    rows = rowsets.xstest()
    with_ids = [{"id": str(place), **row} for place, row in enumerate(rows, 1)]
    first = xstest([written(tmp_path / "a.csv", with_ids)])
    assert plain(first) == plain(xstest([rowsets.parquet(tmp_path / "b.parquet", rows)]))
    assert [(task.id, task.category, task["answer"]) for task in first] == [
        ("001", "homonyms", "safe"),
        ("002", "contrast_privacy", "unsafe"),
    ]


@pytest.mark.parametrize(
    ("kind", "label"), [("homonyms", "unsafe"), ("contrast_homonyms", "safe"), ("x", "")]
)
def test_xstest_holds_label_against_type(tmp_path: Path, kind: str, label: str) -> None:
    rows = [{"id": "7", "prompt": "p", "type": kind, "label": label, "focus": "", "note": ""}]
    with pytest.raises(DataFault, match="xstest row 007"):
        xstest([written(tmp_path / "a.csv", rows)])


def test_medfailbench_reads_upstreams_table_and_the_mirror_alike(tmp_path: Path) -> None:
    mirror = [{"scenario_id": f"H{n:03}", "prompt_text": f'A "case" {n}, briefly.'} for n in (1, 8, 16, 21)]
    table = tmp_path / "a.tsv"
    lines = ["scenario_id\tprompt_text\toutput_capture_instruction"]
    lines += [f"{row['scenario_id']}\t{row['prompt_text']}\tSave it." for row in mirror]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    first = medfailbench([table])
    assert plain(first) == plain(medfailbench([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    assert [(task.id, task.category) for task in first] == [
        ("h001", "emergency"),
        ("h008", "medication"),
        ("h016", "triage"),
        ("h021", "evidence"),
    ]
    assert sorted(number for numbers in KINDS.values() for number in numbers) == list(range(1, 31))


@pytest.mark.parametrize(
    "row", [{"scenario_id": "H031", "prompt_text": "p"}, {"scenario_id": "H001"}, {"x": 1}]
)
def test_medfailbench_refuses_other_rows(tmp_path: Path, row: dict[str, Any]) -> None:
    with pytest.raises(DataFault, match="medfailbench row 0"):
        medfailbench([rowsets.jsonl(tmp_path / "a.jsonl", [row])])


def test_ifeval_reads_upstream_and_mirror_alike(tmp_path: Path) -> None:
    upstream = rowsets.ifeval()
    mirror = [
        {
            **{name: value for name, value in row.items() if name != "key"},
            "task_id": f"IFEval/{row['key']}",
            "kwargs": [{n: v for n, v in given.items() if v is not None} for given in row["kwargs"]],
        }
        for row in upstream
    ]
    first = ifeval([rowsets.jsonl(tmp_path / "a.jsonl", upstream)])
    assert plain(first) == plain(ifeval([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    assert [(task.id, task.category) for task in first] == [("0099", "punctuation"), ("1000", "keywords")]
    assert first[0].data == {
        "prompt": "Say it without commas.",
        "instructions": ["punctuation:no_comma"],
        "kwargs": [{}],
    }
    assert len(INSTRUCTIONS) == 25


@pytest.mark.parametrize(
    ("ids", "kwargs", "words"),
    [
        (["punctuation:none"], [{}], "there is no instruction"),
        ([], [], "0 instructions"),
        (["punctuation:no_comma"], [], "1 instructions have 0 sets"),
        (["keywords:existence"], [{}], r"has the arguments \[\]"),
        (["punctuation:no_comma"], [{"keywords": ["a"]}], "has the arguments"),
        (["keywords:existence"], [{"keywords": "tea"}], "cannot have keywords = 'tea'"),
        (
            ["keywords:frequency"],
            [{"keyword": "a", "frequency": 1, "relation": "more than"}],
            "cannot have relation",
        ),
        (["detectable_format:number_bullet_lists"], [{"num_bullets": "2"}], "cannot have num_bullets"),
        (["startend:end_checker"], [{"end_phrase": ""}], "cannot have end_phrase"),
    ],
)
def test_ifeval_rows_that_no_check_could_use_stop_with_their_id(
    tmp_path: Path, ids: list[str], kwargs: list[dict[str, Any]], words: str
) -> None:
    row = {"key": 5, "prompt": "p", "instruction_id_list": ids, "kwargs": kwargs}
    with pytest.raises(DataFault, match=f"ifeval row 5.*{words}"):
        ifeval([rowsets.jsonl(tmp_path / "a.jsonl", [row])])
