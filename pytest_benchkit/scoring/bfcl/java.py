"""Java expressions, written by a model as text, as values of Python.

What cannot be read as the declared type stays text, as upstream leaves it (``bfcl_eval``
``type_convertor/java_type_converter.py``, 2026.3.23): elements are cut at every comma, also inside quotes.
Every reader is one pass over the text.
"""

from __future__ import annotations

import re
from typing import Any

NUMBERS = {
    "byte": (re.compile(r"(-?\d+)\n?"), int),
    "short": (re.compile(r"(-?\d+)\n?"), int),
    "integer": (re.compile(r"(-?\d+)\n?"), int),
    "long": (re.compile(r"(-?\d+)[lL]\n?"), int),
    "float": (re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[fF]\n?"), float),
    "double": (re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\n?"), float),
}
"""How a number of each type is written, and what it becomes."""
QUOTED = ("char", "String")
# The closing mark is optional, so that an unclosed opening is passed over once and not read again from
# every opening inside it.
ARRAY = re.compile(r"new\s+\w+\[\]\s*\{([^}\n]*)(\}?)")
AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.(?:[^)\n]|\)(?!\)))*)(\)\))?")
ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{")
ADD = re.compile(r"add\((.[^)\n]*)(\)?)")
EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
MAP = re.compile(r"new\s+HashMap<")
MAP_BODY = re.compile(r">\s*\(\)\s*\{")
EMPTY_MAP = re.compile(r">\s*\(\)")
PUT = re.compile(r"put\(\"((?:[^\"\n]|\"(?!,))*)(?:\",\s*([^)\n]*)(\)?))?")


def value(text: str, kind: str, item: str | None = None) -> Any:
    """The value of a Java expression of the type ``kind``; ``item`` is the type of the elements of a
    list. Text that is not of that form is given back as it is. Total."""
    if kind in NUMBERS:
        return _number(text, kind)
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind == "Array":
        return _array(text, item)
    if kind == "ArrayList":
        return _array_list(text, item)
    if kind == "HashMap":
        return _hash_map(text)
    return text


def _number(text: str, kind: str) -> Any:
    pattern, make = NUMBERS[kind]
    if (match := pattern.fullmatch(text)) is None:
        return text
    try:
        return make(match[1])
    except ValueError:  # more digits than Python converts
        return text


def _array(text: str, item: str | None) -> Any:
    for match in ARRAY.finditer(text):
        if match[2]:
            parts = (part.strip() for part in match[1].split(","))
            return [_item(part, item) for part in parts if part]
    return text


def _array_list(text: str, item: str | None) -> Any:
    for match in AS_LIST.finditer(text):
        if match[2]:
            return [_element(part.strip(), item) for part in match[1].split(",")]
    for match in ADDING.finditer(text):
        end = text.find("}}", match.end())
        if end < 0:
            break
        if inside := text[match.end() : end].strip():
            return [_element(found[1].strip(), item) for found in ADD.finditer(inside) if found[2]]
    return [] if EMPTY_LIST.search(text) else text


def _element(text: str, item: str | None) -> Any:
    """An element of an ``ArrayList``; quotes are taken to be there, as upstream does."""
    return text[1:-1] if item in QUOTED else _item(text, item)


def _item(text: str, item: str | None) -> Any:
    return value(text, item) if item else untyped(text)


def _hash_map(text: str) -> Any:
    if (opened := MAP.search(text)) is None:
        return text
    body = MAP_BODY.search(text, opened.end())
    end = text.find("}", body.end()) if body else -1
    if body is None or end < 0:
        return {} if EMPTY_MAP.search(text, opened.end()) else text
    inside = text[body.end() : end].lstrip().removeprefix("{").strip()
    return {found[1]: untyped(found[2].strip()) for found in PUT.finditer(inside) if found[3]}


def untyped(text: str) -> Any:
    """The value of an expression whose type is not declared: a boolean, a string, a number, else text."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    for kind in ("long", "float"):
        if (read := _number(text, kind)) is not text:
            return read
    for make in (int, float):
        try:
            return make(text)
        except ValueError:
            continue
    return text
