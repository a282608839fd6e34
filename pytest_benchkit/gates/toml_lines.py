"""Lines of the values of a TOML text, which its parser does not tell.

One scan that knows comments, the four string forms, dotted and quoted keys, inline tables, arrays and
both kinds of header. Where it is not sure it knows nothing; it never raises.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

Where = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})(?!")', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'''(?:'{0,2})(?!')", re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]\}#][^,\]\}#\n]*")
_ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[btnfre"\\])')
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}


class _Unsure(Exception):
    """The text is not what this scan expects here."""


class LineIndex:
    """``index[("benchmarks", 0, "metrics", "score", "min")]`` is a line from 1, or ``None``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._breaks = [m.start() for m in re.finditer("\n", text)]
        self._lines: dict[Where, int] = {}
        self._arrays: dict[Where, int] = {}
        try:
            self._scan()
        except (_Unsure, IndexError, RecursionError):
            pass  # what was found before the odd place is right; the rest is unknown

    def __call__(self, where: Where) -> int | None:
        return self._lines.get(where)

    @property
    def places(self) -> dict[Where, int]:
        """Every place found, with its line."""
        return dict(self._lines)

    # ------------------------------------------------------------------ scanning

    def _note(self, where: Where, at: int) -> None:
        self._lines.setdefault(where, bisect_right(self._breaks, at - 1) + 1)

    def _scan(self) -> None:
        text, at = self._text, 0
        table: Where = ()
        while True:
            at = self._skip(_BLANK, at)
            if at >= len(text):
                return
            start = at
            if text.startswith("[[", at):
                keys, at = self._keys(at + 2)
                at = self._expect("]]", at)
                table = self._element((*self._resolve(keys[:-1]), keys[-1]))
                self._note(table, start)
            elif text[at] == "[":
                keys, at = self._keys(at + 1)
                at = self._expect("]", at)
                table = self._resolve(keys)
                self._note(table, start)
            else:
                at = self._pair(at, table)
            end = self._skip(_SPACE, at)
            if end < len(text) and text[end] not in "#\r\n":
                self._give_up()

    def _resolve(self, keys: list[str]) -> Where:
        """The place a header means: inside an array of tables, its newest element."""
        where: Where = ()
        for key in keys:
            where = (*where, key)
            if where in self._arrays:
                where = (*where, self._arrays[where])
        return where

    def _element(self, array: Where) -> Where:
        self._arrays[array] = self._arrays.get(array, -1) + 1
        return (*array, self._arrays[array])

    def _pair(self, at: int, table: Where) -> int:
        start = at
        keys, at = self._keys(at)
        at = self._expect("=", at)
        where = table
        for key in keys:
            where = (*where, key)
            self._note(where, start)
        return self._value(self._skip(_SPACE, at), where)

    def _keys(self, at: int) -> tuple[list[str], int]:
        keys = []
        while True:
            at = self._skip(_SPACE, at)
            for pattern in (_BARE, _BASIC, _LITERAL):
                if match := pattern.match(self._text, at):
                    break
            else:
                self._give_up()
            word = match.group()
            if word[0] == '"':
                word = _ESCAPE.sub(_unescape, word[1:-1])
            elif word[0] == "'":
                word = word[1:-1]
            keys.append(word)
            at = self._skip(_SPACE, match.end())
            if not self._text.startswith(".", at):
                return keys, at
            at += 1

    def _value(self, at: int, where: Where) -> int:
        text = self._text
        if text[at] == "{":
            return self._inline(at + 1, where)
        if text[at] == "[":
            return self._array(at + 1, where)
        for opening, pattern in (
            ('"""', _LONG_BASIC),
            ("'''", _LONG_LITERAL),
            ('"', _BASIC),
            ("'", _LITERAL),
        ):
            if text.startswith(opening, at):
                return self._must(pattern, at)
        return self._must(_PLAIN, at)

    def _inline(self, at: int, where: Where) -> int:
        while True:
            at = self._skip(_BLANK, at)
            if self._text[at] == "}":
                return at + 1
            at = self._skip(_BLANK, self._pair(at, where))
            if self._text[at] == ",":
                at += 1
            elif self._text[at] != "}":
                self._give_up()

    def _array(self, at: int, where: Where) -> int:
        position = 0
        while True:
            at = self._skip(_BLANK, at)
            if self._text[at] == "]":
                return at + 1
            self._note((*where, position), at)
            at = self._skip(_BLANK, self._value(at, (*where, position)))
            position += 1
            if self._text[at] == ",":
                at += 1
            elif self._text[at] != "]":
                self._give_up()

    # ------------------------------------------------------------------ tokens

    def _skip(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self._text, at)
        return match.end() if match else at

    def _must(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self._text, at)
        if match is None:
            self._give_up()
        return match.end()

    def _expect(self, mark: str, at: int) -> int:
        at = self._skip(_SPACE, at)
        if not self._text.startswith(mark, at):
            self._give_up()
        return at + len(mark)

    def _give_up(self) -> NoReturn:
        raise _Unsure


def _unescape(match: re.Match[str]) -> str:
    word = match.group(1)
    if word[0] in "uUx":
        point = int(word[1:], 16)
        return chr(point) if point < 0x110000 else word
    return _SHORT[word]
