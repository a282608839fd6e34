"""Inline thinking: which part of a reply is reasoning between tags, and which is the answer.

Rules TH-1 to TH-8 of the suites' specification. The exact split is made once, from the whole text
(:func:`split`); while a reply is still arriving, :mod:`pytest_benchkit.models.channels` follows it roughly.
Everything here is pure, total and linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Tags = Literal["auto", "none"] | Sequence[tuple[str, str]]
"""``auto``, ``none``, or open/close pairs that are known beside the automatic ones."""

AUTO: Literal["auto"] = "auto"

WORDS = "thinking|think|thought|reasoning|reason"
OPENER = rf"<(?:{WORDS})(?:\s[^<>]{{0,200}})?>|\[(?:{WORDS})(?:\s+\w+=[^\[\]]{{0,200}})?\]"
EMPTY = rf"<(?:{WORDS})\s*/>"
CLOSER = rf"</(?:{WORDS})\s*>|\[/(?:{WORDS})\s*\]"
FENCE = r"(?m:^[ \t]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^`\r\n]*))"
# A code span hugs its content; a stray backtick in a sentence does not make one.
INLINE = r"(?<!`)(?:`(?![\s`])[^`\r\n]*(?<!\s)`|``(?![\s`])(?:[^`\r\n]|`(?!`))*``)(?!`)"

STRAY = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|eot|end|eos|return|endoftext|end_of_text|end_of_turn|end_of_turn_token)\|>"
    r"|<(?:eos|end_of_turn)>|</s>|<｜end▁of▁sentence｜>)\Z",
    re.IGNORECASE,
)
STRAY_LENGTH = 32
BLANK_LINES = re.compile(r"(?:[ \t]*[\r\n])+")


@dataclass(frozen=True, slots=True)
class Split:
    """A reply's text in two channels.

    ``tagged``: a thinking tag was found. ``answer_at``: offset in the text of the first answer character
    that is not white space, ``None`` without one. ``flags``: ``thinking_unclosed``, ``stray_token``.
    """

    answer: str
    thinking: str
    flags: tuple[str, ...] = ()
    tagged: bool = False
    answer_at: int | None = None


@lru_cache(maxsize=32)
def grammar(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """The scanner for tags, fences and code spans; groups ``open``, ``empty``, ``close``, ``fence``."""
    openers = "|".join([re.escape(a) for a, _ in pairs] + [OPENER])
    closers = "|".join([re.escape(b) for _, b in pairs] + [CLOSER])
    tags = rf"(?P<empty>{EMPTY})|(?P<close>{closers})|(?P<open>{openers})"
    return re.compile(rf"{FENCE}|(?P<code>{INLINE})|{tags}", re.IGNORECASE)


@lru_cache(maxsize=32)
def closer_only(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join([re.escape(b) for _, b in pairs] + [CLOSER]), re.IGNORECASE)


@lru_cache(maxsize=32)
def quick(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    own = [re.escape(tag) for pair in pairs for tag in pair]
    return re.compile("|".join([*own, rf"[<\[]/?(?:{WORDS})"]), re.IGNORECASE)


def pairs_of(tags: Tags) -> tuple[tuple[str, str], ...]:
    return () if isinstance(tags, str) else tuple((a, b) for a, b in tags if a and b)


def split(text: str, tags: Tags = AUTO, *, reasoning_field_seen: bool) -> Split:
    """Separates thinking from answer.

    With ``reasoning_field_seen`` a lone closing tag no longer makes the text before it thinking, because
    the server already sent thinking in a field of its own; the tag itself is removed.
    """
    spans: list[tuple[int, int]] = [(0, len(text))]
    thoughts: list[tuple[int, int]] = []
    flags: list[str] = []
    tagged = False
    if tags != "none" and _may_hold_tags(text, pairs_of(tags)):
        scan = _Scan(text, pairs_of(tags), lone_closers=not reasoning_field_seen)
        scan.run()
        spans, thoughts, tagged = scan.answers(), scan.thoughts(), scan.tagged
        if scan.depth:
            flags.append("thinking_unclosed")
    answer, stray = _trim(_join(text, spans))
    if stray:
        flags.append("stray_token")
    thinking = "\n".join(t for t in (text[a:b].strip("\r\n") for a, b in thoughts) if t)
    return Split(answer, thinking, tuple(flags), tagged, _first(text, spans) if answer else None)


def _may_hold_tags(text: str, pairs: tuple[tuple[str, str], ...]) -> bool:
    """A cheap look that spares most replies the walk."""
    return ("<" in text or "[" in text or bool(pairs)) and quick(pairs).search(text) is not None


class _Scan:
    """One walk over the text; leaves answer and thinking spans, and the depth at the end."""

    def __init__(self, text: str, pairs: tuple[tuple[str, str], ...], *, lone_closers: bool) -> None:
        self.text = text
        self.closer = closer_only(pairs)
        self.marks = list(grammar(pairs).finditer(text))
        self.lone_closers = lone_closers
        self._spans: list[tuple[int, int, bool]] = []  # start, end, inside a thinking block
        self._lone = 0  # spans before it are thinking, because a lone closing tag follows them
        self.tagged = False
        self.depth = 0
        self.at = 0
        self.fences = [m for m in self.marks if m["fence"]]
        self.ends = _block_ends(self.fences)
        self.clean = _clean(self.ends)
        # Position of the last closing tag that no code hides, to know whether a hidden one is needed.
        self.last_plain = -1

    def run(self) -> None:
        self.last_plain = self._last_plain()
        block: tuple[int, int] | None = None  # (end, next fence) of the code block we are in
        fence = 0
        for mark in self.marks:
            inside = block is not None and mark.start() < block[0]
            if mark["fence"]:
                if not inside:
                    block = (self._end(fence), fence)
                fence += 1
            elif mark["code"]:
                for tag in self.closer.finditer(self.text, mark.start(), mark.end()):
                    if self.depth and self.last_plain < tag.start():
                        self._close(tag.start(), tag.end())
            elif mark["close"]:
                if self._hidden(mark, block, fence):
                    continue
                self._close(mark.start(), mark.end())
                block = None  # a fence that thinking left open hides nothing of the answer
            elif self._line_start(mark.start()):
                unclosed = block is not None and block[0] > len(self.text)
                if not inside or (self.depth and unclosed):
                    self._open(mark.start(), mark.end(), empty=mark["empty"] is not None)
        self._take(len(self.text))

    def answers(self) -> list[tuple[int, int]]:
        return [(a, b) for a, b, thought in self._spans[self._lone :] if not thought]

    def thoughts(self) -> list[tuple[int, int]]:
        return [(a, b) for i, (a, b, thought) in enumerate(self._spans) if thought or i < self._lone]

    def _last_plain(self) -> int:
        fence = 0
        last = -1
        end = -1
        for mark in self.marks:
            if mark["fence"]:
                if mark.start() >= end:
                    done = self.ends[fence]
                    end = -1 if done is None else self.fences[done].end()
                fence += 1
            elif mark["close"] and mark.start() >= end:
                last = mark.start()
        return last

    def _end(self, fence: int) -> int:
        """Where the block opened by this fence ends; past the text when nothing closes it."""
        end = self.ends[fence]
        return len(self.text) + 1 if end is None else self.fences[end].end()

    def _hidden(self, mark: re.Match[str], block: tuple[int, int] | None, fence: int) -> bool:
        """Whether this closing tag is text of a complete code block."""
        if block is None or not mark.start() < block[0] <= len(self.text):
            return False
        if self.depth:  # hide it only if another one is left to end the thinking
            return self.last_plain > mark.start()
        end = self.ends[block[1]]
        after = True if end is None else self.clean[end + 1]
        # Fences that pair up only without the one before the tag: that one was left open by thinking.
        return after or not self.clean[fence]

    def _line_start(self, at: int) -> bool:
        stop = self.at
        while at > stop and self.text[at - 1] in " \t":
            at -= 1
        return at in (0, stop) or self.text[at - 1] in "\r\n"

    def _take(self, end: int) -> None:
        self._spans.append((self.at, end, self.depth > 0))

    def _open(self, start: int, end: int, *, empty: bool) -> None:
        self.tagged = True
        self._take(start)
        self.depth += not empty
        self.at = end

    def _close(self, start: int, end: int) -> None:
        self.tagged = True
        self._take(start)
        if self.depth:
            self.depth -= 1
        elif self.lone_closers:
            # The template opened the thinking: all text so far belongs to it.
            self._lone = len(self._spans)
        self.at = end


def _block_ends(fences: Sequence[re.Match[str]]) -> list[int | None]:
    """For each fence, read as an opening one, the index of the fence that closes it.

    A fence with an info string never closes a block; inside one of the same kind it shows that the outer
    one was left open.
    """
    ends: list[int | None] = []
    for i, first in enumerate(fences):
        mark, found = first["fence"], None
        for j in range(i + 1, len(fences)):
            other = fences[j]["fence"]
            if other[0] != mark[0] or len(other) < len(mark):
                continue
            if not fences[j]["info"].strip():
                found = j
            break
        ends.append(found)
    return ends


def _clean(ends: Sequence[int | None]) -> list[bool]:
    """Whether the fences from each index on, read afresh, all pair up."""
    clean = [True] * (len(ends) + 1)
    for i in range(len(ends) - 1, -1, -1):
        end = ends[i]
        clean[i] = end is not None and clean[end + 1]
    return clean


def _join(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The answer's pieces with one line break where a thinking block stood between two of them."""
    joined: list[str] = []
    for start, end in spans:
        piece = text[start:end]
        if not piece:
            continue
        if joined and piece[0] in "\r\n" and joined[-1][-1] in "\r\n":
            piece = piece[2:] if piece.startswith("\r\n") else piece[1:]
        elif joined and piece[0] not in "\r\n" and joined[-1][-1] not in "\r\n":
            joined.append("\n")
        if piece:
            joined.append(piece)
    return "".join(joined)


def _trim(answer: str) -> tuple[str, bool]:
    """Cuts blank lines in front, white space behind and template tokens at the very end."""
    answer = answer.rstrip()
    stray = False
    end = len(answer)
    while found := STRAY.search(answer[max(0, end - STRAY_LENGTH) : end]):
        stray = True
        end -= found.end() - found.start()
        while end and answer[end - 1].isspace():
            end -= 1
    answer = answer[:end]
    if blank := BLANK_LINES.match(answer):
        answer = answer[blank.end() :]
    return answer, stray


def _first(text: str, spans: Sequence[tuple[int, int]]) -> int | None:
    visible = re.compile(r"\S")
    for start, end in spans:
        if found := visible.search(text, start, end):
            return found.start()
    return None
