"""Which channel the text of a still running reply belongs to, as far as one can tell so far.

For the loop detector, which watches thinking and answer apart. The rule is simpler than the final split of
:mod:`pytest_benchkit.models.thinking` (code is not looked at), but like it depends on the text alone,
never on how it was cut into chunks. Work per piece depends on the piece, not on what came before.
"""

from __future__ import annotations

import re

from pytest_benchkit.models.thinking import AUTO, WORDS, Tags, grammar, pairs_of

LONGEST_TAG = 240
BEGUN = re.compile(rf"[<\[]/?(?:[a-z]{{0,9}}\Z|(?:{WORDS})[^<>\[\]]*\Z)", re.IGNORECASE)


class Channels:
    """Follows inline think tags through a stream of pieces.

    Text that might be the beginning of a tag is held back until it is known; ``flush`` gives it out.
    """

    def __init__(self, tags: Tags = AUTO) -> None:
        pairs = pairs_of(tags)
        firsts = "<[" + "".join(tag[0] for pair in pairs for tag in pair)
        self._start = re.compile(f"[{re.escape(firsts)}]", re.IGNORECASE)
        self._own = [tag.lower() for pair in pairs for tag in pair]
        self._off = tags == "none"
        self._grammar = grammar(pairs)
        self._longest = max([LONGEST_TAG, *map(len, self._own)])
        self._held = ""
        self._depth = 0
        self._line_start = True

    def feed(self, text: str) -> list[tuple[str, str]]:
        """Pieces of ``text`` (and of what was held back) as (``thinking`` or ``answer``, text)."""
        if self._off:
            return [("answer", text)]
        if not self._held and self._start.search(text) is None:
            self._follow(text)
            return [("thinking" if self._depth else "answer", text)]
        text = self._held + text
        self._held = ""
        return self._cut(text)

    def flush(self) -> list[tuple[str, str]]:
        held, self._held = self._held, ""
        return self._piece(held)

    def _cut(self, text: str) -> list[tuple[str, str]]:
        pieces: list[tuple[str, str]] = []
        at = 0
        while mark := self._start.search(text, at):
            start = mark.start()
            pieces += self._piece(text[at:start])
            tag = self._grammar.match(text, start)
            if tag is not None and self._tag(tag):
                at = tag.end()
            elif tag is None and self._unfinished(text, start):
                self._held = text[start:]
                return pieces
            else:
                pieces += self._piece(text[start : start + 1])
                at = start + 1
        return pieces + self._piece(text[at:])

    def _tag(self, tag: re.Match[str]) -> bool:
        """Obeys a tag; False when it is only text."""
        if tag["close"]:
            self._depth = max(0, self._depth - 1)
        elif tag["open"] and self._line_start:
            self._depth += 1
        else:
            return False
        self._line_start = True
        return True

    def _unfinished(self, text: str, start: int) -> bool:
        rest = text[start : start + self._longest]
        if any(tag.startswith(rest.lower()) for tag in self._own):
            return True
        return len(rest) < LONGEST_TAG and BEGUN.match(rest) is not None

    def _piece(self, text: str) -> list[tuple[str, str]]:
        if not text:
            return []
        self._follow(text)
        return [("thinking" if self._depth else "answer", text)]

    def _follow(self, text: str) -> None:
        bare = text.rstrip(" \t")
        if bare:
            self._line_start = bare[-1] in "\r\n"
