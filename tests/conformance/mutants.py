"""Canonical solutions with one thing changed: programs that are nearly right, and some that still are."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.In: ast.NotIn,
}


class _Change(ast.NodeTransformer):
    """Changes the ``place``-th thing that can be changed."""

    def __init__(self, place: int) -> None:
        self.left = place
        self.done = False

    def _here(self) -> bool:
        self.left -= 1
        if self.left == -1:
            self.done = True
            return True
        return False

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        if type(node) in SWAPS and self._here():
            return SWAPS[type(node)]()
        if isinstance(node, ast.Constant) and type(node.value) in (int, str) and self._here():
            value = node.value + 1 if isinstance(node.value, int) else f"{node.value!s}x"
            return ast.copy_location(ast.Constant(value), node)
        if isinstance(node, ast.Return) and node.value is not None and self._here():
            return ast.copy_location(ast.Return(ast.Constant(None)), node)
        if isinstance(node, ast.If) and self._here():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node


def mutants(body: str, seed: str) -> Iterator[str]:
    """Bodies of a function, each changed in one place, in a seeded order. Loops that may not end are left
    out: they would say something about clocks only."""
    source = f"def f():\n{body}"
    tree = ast.parse(source)
    if any(isinstance(node, ast.While) for node in ast.walk(tree)):
        return
    count = 0
    while _changed(source, count) is not None:
        count += 1
    places = list(range(count))
    random.Random(seed).shuffle(places)
    for place in places:
        if (changed := _changed(source, place)) is not None:
            yield changed


def _changed(source: str, place: int) -> str | None:
    change = _Change(place)
    tree = ast.fix_missing_locations(change.visit(ast.parse(source)))
    if not change.done:
        return None
    lines = ast.unparse(tree).split("\n")
    return "\n".join(lines[1:]) + "\n"
