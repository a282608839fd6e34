"""RULER's corpora as generators need them: read once per process, in the threads that generate."""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from pytest_benchkit.datasets.entries import ruler as entries
from pytest_benchkit.datasets.ruler.cells import ESSAYS, HOTPOTQA, SQUAD, WORDS
from pytest_benchkit.errors import SkipTask
from pytest_benchkit.task import TaskSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_benchkit.task import Task

ENGLISH = "ruler/english-words"
PARTS = {
    ESSAYS: entries.RULER_ESSAYS,
    SQUAD: entries.RULER_SQUAD,
    HOTPOTQA: entries.RULER_HOTPOTQA,
    WORDS: entries.RULER_WORDS,
}
"""The corpora in the order of their installation. Words come last: where they are, all was tried."""

PLAIN = re.compile(r"[a-z]+(-[a-z]+)*")
SENTENCE_END = re.compile(r"[.!?][\"')\]]*$")


class Essays:
    """A text as words and sentences, white space collapsed; begins again when it runs out."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = "".join(texts).split()
        ends = [place + 1 for place, word in enumerate(self._words) if SENTENCE_END.search(word)]
        if not ends or ends[-1] != len(self._words):
            ends.append(len(self._words))
        starts = [0, *ends[:-1]]
        self._sentences = [" ".join(self._words[a:b]) for a, b in zip(starts, ends, strict=True)]
        self._ends = ends
        self.text = " ".join(self._words)

    def sentences(self, words: int) -> list[str]:
        """The sentences of the first ``words`` words, the last one cut where they end."""
        rounds, rest = divmod(words, len(self._words))
        whole = bisect_right(self._ends, rest)
        found = self._sentences * rounds + self._sentences[:whole]
        if left := rest - (self._ends[whole - 1] if whole else 0):
            found.append(" ".join(self._words[rest - left : rest]))
        return found


class Words:
    """The lists of keys and of countable words, lower case; entries of several words are left out."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        plain = {
            name: list(
                dict.fromkeys(word for given in words if PLAIN.fullmatch(word := given.strip().lower()))
            )
            for name, words in lists.items()
        }
        self.nouns = plain["nounlist"]
        self.adjectives = plain["adjectivelist"]
        self.all = sorted({word for words in plain.values() for word in words})


class Part(TaskSource, Protocol):
    """A corpus: rows that can be installed."""

    def install(self, say: Callable[[str], None]) -> None:
        """Raises :class:`~pytest_benchkit.errors.DataError`."""


class Corpora:
    """What is installed of RULER's corpora; each is read at first use, under one lock."""

    def __init__(self, parts: Mapping[str, Part] | None = None, more: Part | None = None) -> None:
        self.parts: Mapping[str, Part] = PARTS if parts is None else parts
        self._english: Part = entries.RULER_ENGLISH_WORDS if more is None else more
        self._lock = threading.RLock()

    def need(self, names: Sequence[str]) -> None:
        """Raises :class:`SkipTask` (``no_corpus``) when one of these is not installed; the text names every
        corpus that is not."""
        if any(not self.parts[name].state().ready for name in names):
            raise SkipTask("no_corpus", why_missing(self.missing))

    @property
    def missing(self) -> list[str]:
        return [name for name, part in self.parts.items() if not part.state().ready]

    @cached_property
    def essays(self) -> Essays:
        return Essays(task["text"] for task in self._rows(ESSAYS))

    @cached_property
    def words(self) -> Words:
        return Words({task.id: task["words"] for task in self._rows(WORDS)})

    @cached_property
    def english(self) -> list[str]:
        """Upstream's long list of words where it is installed, else none (RU-7)."""
        if not self._english.state().ready:
            return []
        with self._lock:
            listed = self._english.load()[0]["words"]
        return sorted({word for word in listed if PLAIN.fullmatch(word)})

    @cached_property
    def squad(self) -> Questions:
        return Questions.of_squad(self._rows(SQUAD))

    @cached_property
    def hotpotqa(self) -> Questions:
        return Questions.of_hotpotqa(self._rows(HOTPOTQA))

    def hashes(self) -> list[str]:
        """Name and hash of the rows of each corpus, or that it is missing."""
        parts = {**self.parts, ENGLISH: self._english}
        return [
            f"{name} {part.index().rows_sha256 if part.state().ready else 'missing'}"
            for name, part in parts.items()
        ]

    def _rows(self, name: str) -> Sequence[Task]:
        with self._lock:
            return self.parts[name].load()


def why_missing(names: Sequence[str]) -> str:
    """The sentence with the command that helps."""
    return f"texts are not installed: run `benchkit datasets install {' '.join(names)}`"


class Questions:
    """Questions with their documents. ``asked[i]`` is the question, its golds, the documents that answer it
    and those related to them, as places in ``documents``."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.asked: list[tuple[str, list[str], list[int], list[int]]] = []
        self._places: dict[str, int] = {}

    def _place(self, document: str) -> int:
        place = self._places.setdefault(document, len(self.documents))
        if place == len(self.documents):
            self.documents.append(document)
        return place

    @classmethod
    def of_squad(cls, articles: Sequence[Task]) -> Questions:
        """Related are the other paragraphs of the article."""
        made = cls()
        for article in articles:
            places = [made._place(paragraph["text"]) for paragraph in article["paragraphs"]]
            for place, paragraph in zip(places, article["paragraphs"], strict=True):
                others = [other for other in dict.fromkeys(places) if other != place]
                for asked in paragraph["questions"]:
                    made.asked.append((asked["question"], asked["golds"], [place], others))
        return made

    @classmethod
    def of_hotpotqa(cls, rows: Sequence[Task]) -> Questions:
        """Related are those of the question's ten paragraphs that support nothing."""
        made = cls()
        for row in rows:
            places = [made._place(paragraph) for paragraph in row["paragraphs"]]
            needed = list(dict.fromkeys(places[number] for number in row["supporting"]))
            others = [place for place in dict.fromkeys(places) if place not in needed]
            made.asked.append((row["question"], row["golds"], needed, others))
        return made
