"""What IFEval's checks see of a text: its sentences, words and language, each worked out once.

Sentences are NLTK's Punkt with the English model of ``punkt_tab``, words its Treebank tokenizer sentence by
sentence, the language langdetect's with seed 0: the libraries upstream uses, because every other splitter
counts otherwise. They are imported at the first text that needs them (the extra ``ifeval``); the model comes
with the suite's rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.entries.ifeval import IFEVAL
from pytest_benchkit.scoring.libraries import Once, library

if TYPE_CHECKING:
    from collections.abc import Callable


class View:
    """One text to check. ``capitals`` keeps what is known of sentences for the other readings of a reply."""

    def __init__(self, text: str, capitals: dict[str, int] | None = None) -> None:
        self.text = text
        self._capitals: dict[str, int] = {} if capitals is None else capitals

    @cached_property
    def lower(self) -> str:
        return self.text.lower()

    @cached_property
    def sentences(self) -> list[str]:
        found: list[str] = _punkt().tokenize(self.text)
        return found

    def capital_words(self, enough: int) -> int:
        """Number of Treebank tokens in capitals; counting may stop at ``enough``."""
        words, known, count = _treebank(), self._capitals, 0
        for sentence in self.sentences:
            if count >= enough:
                break
            if sentence not in known:
                known[sentence] = sum(word.isupper() for word in words(sentence))
            count += known[sentence]
        return count

    @cached_property
    def language(self) -> str | None:
        """ISO 639-1 code, or ``None`` where nothing can be told (no letters)."""
        detector = _languages().create()
        try:
            detector.append(self.text)
            code: str = detector.detect()
        except library("langdetect").LangDetectException:
            return None
        return code


class _Counts(dict[str, int]):
    """Zero for an absent word, which is not kept: replies are no part of the model."""

    def __missing__(self, word: str) -> int:
        return 0


def model_lines(name: str) -> list[str]:
    """The lines of a file of the sentence model. Raises :class:`~pytest_benchkit.errors.DataError`."""
    return IFEVAL.companion(name).decode("utf-8").removesuffix("\n").split("\n")


@Once
def _punkt() -> Any:
    punkt = library("nltk.tokenize.punkt")
    params = punkt.PunktParameters()
    params.abbrev_types = set(model_lines("abbrev_types.txt"))
    params.sent_starters = set(model_lines("sent_starters.txt"))
    params.collocations = {tuple(line.split("\t")) for line in model_lines("collocations.tab")}
    pairs = (line.split("\t") for line in model_lines("ortho_context.tab"))
    params.ortho_context = _Counts((word, int(contexts)) for word, contexts in pairs)
    return punkt.PunktSentenceTokenizer(params)


@Once
def _treebank() -> Callable[[str], list[str]]:
    tokenize: Callable[[str], list[str]] = library("nltk.tokenize.destructive").NLTKWordTokenizer().tokenize
    return tokenize


@Once
def _languages() -> Any:
    detector_factory = library("langdetect.detector_factory")
    factory = detector_factory.DetectorFactory()
    factory.set_seed(0)  # its sampling starts from this seed at every text
    factory.load_profile(detector_factory.PROFILES_DIRECTORY)
    return factory
