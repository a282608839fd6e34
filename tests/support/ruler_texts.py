"""Corpora of our own for RULER: words, an essay, questions with documents; nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from pytest_benchkit.datasets import Rows
from pytest_benchkit.datasets.ruler.cells import ESSAYS, HOTPOTQA, SQUAD, WORDS
from pytest_benchkit.datasets.ruler.corpora import Corpora, Part
from pytest_benchkit.errors import DataMissing
from pytest_benchkit.task import DataState

SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "zi")


class Made(Rows):
    """A corpus that is here, or one that cannot be had."""

    here = True

    def state(self) -> DataState:
        return super().state() if self.here else DataState("missing", "made to be missing")

    def install(self, say: Callable[[str], None]) -> None:
        say(f"{self.name}: 1 byte, sha256 verified")
        if not self.here:
            raise DataMissing(f"{self.name} cannot be had")


def spelt(count: int, size: int) -> list[str]:
    """So many different words of so many syllables."""
    step = max(1, len(SYLLABLES) ** size // count - 1)
    return ["".join(parts) for parts in product(SYLLABLES, repeat=size)][::step][:count]


def paragraphs(count: int, topic: str) -> list[str]:
    """Short texts, all different, each with a name in it that no other has."""
    return [
        f"{topic} {number} was written down in the year {1800 + number}. It tells of Xanth{number:03d} "
        "and of the people who lived there, of what they ate and of where they went when winter came. " * 3
        for number in range(count)
    ]


def essay() -> str:
    words = spelt(400, 3)
    sentences = [" ".join(words[start : start + 11]).capitalize() + "." for start in range(380)]
    return "  \n".join(sentences * 3)


def squad(count: int = 60) -> list[dict[str, Any]]:
    texts = paragraphs(count, "Report")
    made = []
    for start in range(0, count, 6):
        given = [
            {
                "text": text,
                "questions": [
                    {
                        "question": f"Which town does report {n} tell of?",
                        "golds": [f"Xanth{n:03d}", f"the town {n}"],
                    }
                ],
            }
            for n, text in enumerate(texts[start : start + 6], start)
        ]
        made.append({"id": f"{start // 6:02d}", "title": f"Reports {start}", "paragraphs": given})
    return made


def hotpotqa(rows: int = 20) -> list[dict[str, Any]]:
    texts = paragraphs(10 * rows, "Letter")
    return [
        {
            "id": f"{row:04d}",
            "question": f"Which towns do the letters {10 * row + 3} and {10 * row + 7} tell of?",
            "golds": [f"Xanth{10 * row + 7:03d}"],
            "paragraphs": texts[10 * row : 10 * row + 10],
            "supporting": [3, 7],
        }
        for row in range(rows)
    ]


def texts() -> dict[str, list[dict[str, Any]]]:
    """Rows of each corpus, in the form its reader gives."""
    return {
        ESSAYS: [{"id": "00", "name": "made", "text": essay()}],
        SQUAD: squad(),
        HOTPOTQA: hotpotqa(),
        WORDS: [
            {"id": "nounlist", "words": [*spelt(2000, 4), "two words"]},
            {"id": "adjectivelist", "words": spelt(150, 3)},
            {"id": "verblist", "words": [word + "x" for word in spelt(100, 4)]},
        ],
    }


def corpora(missing: tuple[str, ...] = (), english: tuple[str, ...] = ()) -> Corpora:
    """All corpora, some of them not installed; ``english`` are the words of upstream's longer list."""
    parts: dict[str, Part] = {}
    for name, rows in texts().items():
        parts[name] = made(name, rows, here=name not in missing)
    return Corpora(parts, made("english", [{"id": "english", "words": list(english)}], here=bool(english)))


def made(name: str, rows: list[Mapping[str, Any]] | list[dict[str, Any]], *, here: bool) -> Made:
    source = Made(rows, name=name)
    source.here = here
    return source
