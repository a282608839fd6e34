"""Readers of RULER's corpora: word lists, essays, and two sets of questions with their paragraphs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def words(paths: Sequence[Path]) -> list[Task]:
    """One row per list, named by its file: the field ``words``, as they stand."""
    return [
        Task(path.stem, place, {"words": _text(path).split("\n")[:-1]}) for place, path in enumerate(paths)
    ]


def english_words(paths: Sequence[Path]) -> list[Task]:
    """One row with the field ``words`` of a JSON object of words by number, or of a JSON list."""
    found = _json(paths[0])
    listed = list(found.values()) if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
        raise DataFault(f"{paths[0]} is not a list of words")
    return [Task("english", 0, {"words": listed})]


def essays(paths: Sequence[Path]) -> list[Task]:
    """One row per essay: the fields ``name`` and ``text``, as it stands."""
    return [
        Task(f"{place:02d}", place, {"name": path.stem, "text": _text(path)})
        for place, path in enumerate(paths)
    ]


def squad(paths: Sequence[Path]) -> list[Task]:
    """SQuAD 2.0: one row per article, its ``paragraphs`` with ``text`` and the answerable ``questions`` (each
    with ``golds``, equal ones merged)."""
    try:
        articles = _json(paths[0])["data"]
        return [
            Task(
                f"{place:02d}",
                place,
                {"title": a["title"], "paragraphs": list(map(_paragraph, a["paragraphs"]))},
            )
            for place, a in enumerate(articles)
        ]
    except (KeyError, TypeError) as error:
        raise DataFault(f"{paths[0]} is not of SQuAD's form: {type(error).__name__} {error}") from None


def _paragraph(given: dict[str, Any]) -> dict[str, Any]:
    questions = [
        {"question": asked["question"], "golds": list(dict.fromkeys(a["text"] for a in asked["answers"]))}
        for asked in given["qas"]
        if not asked.get("is_impossible") and asked["answers"]
    ]
    return {"text": given["context"], "questions": questions}


def hotpotqa(paths: Sequence[Path]) -> list[Task]:
    """HotpotQA, distractor setting: one row per question with ``golds``, its ``paragraphs`` (title, line
    break, text) and the places of the ``supporting`` ones among them."""
    try:
        return [_hotpot(place, row) for place, row in enumerate(_json(paths[0]))]
    except (KeyError, TypeError, ValueError) as error:
        raise DataFault(f"{paths[0]} is not of HotpotQA's form: {type(error).__name__} {error}") from None


def _hotpot(place: int, row: dict[str, Any]) -> Task:
    needed = {title for title, _ in row["supporting_facts"]}
    supporting = [number for number, (title, _) in enumerate(row["context"]) if title in needed]
    if not supporting:
        raise DataFault(f"HotpotQA's question {place} has no supporting paragraph")
    paragraphs = [f"{title}\n{''.join(sentences)}" for title, sentences in row["context"]]
    data = {
        "question": row["question"],
        "golds": [row["answer"]],
        "paragraphs": paragraphs,
        "supporting": supporting,
    }
    return Task(f"{place:04d}", place, data)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataFault(f"{path} is not UTF-8: {error}") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise DataFault(f"{path} is not JSON: {error}") from None
