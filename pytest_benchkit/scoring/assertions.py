"""The assertion in a reply to CRUXEval: ``assert f(input) == output``, and the side that was asked for. Pure.

Source: facebookresearch/cruxeval evaluation/utils_general.py @ 190faf16d175b5847b0af05d937872b1fb395942,
which cuts the text at ``==``. Here the statement is parsed, so strings that hold ``==`` are safe (declared).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from pytest_benchkit.scoring.code import MOST_CHARS
from pytest_benchkit.scoring.fences import fences
from pytest_benchkit.scoring.inputs import only_computes
from pytest_benchkit.scoring.syntax import parsed

OPENER, CLOSER, THOUGHT = "[ANSWER]", "[/ANSWER]", "[/THOUGHT]"
ASSERT = re.compile(r"^[ \t]*assert\b", re.MULTILINE)
MOST_LINES = 40
"""Lines that one assertion may span, and assertions that are looked at."""
MOST_PARSED = 20_000
"""Characters that are parsed for one reply, over all attempts: a millisecond a thousand."""
FAULTS = (ValueError, RecursionError, MemoryError)
Side = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Answer:
    """``expression`` is the side asked for, as source text; absent when nothing could be read. ``calls_f``:
    whether it is a call of ``f``."""

    expression: str | None
    rule: str
    calls_f: bool = False


def read(text: str, side: Side) -> Answer:
    """Rules, in order: ``answer-block-assertion`` and ``assertion`` (the last assertion of the answer block,
    or of the text without one), ``answer-block-value`` and ``bare-value`` (the text as an expression).
    ``no-source``: what was found cannot be written down again, being nested too deep or a number too long."""
    if len(text) > MOST_CHARS:
        return Answer(None, "none")
    block = _block(text.replace("\r\n", "\n"))
    where = "answer-block" if block is not None else ""
    body = _unfenced(block if block is not None else text)
    if (found := _last_assertion(body)) is not None:
        chosen = _side(found, side)
        rule = f"{where}-assertion".lstrip("-")
    else:
        chosen = _expression(body)
        rule = f"{where}-value" if where else "bare-value"
    if chosen is None:
        return Answer(None, "none")
    try:
        return Answer(ast.unparse(chosen), rule, _calls_f(chosen))
    except FAULTS:
        return Answer(None, "no-source")


def _block(text: str) -> str | None:
    """The last answer block; else what precedes a lone closer; else what follows the thought."""
    start = text.rfind(OPENER)
    if start >= 0:
        inside = text[start + len(OPENER) :]
        return inside.partition(CLOSER)[0]
    before, closer, _ = text.partition(CLOSER)
    if closer:
        return before.rpartition(THOUGHT)[2]
    _, thought, after = text.rpartition(THOUGHT)
    return after if thought else None


def _unfenced(text: str) -> str:
    found = fences(text)
    return found[-1].body if found else text


def _last_assertion(text: str) -> ast.Assert | None:
    """The last statement that starts with ``assert`` and parses, over as many lines as it takes."""
    left = MOST_PARSED
    for match in reversed(list(ASSERT.finditer(text))[-MOST_LINES:]):
        source = ""
        for line in text[match.start() :].lstrip().split("\n", MOST_LINES)[:MOST_LINES]:
            source += line + "\n"
            left -= len(source)
            if left < 0:
                return None
            tree = parsed(source)
            if tree is not None and tree.body and isinstance(first := tree.body[0], ast.Assert):
                return first
    return None


def _side(statement: ast.Assert, side: Side) -> ast.expr | None:
    test = statement.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return None
    left, right = test.left, test.comparators[0]
    if side == "input":
        return left if _calls_f(left) or not _calls_f(right) else right
    return right if _calls_f(left) or not _calls_f(right) else left


def _expression(text: str) -> ast.expr | None:
    bare = text.strip()
    tree = parsed(bare) if len(bare) <= MOST_PARSED else None
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    return tree.body[0].value


def _calls_f(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "f"


def mentions_f(expression: str) -> bool:
    """Whether the name ``f`` stands anywhere in an expression."""
    tree = parsed(expression)
    return tree is not None and any(isinstance(node, ast.Name) and node.id == "f" for node in ast.walk(tree))


def call_only_computes(expression: str) -> bool:
    """Whether it is a call of ``f`` whose arguments do no more than make values."""
    match parsed(expression):
        case ast.Module(body=[ast.Expr(value=ast.Call() as call)]) if _calls_f(call):
            made = [*call.args, *(keyword.value for keyword in call.keywords)]
            return all(only_computes(argument, "f") for argument in made)
    return False


def literal(expression: str) -> tuple[bool, object]:
    """Whether an expression is a plain literal, and its value."""
    try:
        return True, ast.literal_eval(expression)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False, None
