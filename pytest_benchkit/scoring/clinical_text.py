"""Words, sentences and denial, as the clinical screen reads them: concepts are whole words in sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*(?:'[a-z]+)?|[%/]")
SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|[\n;]+")
STRAIGHT = str.maketrans({"‘": "'", "’": "'", "ʼ": "'"})

FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be because been before being both but by can could do does
    during each for from had has have he her here his how however i if in into is it its may might more most
    must of on or other our over per same she should so some such than that the their them then there these
    they this those to under until up was we were what when where whether which while who will with would
    you your""".split()  # noqa: SIM905
)
"""Words that sentences have and lists of keywords lack."""

DENIALS = frozenset(
    """no not never without avoid avoiding cannot nor neither unnecessary don't doesn't didn't isn't aren't
    wasn't won't can't couldn't shouldn't wouldn't mustn't needn't""".split()  # noqa: SIM905
)
AFFIRMED = frozenset(
    """delay delayed delaying hesitate wait postpone defer miss missed forget ignore ignored overlook
    overlooked rule ruled exclude excluded dismiss dismissed only just""".split()  # noqa: SIM905
)
"""What follows a denial that insists instead: "do not delay", "cannot rule out", "not only"."""
TURNS = frozenset({"but", "however", "instead", "rather", "although", "though", "because", "unless"})
"""Words behind which a denial no longer holds."""
REACH = 6
"""Words over which a denial reaches."""
NEAR = 120
"""Characters in which they are looked for."""
DENIED_AFTER = re.compile(
    r"^(?:is |are |was |were |would be |seems |appears )?(?:currently |probably |clearly )?"
    r"(?:not |un)\s?(?:needed|required|necessary|indicated|warranted|helpful|recommended)\b"
)


@dataclass(frozen=True, slots=True)
class Prose:
    """``text``: a line per sentence, its words with one space around each. ``words``: all of them."""

    text: str
    words: tuple[str, ...]


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower().translate(STRAIGHT))


def prose(text: str) -> Prose:
    """The sentences and lines of a text that hold a word."""
    lines = [words for part in SENTENCE_END.split(text) if (words := words_of(part))]
    return Prose(
        "\n".join(f" {' '.join(words)} " for words in lines), tuple(word for words in lines for word in words)
    )


@cache
def concept(spelt: str) -> re.Pattern[str]:
    """The pattern of a concept, written as synonyms with ``|`` between; ``*`` lets a word go on.

    It begins with the space before the first word: a literal, which is found fast.
    """
    synonyms = []
    for synonym in spelt.split("|"):
        words = [
            re.escape(word) + (r"[a-z]*" if star else "")
            for word, star in re.findall(r"([a-z0-9'%/.]+)(\*?)", synonym.lower().replace("-", " "))
        ]
        synonyms.append(" ".join(words))
    synonyms.sort(key=len, reverse=True)
    return re.compile(rf" (?:{'|'.join(synonyms)})(?= )")


def says(read: Prose, pattern: re.Pattern[str]) -> bool:
    """Whether some sentence affirms what the pattern, which begins with a space, finds."""
    return any(not denied(read.text, hit.start() + 1, hit.end()) for hit in pattern.finditer(read.text))


def denied(text: str, start: int, end: int) -> bool:
    """Whether the sentence denies or forbids what stands at this place of a prose's text."""
    line = text[max(0, start - NEAR) : start].rpartition("\n")[2]
    before = line.split()
    if before and not line[0].isspace():
        before = before[1:]  # the first word is torn
    for place in range(len(before) - 1, max(-1, len(before) - REACH - 1), -1):
        if before[place] in TURNS:
            break
        if before[place] in DENIALS:
            behind = before[place + 1 : place + 4]
            return not AFFIRMED.intersection(behind)
    return DENIED_AFTER.match(text[end : end + NEAR].lstrip(" ")) is not None
