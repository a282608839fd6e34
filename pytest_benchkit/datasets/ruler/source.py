"""RULER's rows as a source: ids at once, a prompt only when a row is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pytest_benchkit.datasets.ruler.cells import FAMILIES, GENERATOR, LENGTHS, WORDS, Cell, cell_at
from pytest_benchkit.datasets.ruler.corpora import Corpora, why_missing
from pytest_benchkit.datasets.ruler.documents import readings
from pytest_benchkit.datasets.ruler.lists import SHAPES, CodedWords, CommonWords, WordList
from pytest_benchkit.datasets.ruler.needles import Niah, Tracing
from pytest_benchkit.datasets.ruler.sizes import sized
from pytest_benchkit.errors import DataError, SkipTask
from pytest_benchkit.task import DataState, Task, TaskIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchkit.datasets.ruler.recipes import Recipe
    from pytest_benchkit.sizing import Sizer

QUESTIONS_TRIED = 50


class RulerTasks(Sequence[Task]):
    """The rows without their prompts, made as they are looked at: the fields ``family``, ``length`` and
    ``sample``."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Task: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Task]: ...
    def __getitem__(self, place: int | slice) -> Task | Sequence[Task]:
        if isinstance(place, slice):
            return [self[one] for one in range(self._count)[place]]
        place = range(self._count)[place]
        cell = cell_at(place)
        data = {"family": cell.family.name, "length": cell.length, "sample": cell.sample}
        return Task(cell.id, place, data, cell.family.name)


class Ruler:
    """Implements :class:`~pytest_benchkit.task.TaskSource`: ``samples`` rows of each family at each length.

    Only the words are indispensable: rows that need another corpus that is not installed are skipped.
    """

    def __init__(self, name: str, samples: int, corpora: Corpora | None = None) -> None:
        self._name = name
        self.samples = samples
        self.corpora = corpora or Corpora()

    @property
    def name(self) -> str:
        return self._name

    @property
    def id_words(self) -> Sequence[str] | None:
        return tuple(sorted({f"k-{family.slug}-" for family in FAMILIES.values()}))

    @property
    def count(self) -> int | None:
        return self.samples * len(LENGTHS) * len(FAMILIES)

    def bind(self, folder: Path) -> None:
        """Nothing depends on the suite's folder."""

    def state(self) -> DataState:
        """Installed when the words are: they come last."""
        words = self.corpora.parts[WORDS].state()
        if not words.ready:
            return DataState(words.word, f"run `benchkit datasets install {WORDS}`")
        missing = self.corpora.missing
        gaps = [f"{why_missing(missing)}; rows that need them are skipped"] if missing else []
        return DataState("installed", f"generated ({GENERATOR})", words.bytes, gaps=gaps)

    def install(self, say: Callable[[str], None]) -> None:
        """Installs every corpus that is not there; only the words must succeed.

        Raises :class:`~pytest_benchkit.errors.DataError` when they do not.
        """

        def told(line: str) -> None:
            if not line.endswith("sha256 verified"):  # one line per essay is too many
                say(line)

        for name, part in self.corpora.parts.items():
            if part.state().ready:
                continue
            try:
                part.install(told)
            except DataError as error:
                if name == WORDS:
                    raise
                say(f"{self._name}: rows that need {name} will be skipped: {error}")

    def index(self) -> TaskIndex:
        """Ids and families, in the order in which rows are planned; generates nothing."""
        tasks = self.load()
        ids = [cell_at(place).id for place in range(len(tasks))]
        hashes = self.corpora.hashes()
        words = "\n".join([GENERATOR, *ids, *hashes])
        return TaskIndex(
            ids,
            list(FAMILIES) * (len(ids) // len(FAMILIES)),
            [None] * len(ids),
            hashlib.sha256(words.encode()).hexdigest(),
            revision=GENERATOR,
            source="; ".join(
                name for name, _, found in (text.partition(" ") for text in hashes) if found != "missing"
            ),
            planned=True,
        )

    def load(self) -> Sequence[Task]:
        """The rows, made one by one as they are asked for."""
        return self._tasks

    @cached_property
    def _tasks(self) -> RulerTasks:
        return RulerTasks(self.count or 0)

    def fit(self, task: Task, sizer: Sizer) -> Task:
        """The row with its prompt, sized for a model: the fields ``prompt``, ``golds``, ``tokens`` (of the
        prompt; ``bound``: with the template), ``sized`` (how they were counted: ``exact``, ``calibrated`` or
        ``estimated``), ``depths`` (of the golds, 0..1) and ``facts`` are added.

        Raises :class:`SkipTask`: ``context_too_small`` for a row longer than the window, ``no_corpus``.
        """
        cell = cell_of(task)
        if sizer.window is not None and sizer.window < cell.tokens:
            words = f"the row takes a window of {cell.tokens:,} tokens, the model's is {sizer.window:,}"
            raise SkipTask("context_too_small", words)
        budget = cell.tokens - cell.family.answer_tokens - sizer.allowance
        found = sized(self.recipes(cell), budget, sizer, f"{cell.length}-{cell.family.slug}")
        if found is None:
            words = f"no text of this family fits in {budget:,} tokens beside template and answer"
            raise SkipTask("context_too_small", words)
        return _with_prompt(
            task,
            found.recipe,
            prompt=found.draft.prompt,
            tokens=found.tokens,
            bound=found.tokens + sizer.allowance,
            sized=found.method,
            depths=list(found.draft.depths),
        )

    def smallest(self, task: Task) -> Task:
        """The row with its shortest prompt, which depends on no model. Raises :class:`SkipTask`."""
        recipe = next(iter(self.recipes(cell_of(task))))
        return _with_prompt(task, recipe, prompt=recipe.build(recipe.least).prompt)

    def recipes(self, cell: Cell) -> Iterator[Recipe]:
        """Ways to make the row, the one to prefer first. Raises :class:`SkipTask` without its corpora."""
        family = cell.family
        self.corpora.need(family.corpora)
        if family.name == "vt":
            yield Tracing(cell)
        elif family.name == "fwe":
            yield CodedWords(cell)
        elif family.name == "cwe":
            words = WordList(cell, self.corpora)
            yield from (CommonWords(cell, words, shape) for shape in SHAPES)
        elif family.haystack == "documents":
            questions = self.corpora.squad if family.name == "qa_1" else self.corpora.hotpotqa
            yield from islice(readings(cell, questions), QUESTIONS_TRIED)
        else:
            yield Niah(cell, self.corpora)


def cell_of(task: Task) -> Cell:
    """The cell of a row."""
    return Cell(FAMILIES[task["family"]], task["length"], task["sample"])


def _with_prompt(task: Task, recipe: Recipe, **fields: Any) -> Task:
    added: Mapping[str, Any] = {
        **fields,
        "golds": list(recipe.golds.texts),
        "facts": dict(recipe.golds.facts),
    }
    return Task(task.id, task.index, {**task.data, **added}, task.category, task.group)
