"""JavaScript expressions, written by a model as text, as values of Python.

What cannot be read as the declared type stays text, as upstream leaves it (``bfcl_eval``
``type_convertor/js_type_converter.py``, 2026.3.23): elements are cut at every comma, a list ends at its
first closing bracket, an object at its first closing brace. Every reader is one pass over the text.
"""

from __future__ import annotations

import re
from typing import Any

NUMBERS = {
    "integer": (re.compile(r"(-?\d+)\n?"), int),
    "float": (re.compile(r"(-?\d+(?:\.\d+)?)\n?"), float),
    "Bigint": (re.compile(r"(-?\d+)n"), int),
}
"""How a number of each type is written, and what it becomes."""
QUOTES = ("'", '"')
BETWEEN_LISTS = re.compile(r"\]\s*,\s*\[")
LIST_OF_LISTS = re.compile(r"\[\s*\[")
LIST_OF_LISTS_END = re.compile(r"\]\s*\]")
NEW_ARRAY_OF_LISTS = re.compile(r"new\s+Array\(\s*\[")
NEW_ARRAY_END = re.compile(r"\]\s*\)")
INNER = re.compile(r"\[([^\]\n]*)\]")
LIST = re.compile(r"\[([^\]\n]*)\]|new\s+Array\(([^)\n]*)\)")
OBJECT = re.compile(r"\{([^}\n]*)\}")


def value(text: str, kind: str, item: str | None = None) -> Any:
    """The value of a JavaScript expression of the type ``kind``; ``item`` is the type of the elements of a
    list. Text that is not of that form is given back as it is. Total."""
    if kind in NUMBERS:
        return _number(text, kind)
    if kind == "String":
        return _unquoted(text)
    if kind == "Boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind == "array":
        return _array(text.strip(), item)
    if kind == "dict":
        return _object(text.strip())
    return text


def _number(text: str, kind: str) -> Any:
    pattern, make = NUMBERS[kind]
    if (match := pattern.fullmatch(text)) is None:
        return text
    try:
        return make(match[1])
    except ValueError:  # more digits than Python converts
        return text


def _unquoted(text: str) -> str:
    quoted = any(text.startswith(quote) and text.endswith(quote) for quote in QUOTES)
    return text[1:-1] if quoted else text


def _array(code: str, item: str | None) -> Any:
    if (lists := _lists(code)) is not None:
        return lists
    if (match := LIST.match(code)) is None:
        return code
    inside = (match[1] if match[1] is not None else match[2]).strip()
    parts = [part.strip() for part in inside.split(",")] if inside else []
    return [value(part, item, _item_of(part)) if item else untyped(part) for part in parts]


def _item_of(part: str) -> str | None:
    return "String" if part.startswith(QUOTES) else None


def _lists(code: str) -> list[list[Any]] | None:
    """The elements of a list of lists, two levels deep, untyped."""
    for opening, closing in (
        (LIST_OF_LISTS, LIST_OF_LISTS_END),
        (NEW_ARRAY_OF_LISTS, NEW_ARRAY_END),
    ):
        if (opened := opening.match(code)) is None:
            continue
        if (ended := closing.search(code, opened.end())) is None:
            return None
        inside = BETWEEN_LISTS.sub("],[", code[opened.end() - 1 : ended.start() + 1])
        if "\n" in inside:
            return None  # a line break inside a list
        found = [match[1].strip() for match in INNER.finditer(inside)]
        if opening is NEW_ARRAY_OF_LISTS or "\n" in opened[0]:  # upstream takes one bracket off
            found[0] = found[0].removeprefix("[")
        return [[untyped(part) for part in each.split(",")] for each in found]
    return None


def _object(code: str) -> Any:
    if (match := OBJECT.match(code)) is None:
        return code
    found = {}
    for key, text in _members(match[1]):
        if text.startswith("[") and text.endswith("]"):
            found[key] = _array(text, None)
        else:
            found[key] = untyped(text.strip("'\""))
    return found


def _members(inside: str) -> list[tuple[str, str]]:
    """Keys and their texts. A comma ends a member where a colon comes before the next comma."""
    members: list[str] = []
    for part in inside.split(","):
        if members and (part.find(":", 1) < 0 or ":" not in members[-1].lstrip(":")):
            members[-1] += "," + part
        else:
            members.append(part)
    split = [member.lstrip(":").partition(":") for member in members]
    return [(key.strip().strip("'\""), text.strip()) for key, colon, text in split if colon]


def untyped(text: str) -> Any:
    """The value of an expression whose type is not declared: a boolean, a string, a number, else text."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if (inner := _unquoted(text)) is not text:
        return inner
    for make in (int, float):
        try:
            return make(text)
        except ValueError:
            continue
    return text
