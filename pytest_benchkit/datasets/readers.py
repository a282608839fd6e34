"""Readers: the files of a route in, rows out. One per upstream form; all routes of a data set agree.

Every file is opened as UTF-8 with line ends as they are. Choice rows have the fields ``question``,
``options`` (list of texts) and ``answer`` (the gold's letter). A row whose gold breaks the suite's
promise raises :class:`~pytest_benchkit.errors.DataFault` with its id.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.order import plan_order
from pytest_benchkit.datasets.shuffle import generator, shuffled
from pytest_benchkit.datasets.tables import rows_of
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Row = Mapping[str, Any]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
WORDS = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Text as the words of a task id: lower case, dashes between."""
    return WORDS.sub("-", text.lower()).strip("-")


def padded(number: int, total: int) -> str:
    """A row's number with the digits of the largest, so that ids sort as numbers do."""
    return str(number).zfill(len(str(total - 1)))


def numbered(name: str, paths: Sequence[Path], fields: Callable[[Row, str], Task]) -> list[Task]:
    """Tasks of a file whose rows are known by their place: ids are zero-padded numbers.

    ``fields`` makes a task of a row and its id; a field that is absent or of a wrong type is a fault.
    """
    rows = list(rows_of(paths[0]))
    tasks = []
    for place, row in enumerate(rows):
        id = padded(place, len(rows))
        try:
            task = fields(row, id)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise DataFault(f"{name} row {id} is not of the expected form ({error!r})") from None
        task.index = place
        tasks.append(task)
    return tasks


def choice(name: str, id: str, question: str, options: Sequence[str], gold: int | str, **more: str) -> Task:
    """A choice task; ``gold`` is a position or a letter. Raises :class:`DataFault` on a bad gold."""
    place = LETTERS.find(gold) if isinstance(gold, str) and len(gold) == 1 else gold
    if not isinstance(place, int) or not 0 <= place < len(options):
        raise DataFault(f"{name} row {id}: the gold {gold!r} is none of its {len(options)} options")
    if len(options) > len(LETTERS) or not all(isinstance(text, str) for text in (question, *options)):
        raise DataFault(
            f"{name} row {id}: question and options must be texts, at most {len(LETTERS)} options"
        )
    data = {"question": question, "options": list(options), "answer": LETTERS[place], **more}
    return Task(id, 0, data)


def stripped(texts: Sequence[str]) -> list[str]:
    return [text.strip() for text in texts]


def gsm8k(paths: Sequence[Path]) -> list[Task]:
    """Upstream's rows (worked solution, then ``#### gold``) and mirrors with the gold alone; the gold is
    the last ``####`` number without thousands commas."""

    def fields(row: Row, id: str) -> Task:
        gold = row["answer"].rpartition("####")[2].strip().replace(",", "")
        if not NUMBER.fullmatch(gold):
            raise DataFault(f"gsm8k row {id}: the gold {gold[:40]!r} is not a number")
        return Task(id, 0, {"question": row["question"], "answer": gold})

    return numbered("gsm8k", paths, fields)


def arc(paths: Sequence[Path]) -> list[Task]:
    """AI2's rows (labels are letters or digits, mapped to letters by position) and the mirror's."""

    def fields(row: Row, id: str) -> Task:
        choices = row["choices"]
        texts, labels = (
            (choices["text"], choices["label"]) if isinstance(choices, dict) else (choices, row["labels"])
        )
        gold = row.get("answerKey") or row["answer"]
        place = list(labels).index(gold) if gold in labels else -1
        return choice("arc", id, row["question"].strip(), stripped(texts), place)

    return numbered("arc", paths, fields)


def openbookqa(paths: Sequence[Path]) -> list[Task]:
    """AI2's rows (stem and choices below ``question``) and the mirror's."""

    def fields(row: Row, id: str) -> Task:
        if isinstance(row["question"], str):
            return choice("openbookqa", id, row["question"].strip(), stripped(row["choices"]), row["answer"])
        texts = [option["text"] for option in row["question"]["choices"]]
        labels = [option["label"] for option in row["question"]["choices"]]
        place = labels.index(row["answerKey"]) if row["answerKey"] in labels else -1
        return choice("openbookqa", id, row["question"]["stem"].strip(), stripped(texts), place)

    return numbered("openbookqa", paths, fields)


def winogrande(paths: Sequence[Path]) -> list[Task]:
    """Rows with ``option1``, ``option2`` and a gold of 1 or 2, and the mirror's with letters."""

    def fields(row: Row, id: str) -> Task:
        if "choices" in row:
            return choice("winogrande", id, row["sentence"].strip(), stripped(row["choices"]), row["answer"])
        place = {"1": 0, "2": 1}.get(row["answer"], -1)
        options = stripped([row["option1"], row["option2"]])
        return choice("winogrande", id, row["sentence"].strip(), options, place)

    return numbered("winogrande", paths, fields)


def piqa(paths: Sequence[Path]) -> list[Task]:
    """Upstream's rows with the labels in a second file, and the mirror's with both in one."""
    labels = paths[1].read_text(encoding="utf-8").split() if len(paths) > 1 else None

    def fields(row: Row, id: str) -> Task:
        if labels is None:
            return choice("piqa", id, row["goal"], row["choices"], row["answer"])
        place = {"0": 0, "1": 1}.get(labels[int(id)], -1)
        return choice("piqa", id, row["goal"], [row["sol1"], row["sol2"]], place)

    return numbered("piqa", paths, fields)


def boolq(paths: Sequence[Path]) -> list[Task]:
    """SuperGLUE rows (``label`` true or false) and the mirror's; category is the gold."""

    def fields(row: Row, id: str) -> Task:
        gold = {True: "yes", False: "no"}[row["label"]] if "label" in row else row["answer"]
        if gold not in ("yes", "no"):
            raise DataFault(f"boolq row {id}: the gold {gold!r} is neither yes nor no")
        data = {"passage": row["passage"].strip(), "question": row["question"].strip(), "answer": gold}
        return Task(id, 0, data, category=gold)

    return numbered("boolq", paths, fields)


def truthfulqa(paths: Sequence[Path]) -> list[Task]:
    """MC1 rows. Upstream lists the right answer first; here every letter is gold equally often.

    Rows with n options are ranked by sha256 of key and id; the gold goes to place (rank + offset) mod n,
    the offset being a hash of n, and the others are shuffled by the private generator. Category: the
    number of options (upstream's own column is not in every route, and equal rows must plan alike).
    """

    def fields(row: Row, id: str) -> Task:
        if "mc1_targets" in row:
            options, golds = row["mc1_targets"]["choices"], row["mc1_targets"]["labels"]
            place = list(golds).index(1) if list(golds).count(1) == 1 and len(golds) == len(options) else -1
        else:
            options, place = row["choices"], LETTERS.index(row["answer"])
        return choice("truthfulqa", id, row["question"].strip(), stripped(options), place)

    tasks = numbered("truthfulqa", paths, fields)
    by_size: dict[int, list[Task]] = {}
    for task in tasks:
        by_size.setdefault(len(task["options"]), []).append(task)
    for size, group in by_size.items():
        offset = generator("truthfulqa", "offset", size).getrandbits(64) % size
        for rank, place in enumerate(
            plan_order("truthfulqa", [task.id for task in group], [None] * len(group))
        ):
            _balance(group[place], (rank + offset) % size)
    return tasks


def _balance(task: Task, place: int) -> None:
    options = list(task["options"])
    gold = options.pop(LETTERS.index(task["answer"]))
    options = shuffled(options, generator("truthfulqa", task.id, "order"))
    options.insert(place, gold)
    task.data = {"question": task["question"], "options": options, "answer": LETTERS[place]}
    task.category = f"{len(options)}-options"


def hellaswag(paths: Sequence[Path]) -> list[Task]:
    """Upstream's rows: activity, both halves of the context and the endings, cleaned of wiki markers as
    lm-evaluation-harness does; category is source and split type, group the source document."""

    def fields(row: Row, id: str) -> Task:
        context = f"{row['activity_label']}: {row['ctx_a']} {row['ctx_b'].capitalize()}"
        options = [unmarked(ending) for ending in row["endings"]]
        task = choice("hellaswag", id, unmarked(context), options, int(row["label"]))
        source = str(row["source_id"])
        task.category = f"{source.partition('~')[0]}-{row['split_type']}"
        task.group = source
        return task

    return numbered("hellaswag", paths, fields)


def hellaswag_subset(paths: Sequence[Path]) -> list[Task]:
    """The mirror's first 1,000 rows: context without the activity label, cleaned already."""
    return numbered(
        "hellaswag/activitynet-1000",
        paths,
        lambda row, id: choice("hellaswag", id, row["question"], row["choices"], row["answer"]),
    )


def unmarked(text: str) -> str:
    """HellaSwag text without wiki markers: ``[title]`` becomes a full stop, other marks go."""
    text = re.sub(r"\[[^\]\n]*\]", "", text.strip().replace(" [title]", ". "))
    return text.replace("  ", " ")


def mmlu(paths: Sequence[Path]) -> list[Task]:
    """Rows with subject, four choices and the gold's position; ids count inside the subject."""
    seen: dict[str, int] = {}

    def fields(row: Row, place: str) -> Task:
        subject = row["subject"]
        id = f"{slug(subject)}-{seen.get(subject, 0):04}"
        seen[subject] = seen.get(subject, 0) + 1
        task = choice("mmlu", id, row["question"], row["choices"], row["answer"], subject=subject)
        task.category = subject
        return task

    return numbered("mmlu", paths, fields)


def mmlu_pro(paths: Sequence[Path]) -> list[Task]:
    """Rows with up to ten options; options equal to ``N/A`` are padding and dropped, nothing else is."""

    def fields(row: Row, place: str) -> Task:
        id = f"{slug(row['category'])}-{int(row['question_id']):05}"
        kept = [number for number, text in enumerate(row["options"]) if text != "N/A"]
        gold = LETTERS.find(row["answer"])
        if gold not in kept or row.get("answer_index", gold) != gold:
            raise DataFault(f"mmlu-pro row {id}: the gold {row['answer']!r} is none of its options")
        options = [row["options"][number] for number in kept]
        task = choice("mmlu-pro", id, row["question"], options, kept.index(gold), subject=row["category"])
        task.category = row["category"]
        return task

    return numbered("mmlu-pro", paths, fields)


def gpqa(paths: Sequence[Path]) -> list[Task]:
    """Upstream's CSV and the mirror's rows, options in the order of the official baselines.

    Upstream puts the three wrong answers, then the right one, and shuffles row after row with one Python
    generator seeded 0 (idavidrein/gpqa ``baselines/utils.py``); its 198 golds equal the mirror's.
    """
    # Upstream's procedure, so Python's own shuffle: its method is unchanged since Python 3.2.
    upstream = random.Random(0)

    def fields(row: Row, id: str) -> Task:
        if "choices" in row:
            options, place, names = row["choices"], row["answer"], ("question", "domain", "subdomain")
        else:
            options = [row[f"Incorrect Answer {number}"] for number in (1, 2, 3)] + [row["Correct Answer"]]
            upstream.shuffle(options)
            place = options.index(row["Correct Answer"])
            names = ("Question", "High-level domain", "Subdomain")
        question, domain, subdomain = (row[name].strip() for name in names)
        task = choice("gpqa", id, question, stripped(options), place, subdomain=subdomain)
        task.category = domain
        return task

    return numbered("gpqa", paths, fields)
