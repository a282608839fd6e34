"""Calls written in Python's syntax, read by its grammar and never run."""

from __future__ import annotations

import ast
import re
from typing import Any

Written = tuple[str, dict[str, Any]]
"""Name and arguments of a call."""

ESCAPE = re.compile(r"\\(?:(?P<known>[\\'\"abfnrtvxNuU0-7\n])|(?=.))", re.DOTALL)
RAW_STRING = re.compile(r"\b[rR][bB]?['\"]|\b[bB][rR]['\"]")
LARGEST = 10**12
HIGHEST = 64


class _NoValueError(ValueError):
    """A node that stands for no value."""


def read(text: str) -> list[Written] | None:
    """The calls of ``[f(a=1), g(b=2)]``; brackets may be missing. ``None`` when it is anything else.

    Only named arguments count. A name as a value is its text; so is a call without named arguments, and one
    with them becomes a map as the outer ones do (``bfcl_eval`` ``model_handler/utils.py``, 2026.3.23).
    Deviation: of arithmetic only numbers are worked out, upstream runs any.
    """
    if not text.startswith("["):
        text = "[" + text
    if not text.endswith("]"):
        text += "]"
    try:
        body = ast.parse(_without_unknown_escapes(text), mode="eval").body
        if not isinstance(body, ast.List):
            return None
        return [_call(node) for node in body.elts]
    # Whatever odd text does to the parser of this Python, it is no call.
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError, ArithmeticError):
        return None


def _without_unknown_escapes(text: str) -> str:
    r"""``\d`` in a string is ``\\d`` to Python, but it warns of it, and a warning may be an error here."""
    if "\\" not in text or RAW_STRING.search(text):
        return text
    return ESCAPE.sub(lambda match: match[0] if match["known"] else "\\\\", text)


def _call(node: ast.expr) -> Written:
    if not isinstance(node, ast.Call):
        raise _NoValueError
    arguments = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _NoValueError
        arguments[keyword.arg] = _value(keyword.value)
    return _name(node.func), arguments


def _name(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else value
        case ast.Name(id=name):
            return name
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item) for item in items)
        case ast.Dict(keys=keys, values=items):
            return {_value(key): _value(item) for key, item in zip(keys, items, strict=True)}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BinOp():
            return _number(node)
        case ast.Call(keywords=[]) | ast.Subscript():
            return ast.unparse(node)
        case ast.Call():
            name, arguments = _call(node)
            return {name: arguments}
    raise _NoValueError


def _number(node: ast.expr) -> int | float:
    """Arithmetic with numbers, small enough to be done at once."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _number(left), _number(right)
            if max(abs(first), abs(second)) > LARGEST:
                raise _NoValueError
            match op:
                case ast.Add():
                    return first + second
                case ast.Sub():
                    return first - second
                case ast.Mult():
                    return first * second
                case ast.Div():
                    return first / second
                case ast.FloorDiv():
                    return first // second
                case ast.Mod():
                    return first % second
                case ast.Pow() if abs(second) <= HIGHEST:
                    power: Any = first**second
                    if isinstance(power, (int, float)):
                        return power
    raise _NoValueError
