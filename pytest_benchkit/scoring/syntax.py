"""Parsing text that a model wrote: never executed, never a warning, never an exception."""

from __future__ import annotations

import ast
import warnings
from types import CodeType
from typing import Any

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
    """Whether it is a whole program: ``return`` outside a function parses and does not compile.

    CPython writes the code of a ``finally`` twice, of n nested ones 2 to the n times: such clauses are taken
    apart first, which changes nothing about where a statement may stand.
    """
    tree = parsed(code)
    if tree is None:
        return False
    try:
        if "finally" in code:
            tree = ast.fix_missing_locations(_Flat().visit(tree))
        made: CodeType = compile(tree, SOURCE, "exec", dont_inherit=True)
    except FAULTS:
        return False
    return made is not None


class _Flat(ast.NodeTransformer):
    """Turns each ``finally`` into a block behind its ``try``."""

    def visit_Try(self, node: ast.Try) -> Any:
        return self._flat(node)

    def visit_TryStar(self, node: ast.TryStar) -> Any:
        return self._flat(node)

    def _flat(self, node: ast.Try | ast.TryStar) -> ast.AST | list[ast.AST]:
        self.generic_visit(node)
        if not node.finalbody:
            return node
        last = ast.If(ast.Constant(True), node.finalbody, [])
        node.finalbody = []
        first: ast.stmt = node if node.handlers else ast.If(ast.Constant(True), node.body, [])
        return [ast.copy_location(first, node), ast.copy_location(last, node)]


def _hush() -> None:
    """Python warns of odd escapes and comparisons in what it compiles, or raises where warnings are errors.
    A filter about this source alone is put in front; none is taken away, so other threads keep theirs."""
    first = warnings.filters[0] if warnings.filters else None
    if first is None or first[0] != "ignore" or getattr(first[3], "pattern", None) != SOURCE:
        warnings.filterwarnings("ignore", module=SOURCE)
