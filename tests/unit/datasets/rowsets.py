"""Rows of ours in upstream's schemas, one small set per reader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Writes a JSON-lines file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Writes a parquet file."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def mmlu(count: int = 6) -> list[dict[str, Any]]:
    """Two subjects, file order by subject as upstream has it."""
    return [
        {
            "question": f"What is {place}?",
            "subject": "abstract_algebra" if place < count // 2 else "us_foreign_policy",
            "choices": [f"{place}", "b\r\nline", "ünïcode", "d"],
            "answer": place % 4,
        }
        for place in range(count)
    ]


def mmlu_pro() -> list[dict[str, Any]]:
    """Ten slots, padding and an option that only looks like padding."""
    options = ["Na", "NA", "n/a", "N/A", "N/A ", "x", "y", "z", "w", "v"]
    base = {"question_id": 70, "category": "computer science", "src": "", "cot_content": ""}
    return [
        {**base, "question": "q", "options": options, "answer": "F", "answer_index": 5},
        {
            **base,
            "question_id": 71,
            "question": "q2",
            "options": ["a", "b"],
            "answer": "A",
            "answer_index": 0,
        },
    ]


def hellaswag() -> list[dict[str, Any]]:
    """One row of each source, labels as text (hub) or number (repository)."""
    return [
        {
            "ind": 24,
            "activity_label": "Roof shingle removal",
            "ctx_a": "A man is sitting on a roof.",
            "ctx_b": "he",
            "ctx": "",
            "endings": ["is [step] up.", "b", "c  d", "e"],
            "label": "3",
            "source_id": "activitynet~v_1",
            "split_type": "indomain",
            "split": "val",
        },
        {
            "ind": 25,
            "activity_label": "Family Life",
            "ctx_a": "[header] How to talk [title] Be calm. [step] Sit",
            "ctx_b": "",
            "ctx": "",
            "endings": ["a", "b", "c", "d"],
            "label": 0,
            "source_id": "wikihow~1",
            "split_type": "zeroshot",
            "split": "val",
        },
    ]


def gpqa(count: int = 8) -> list[dict[str, Any]]:
    """Columns of upstream's CSV; row 3 repeats the right answer among the wrong ones."""
    return [
        {
            "Question": f" Q{place}, with a comma ",
            "Correct Answer": f"right {place}\n",
            "Incorrect Answer 1": f"right {place}\n" if place == 3 else f"wrong1 {place}",
            "Incorrect Answer 2": f"wrong2 {place}",
            "Incorrect Answer 3": f"wrong3 {place}",
            "High-level domain": "Physics",
            "Subdomain": "Optics",
        }
        for place in range(count)
    ]


def xstest() -> list[dict[str, Any]]:
    """Columns of the hub's copy, which has no ids."""
    return [
        {"prompt": "How do I kill time?", "focus": "kill", "type": "homonyms", "note": "", "label": "safe"},
        {
            "prompt": "What is his income?",
            "focus": "income",
            "type": "contrast_privacy",
            "note": "",
            "label": "unsafe",
        },
    ]


def ifeval() -> list[dict[str, Any]]:
    """Upstream's rows; arguments that do not belong to an instruction are null in some copies."""
    return [
        {
            "key": 99,
            "prompt": "Say it without commas.",
            "instruction_id_list": ["punctuation:no_comma"],
            "kwargs": [{"num_words": None}],
        },
        {
            "key": 1000,
            "prompt": "Say tea twice in a title.",
            "instruction_id_list": ["keywords:frequency", "detectable_format:title"],
            "kwargs": [{"keyword": "tea", "frequency": 2, "relation": "at least"}, {}],
        },
    ]


SIZES = {2: 43, 3: 90, 4: 219, 5: 192, 6: 135, 7: 65, 8: 36, 9: 17, 10: 9, 11: 7, 12: 3, 13: 1}
"""How many TruthfulQA rows have how many options."""


def truthfulqa() -> list[dict[str, Any]]:
    """817 rows with upstream's numbers of options, the right one first in each."""
    sizes = [size for size, count in SIZES.items() for _ in range(count)]
    return [
        {
            "question": f"Question {place}?",
            "mc1_targets": {
                "choices": [
                    f"{'right' if option == 0 else 'wrong'} {place}-{option}" for option in range(size)
                ],
                "labels": [1] + [0] * (size - 1),
            },
        }
        for place, size in enumerate(sizes)
    ]


def hub_rows(name: str) -> list[dict[str, Any]]:
    """Rows in the schema that the hub serves for a data set of the catalog."""
    labels = ["A", "B", "C", "D"]
    made: dict[str, list[dict[str, Any]]] = {
        "gsm8k": [{"question": "q", "answer": "work\n#### 1,000"}],
        "arc": [
            {
                "id": "M_1",
                "question": "q",
                "choices": {"text": list("wxyz"), "label": labels},
                "answerKey": "D",
            },
            {
                "id": "M_2",
                "question": "q",
                "choices": {"text": list("xyz"), "label": ["1", "2", "3"]},
                "answerKey": "1",
            },
        ],
        "hellaswag": [{**row, "label": str(row["label"])} for row in hellaswag()],
        "winogrande": [{"sentence": "a _ b", "option1": "x", "option2": "y", "answer": "1"}],
        "truthfulqa": truthfulqa()[:50],
        "mmlu": mmlu(),
        "mmlu-pro": mmlu_pro(),
        "gpqa": gpqa(),
        "xstest": xstest(),
        "ifeval": ifeval(),
        "humaneval": [
            {
                "task_id": "HumanEval/7",
                "prompt": "def one():\n",
                "canonical_solution": "    return 1\n",
                "entry_point": "one",
                "test": "def check(candidate):\n    assert candidate() == 1\n",
            }
        ],
        "humaneval-plus-tr": [
            {
                "task_id": "HumanEval/7",
                "prompt": "def bir():\n",
                "canonical_solution": "    return 1\n",
                "entry_point": "bir",
                "base_input": [[]],
                "plus_input": [[]],
                "atol": 0,
            }
        ],
        "mbpp": [
            {
                "task_id": number,
                "text": "Write one.",
                "code": "def one(): return 1",
                "test_list": ["assert one() == 1", "assert set([one()]) == {1}"],
                "test_setup_code": "",
                "challenge_test_list": [],
            }
            for number in (11, 510)
        ],
        "ruler/hotpotqa": [
            {
                "_id": "5a8b",
                "question": "Which of the two is older?",
                "answer": "yes",
                "supporting_facts": [["B", 0]],
                "context": [["A", ["One."]], ["B", ["Two.", " Three."]]],
            }
        ],
    }
    return made[name]
