"""``qa_1`` and ``qa_2``: a question about some of many documents (SQuAD 2.0, HotpotQA)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.ruler.draws import Stream
from pytest_benchkit.datasets.ruler.recipes import PLAIN, Draft, Golds, assemble, bits
from pytest_benchkit.datasets.shuffle import below, shuffled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_benchkit.datasets.ruler.cells import Cell
    from pytest_benchkit.datasets.ruler.corpora import Questions


class Reading:
    """One question; a unit is a document. Those that answer it come first, then related, then random ones."""

    kind, grain = "documents", 700.0

    def __init__(self, cell: Cell, questions: Questions, place: int) -> None:
        self._cell = cell
        self._question, golds, needed, related = questions.asked[place]
        skipped = list(range(cell.sample, place))
        self.golds = Golds(golds, {"skipped": skipped} if skipped else {})
        self._needed = [questions.documents[number] for number in needed]
        own = [*needed, *related]
        self.least, self.most = len(needed), len(questions.documents)
        self._documents = Stream(
            questions.documents[number] for number in chain(own, self._others(own, len(questions.documents)))
        )

    def _others(self, own: list[int], count: int) -> Iterator[int]:
        """The places of all other documents in a random order."""
        stream, seen = bits(self._cell, "others"), set(own)
        while len(seen) < count:
            place = below(stream, count)
            if place not in seen:
                seen.add(place)
                yield place

    def build(self, units: int) -> Draft:
        shown = shuffled(self._documents.first(units), bits(self._cell, "order"))
        text = "\n\n".join(f"Document {number}:\n{document}" for number, document in enumerate(shown, 1))
        intro = "Answer the question from the documents. Reply with the answer only, as short as can be.\n\n"
        depths = [round(shown.index(one) / max(1, len(shown) - 1), 4) for one in self._needed]
        return assemble(
            [(PLAIN, intro), ("documents", text), (PLAIN, f"\n\nQuestion: {self._question}")], depths
        )


def readings(cell: Cell, questions: Questions) -> Iterator[Reading]:
    """The question of the sample; where its documents do not fit, those after it."""
    for place in range(cell.sample, len(questions.asked)):
        yield Reading(cell, questions, place)
