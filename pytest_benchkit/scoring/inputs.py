"""Whether an expression does no more than make a value: inputs that a model writes and that are evaluated
beside the function they are for. Pure.

An allow-list, not a search for tricks. What is made of these operations, of builtins that only compute, and
of the public methods of plain types holds no way to write to a function, a module or a frame, and none to
make an object of a class of its own. ``setattr``, ``exec``, ``type``, ``globals`` and an underscore's
attributes are not among them.
"""

from __future__ import annotations

import ast
import builtins

NODES = (
    *(ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Starred, ast.List, ast.Tuple, ast.Set, ast.Dict),
    *(
        ast.Slice,
        ast.Call,
        ast.keyword,
        ast.BinOp,
        ast.UnaryOp,
        ast.BoolOp,
        ast.Compare,
        ast.IfExp,
        ast.Lambda,
    ),
    *(ast.arguments, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
"""Beside names, attributes and items. Not among them: ``:=``, which may bind the function's name anew."""
COMPUTING = frozenset(
    (
        *("abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "complex"),
        *("dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash", "hex", "int"),
        *("isinstance", "iter", "len", "list", "map", "max", "min", "next", "oct", "ord", "pow", "range"),
        *("repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip"),
    )
)
PLAIN = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice)
METHODS = frozenset(name for kind in PLAIN for name in dir(kind) if not name.startswith("_"))


def only_computes(expression: ast.expr, function: str) -> bool:
    """Whether an expression is made of plain operations, and does not name ``function``."""
    return all(_harmless(node, function) for node in ast.walk(expression))


def _harmless(node: ast.AST, function: str) -> bool:
    if isinstance(node, ast.Name):
        return _known(node.id, function)
    if isinstance(node, ast.arg):
        return _known(node.arg, function)
    if isinstance(node, ast.Attribute):  # a loop can store into an attribute or an item: [0 for x.y in z]
        return node.attr in METHODS and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, NODES)


def _known(name: str, function: str) -> bool:
    """Whether a name is the expression's own, one that is bound nowhere, or a builtin that computes."""
    if name == function or name.startswith("__"):
        return False
    return name in COMPUTING or not hasattr(builtins, name)
