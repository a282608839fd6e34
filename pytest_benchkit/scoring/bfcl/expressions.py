"""Calls in the syntax of Java or JavaScript: names, brackets and quotes are read, values stay text."""

from __future__ import annotations

import re

from pytest_benchkit.scoring.bfcl.pythonic import Written

NAME = re.compile(r"\s*([A-Za-z_$][\w.$]*)\s*\(")
BEHIND = re.compile(r"[;\s]*(?:,|\Z)")
NAMED = re.compile(r"\s*([A-Za-z_$][\w$]*)\s*=(?![=>])\s*(.*)", re.DOTALL)
# The first alternative that fits: a string (to the end where it is not closed, so that no part of it is
# read twice), a type with parameters, a word, any one character.
TOKEN = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"?|'(?:[^'\\]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?"
    r"|new\s+[\w.]+\s*<[^<>()]*+(?:<[^<>()]*+>[^<>()]*+)*+>|\w+|.",
    re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"
QUOTES = ("'", '"', "`")


def read(text: str) -> list[Written] | None:
    """The calls of ``[f(a=1), g(b=2)]``; brackets may be missing. ``None`` when it is anything else.

    Values are the text behind ``=``, strings without their quotes; arguments without a name do not count.
    Upstream reads one call with tree-sitter; here any number is read. One pass.
    """
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    calls: list[Written] = []
    place = 0
    while opened := NAME.match(text, place):
        if (parts := _arguments(text, opened.end())) is None:
            return None
        pieces, end = parts
        calls.append((opened[1], _named(pieces)))
        if (behind := BEHIND.match(text, end)) is None:
            return None
        place = behind.end()
    return calls if calls and place == len(text) else None


def _arguments(text: str, start: int) -> tuple[list[str], int] | None:
    """The pieces between commas up to the bracket that closes the call, and the place behind it."""
    pieces: list[str] = []
    depth = 0
    begun = start
    for token in TOKEN.finditer(text, start):
        mark = token[0]
        if mark in OPENING:
            depth += 1
        elif mark in CLOSING:
            if not depth:
                return [*pieces, text[begun : token.start()]], token.end()
            depth -= 1
        elif mark == "," and not depth:
            pieces.append(text[begun : token.start()])
            begun = token.end()
    return None


def _named(pieces: list[str]) -> dict[str, str]:
    named = {}
    for piece in pieces:
        if match := NAMED.fullmatch(piece):
            value = match[2].strip()
            quoted = value[:1] in QUOTES and value[-1:] == value[:1] and len(value) > 1
            named[match[1]] = value[1:-1] if quoted and TOKEN.fullmatch(value) else value
    return named
