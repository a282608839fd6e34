"""IFEval's rows: the kinds of instruction, what each is told, and the reader that holds rows against them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.readers import numbered
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_benchkit.datasets.readers import Row

INSTRUCTIONS: Mapping[str, tuple[str, ...]] = {
    "keywords:existence": ("keywords",),
    "keywords:forbidden_words": ("forbidden_words",),
    "keywords:frequency": ("keyword", "frequency", "relation"),
    "keywords:letter_frequency": ("letter", "let_frequency", "let_relation"),
    "language:response_language": ("language",),
    "length_constraints:number_sentences": ("num_sentences", "relation"),
    "length_constraints:number_words": ("num_words", "relation"),
    "length_constraints:number_paragraphs": ("num_paragraphs",),
    "length_constraints:nth_paragraph_first_word": ("num_paragraphs", "nth_paragraph", "first_word"),
    "detectable_content:number_placeholders": ("num_placeholders",),
    "detectable_content:postscript": ("postscript_marker",),
    "detectable_format:number_bullet_lists": ("num_bullets",),
    "detectable_format:constrained_response": (),
    "detectable_format:number_highlighted_sections": ("num_highlights",),
    "detectable_format:multiple_sections": ("section_spliter", "num_sections"),
    "detectable_format:json_format": (),
    "detectable_format:title": (),
    "combination:two_responses": (),
    "combination:repeat_prompt": ("prompt_to_repeat",),
    "startend:end_checker": ("end_phrase",),
    "startend:quotation": (),
    "change_case:capital_word_frequency": ("capital_frequency", "capital_relation"),
    "change_case:english_capital": (),
    "change_case:english_lowercase": (),
    "punctuation:no_comma": (),
}
"""Every kind of instruction, ``group:kind``, with the arguments that its check needs (upstream's names)."""

RELATIONS = ("at least", "less than")
LISTS = frozenset({"keywords", "forbidden_words"})


def ifeval(paths: Sequence[Path]) -> list[Task]:
    """Upstream's rows (``key``) and the mirror's (``task_id``): the fields ``prompt``, ``instructions``
    (ids) and ``kwargs`` (arguments of each, without nulls). Ids are upstream's keys; category is the group
    of the first instruction."""

    def fields(row: Row, place: str) -> Task:
        id = str(row["key"] if "key" in row else row["task_id"].rpartition("/")[2])
        ids = list(row["instruction_id_list"])
        kwargs = [
            {name: value for name, value in given.items() if value is not None} for given in row["kwargs"]
        ]
        if not ids or len(ids) != len(kwargs):
            raise DataFault(f"ifeval row {id}: {len(ids)} instructions have {len(kwargs)} sets of arguments")
        for instruction, given in zip(ids, kwargs, strict=True):
            _hold(id, instruction, given)
        data = {"prompt": row["prompt"], "instructions": ids, "kwargs": kwargs}
        return Task(id, 0, data, category=ids[0].partition(":")[0])

    tasks = numbered("ifeval", paths, fields)
    width = max((len(task.id) for task in tasks), default=0)
    for task in tasks:
        task.id = task.id.zfill(width)
    return tasks


def _hold(id: str, instruction: str, given: Mapping[str, Any]) -> None:
    """Raises :class:`DataFault` for an unknown kind, or for arguments that its check could not use."""
    if instruction not in INSTRUCTIONS:
        raise DataFault(f"ifeval row {id}: there is no instruction {instruction!r}")
    if set(given) != set(INSTRUCTIONS[instruction]):
        raise DataFault(f"ifeval row {id}: {instruction} has the arguments {sorted(given)}")
    for name, value in given.items():
        if name in LISTS:
            fits = isinstance(value, list) and all(isinstance(word, str) for word in value)
        elif name.endswith("relation"):
            fits = value in RELATIONS
        elif name.startswith(("num_", "nth_")) or name.endswith("frequency"):
            fits = isinstance(value, int) and value >= 0
        else:
            fits = isinstance(value, str) and bool(value)
        if not fits:
            raise DataFault(f"ifeval row {id}: {instruction} cannot have {name} = {value!r}")
