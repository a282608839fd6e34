from __future__ import annotations

import csv
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.datasets import readers
from pytest_benchkit.errors import DataFault, DataMissing
from tests.unit.datasets import rowsets

if TYPE_CHECKING:
    from pathlib import Path


def plain(tasks: list[Any]) -> list[tuple[Any, ...]]:
    return [(task.id, task.index, task.category, task.group, dict(task.data)) for task in tasks]


def test_gsm8k_reads_upstream_and_mirror_alike(tmp_path: Path) -> None:
    upstream = [
        {"question": "q", "answer": "work <<1+1=2>> #### no\n#### 1,234"},
        {"question": "r", "answer": "#### -5"},
    ]
    mirror = [{"question": "q", "answer": "1234"}, {"question": "r", "answer": "-5", "task_id": "GSM8K/1"}]
    first = readers.gsm8k([rowsets.jsonl(tmp_path / "a.jsonl", upstream)])
    assert plain(first) == plain(readers.gsm8k([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    assert [(task.id, task["answer"]) for task in first] == [("0", "1234"), ("1", "-5")]


def test_ids_are_padded_to_the_largest(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": "1"}] * 101
    tasks = readers.gsm8k([rowsets.jsonl(tmp_path / "a.jsonl", rows)])
    assert (tasks[0].id, tasks[100].id) == ("000", "100")


@pytest.mark.parametrize("gold", ["#### twelve", "#### ", "nothing", "#### 1e5"])
def test_gold_that_is_no_number_stops_with_its_id(tmp_path: Path, gold: str) -> None:
    rows = [{"question": "q", "answer": "#### 1"}, {"question": "q", "answer": gold}]
    with pytest.raises(DataFault, match="gsm8k row 1: the gold"):
        readers.gsm8k([rowsets.jsonl(tmp_path / "a.jsonl", rows)])


def test_arc_maps_digit_labels_by_position(tmp_path: Path) -> None:
    digits = {
        "question": "q ",
        "choices": {"text": ["x", "y ", "z"], "label": ["1", "2", "3"]},
        "answerKey": "2",
    }
    mirror = {"question": "q", "choices": ["x", "y", "z"], "labels": ["A", "B", "C"], "answer": "B"}
    hub = readers.arc([rowsets.parquet(tmp_path / "a.parquet", [digits])])
    assert plain(hub) == plain(readers.arc([rowsets.jsonl(tmp_path / "b.jsonl", [mirror])]))
    assert hub[0].data == {"question": "q", "options": ["x", "y", "z"], "answer": "B"}


def test_openbookqa_reads_both_forms(tmp_path: Path) -> None:
    choices = [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}]
    upstream = {"id": "7", "question": {"stem": "q", "choices": choices}, "answerKey": "B"}
    mirror = {"question": "q", "choices": ["x", "y"], "labels": ["A", "B"], "answer": "B"}
    first = readers.openbookqa([rowsets.jsonl(tmp_path / "a.jsonl", [upstream])])
    assert plain(first) == plain(readers.openbookqa([rowsets.jsonl(tmp_path / "b.jsonl", [mirror])]))


def test_winogrande_reads_both_forms(tmp_path: Path) -> None:
    upstream = {"sentence": "s _ t", "option1": "Ann", "option2": "Bea", "answer": "2"}
    mirror = {"sentence": "s _ t", "choices": ["Ann", "Bea"], "answer": "B"}
    first = readers.winogrande([rowsets.parquet(tmp_path / "a.parquet", [upstream])])
    assert plain(first) == plain(readers.winogrande([rowsets.jsonl(tmp_path / "b.jsonl", [mirror])]))


def test_piqa_reads_labels_from_their_own_file(tmp_path: Path) -> None:
    rows = [{"goal": "g", "sol1": "x ", "sol2": "y"}, {"goal": "h", "sol1": "x", "sol2": "y"}]
    mirror = [
        {"goal": "g", "choices": ["x ", "y"], "answer": "B"},
        {"goal": "h", "choices": ["x", "y"], "answer": "A"},
    ]
    (tmp_path / "labels.lst").write_text("1\n0\n")
    first = readers.piqa([rowsets.jsonl(tmp_path / "a.jsonl", rows), tmp_path / "labels.lst"])
    assert plain(first) == plain(readers.piqa([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    (tmp_path / "labels.lst").write_text("1\n")
    with pytest.raises(DataFault, match="piqa row 1"):
        readers.piqa([tmp_path / "a.jsonl", tmp_path / "labels.lst"])


def test_boolq_reads_both_forms_and_groups_by_gold(tmp_path: Path) -> None:
    upstream = [{"question": "q", "passage": "T -- p", "idx": 0, "label": True}]
    mirror = [{"question": "q", "passage": "T -- p", "answer": "yes"}]
    first = readers.boolq([rowsets.jsonl(tmp_path / "a.jsonl", upstream)])
    assert plain(first) == plain(readers.boolq([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    assert first[0].category == "yes"
    with pytest.raises(DataFault, match="boolq row 0"):
        readers.boolq(
            [rowsets.jsonl(tmp_path / "c.jsonl", [{"question": "q", "passage": "p", "answer": "maybe"}])]
        )


def test_mmlu_ids_count_inside_the_subject(tmp_path: Path) -> None:
    tasks = readers.mmlu([rowsets.parquet(tmp_path / "a.parquet", rowsets.mmlu())])
    assert [task.id for task in tasks[:4]] == [
        "abstract-algebra-0000",
        "abstract-algebra-0001",
        "abstract-algebra-0002",
        "us-foreign-policy-0000",
    ]
    assert tasks[3].category == "us_foreign_policy"
    assert tasks[1]["answer"] == "B"
    assert tasks[0]["options"][1] == "b\r\nline"


def test_mmlu_pro_drops_exactly_the_padding(tmp_path: Path) -> None:
    rows = rowsets.mmlu_pro()
    tasks = readers.mmlu_pro([rowsets.parquet(tmp_path / "a.parquet", rows)])
    assert tasks[0]["options"] == ["Na", "NA", "n/a", "N/A ", "x", "y", "z", "w", "v"]
    assert tasks[0]["answer"] == "E"
    assert tasks[0].id == "computer-science-00070"
    rows[0]["answer"], rows[0]["answer_index"] = "D", 3
    with pytest.raises(DataFault, match="computer-science-00070: the gold 'D'"):
        readers.mmlu_pro([rowsets.parquet(tmp_path / "b.parquet", rows)])


def test_hellaswag_is_cleaned_and_labelled(tmp_path: Path) -> None:
    tasks = readers.hellaswag([rowsets.jsonl(tmp_path / "a.jsonl", rowsets.hellaswag())])
    assert tasks[0]["question"] == "Roof shingle removal: A man is sitting on a roof. He"
    assert tasks[0]["options"] == ["is up.", "b", "c d", "e"]
    assert tasks[0]["answer"] == "D"
    assert (tasks[0].category, tasks[0].group) == ("activitynet-indomain", "activitynet~v_1")
    assert tasks[1]["question"] == "Family Life: How to talk. Be calm. Sit"
    assert tasks[1].category == "wikihow-zeroshot"


def test_truthfulqa_places_golds_evenly_and_loses_no_option(tmp_path: Path) -> None:
    rows = rowsets.truthfulqa()
    tasks = readers.truthfulqa([rowsets.parquet(tmp_path / "a.parquet", rows)])
    by_size: dict[int, Counter[str]] = {}
    for task, row in zip(tasks, rows, strict=True):
        assert sorted(task["options"]) == sorted(row["mc1_targets"]["choices"])
        assert task["options"][readers.LETTERS.index(task["answer"])] == row["mc1_targets"]["choices"][0]
        by_size.setdefault(len(task["options"]), Counter())[task["answer"]] += 1
    for size, golds in by_size.items():
        counts = [golds[letter] for letter in readers.LETTERS[:size]]
        assert max(counts) - min(counts) <= 1
    chance = sum(1 / len(task["options"]) for task in tasks) / len(tasks)
    assert chance == pytest.approx(0.226, abs=0.0005)
    for letter in "AB":
        assert sum(task["answer"] == letter for task in tasks) / 817 == pytest.approx(chance, abs=0.01)
    mirror = [
        {"question": r["question"], "choices": r["mc1_targets"]["choices"], "answer": "A"} for r in rows
    ]
    assert plain(tasks) == plain(readers.truthfulqa([rowsets.jsonl(tmp_path / "b.jsonl", mirror)]))
    rows[4]["mc1_targets"]["labels"] = [1, 1]
    with pytest.raises(DataFault, match="truthfulqa row 004"):
        readers.truthfulqa([rowsets.parquet(tmp_path / "c.parquet", rows)])


def test_gpqa_rebuilds_the_official_order(tmp_path: Path) -> None:
    rows = rowsets.gpqa()
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    tasks = readers.gpqa([path])
    official = random.Random(0)
    for task, row in zip(tasks, rows, strict=True):
        options = [row[f"Incorrect Answer {number}"] for number in (1, 2, 3)] + [row["Correct Answer"]]
        official.shuffle(options)
        assert task["options"] == [option.strip() for option in options]
        assert readers.LETTERS.index(task["answer"]) == options.index(row["Correct Answer"])
    assert tasks[0]["question"] == "Q0, with a comma"
    assert (tasks[0].category, tasks[0]["subdomain"]) == ("Physics", "Optics")


def test_gpqa_golds_of_the_procedure_are_the_published_counts() -> None:
    official = random.Random(0)
    golds = Counter()  # type: Counter[str]
    for _ in range(198):
        order = [0, 1, 2, 3]
        official.shuffle(order)
        golds["ABCD"[order.index(3)]] += 1
    assert golds == {"A": 55, "B": 60, "C": 46, "D": 37}


def test_bad_gold_letter_is_named(tmp_path: Path) -> None:
    for gold in ("C", "", "AB", 7, None, "a"):
        rows = [{"question": "q", "choices": ["x", "y"], "labels": ["A", "B"], "answer": gold}]
        with pytest.raises(DataFault, match="openbookqa row 0"):
            readers.openbookqa([rowsets.jsonl(tmp_path / "a.jsonl", rows)])


@pytest.mark.parametrize("text", ["{", "[1]", '{"question": 3}', "\ud800", "[" * 5000])
def test_files_that_are_not_the_expected_form_name_the_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataFault, match=r"line 1|row 0"):
        readers.gsm8k([path])


def test_parquet_that_is_none_and_pyarrow_that_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(DataFault, match="not a readable parquet file"):
        readers.mmlu([path])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataMissing, match=r"pip install 'pytest-benchkit\[hub\]'"):
        readers.mmlu([path])
