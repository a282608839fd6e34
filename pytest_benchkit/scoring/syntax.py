"""Parsing text that a model wrote: never executed, never a warning, never an exception."""

from __future__ import annotations

import ast
import warnings
from types import CodeType

SOURCE = "<reply>"
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def parsed(code: str) -> ast.Module | None:
    """The tree of a program, ``None`` when it does not parse."""
    _hush()
    try:
        tree = compile(code, SOURCE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except FAULTS:
        return None
    return tree if isinstance(tree, ast.Module) else None


def error_line(code: str) -> int | None:
    """The line (from 1) at which parsing fails; ``None`` when it succeeds, 0 when no line is to blame."""
    _hush()
    try:
        compile(code, SOURCE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 0
    except FAULTS:
        return 0
    return None


def compiles(code: str) -> bool:
    """Whether it is a whole program: ``return`` outside a function parses and does not compile."""
    _hush()
    try:
        made: CodeType = compile(code, SOURCE, "exec", dont_inherit=True)
    except FAULTS:
        return False
    return made is not None


def _hush() -> None:
    """Python warns of odd escapes and comparisons in what it compiles, or raises where warnings are errors.
    A filter about this source alone is put in front; none is taken away, so other threads keep theirs."""
    first = warnings.filters[0] if warnings.filters else None
    if first is None or first[0] != "ignore" or getattr(first[3], "pattern", None) != SOURCE:
        warnings.filterwarnings("ignore", module=SOURCE)
