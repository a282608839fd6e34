"""Which inputs are run beside the function that they are for: those that only make a value."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.scoring.inputs import METHODS, only_computes

HONEST = [
    "'x' * 20",
    "''.join(['A'] * 20)",
    "thigh_o_two[:]",
    "lambda x: x.reverse()",
    "lambda a, *b, c=1, **d: a < 2 if b else c",
    "dict(did=0)",
    "range(100, 120)",
    "'$78'.upper()",
    "{k: [v, -v] for k, v in zip('ab', range(2)) if v or not v}",
    "(x for _ in range(3) for x in {_})",
    "f'{1 + 1!r:>4}'",
    "[*range(3), *'ab'][1:2]",
    "{'a': 1, **{'b': 2}}",
    "sorted([3, 1], key=lambda n: -n)",
    "word",
    "3.5j.real",
]
TRICKS = [
    "setattr(g, '__code__', (lambda *a: 1).__code__)",
    "f",
    "lambda f: 1",
    "[f for f in 'ab']",
    "\N{MATHEMATICAL BOLD SMALL F}",
    "(f := lambda *a: 1)",
    "(x := 1)",
    "exec('f = 1')",
    "eval('f')",
    "compile('1', '', 'eval')",
    "globals()",
    "vars()",
    "__builtins__",
    "lambda __builtins__: 1",
    "__import__('os')",
    "type('B', (), {'__rmul__': lambda s, o: 1})()",
    "[exec for exec in [1]]",
    "lambda exec: 1",
    "getattr(1, 'real')",
    "(lambda: 0).__globals__",
    "(x for x in 'a').gi_frame",
    "(x for x in 'a').send",
    "int.mro()",
    "[0 for x.real in 'a']",
    "[0 for d['f'] in 'a']",
    "[0 for (x, y.real) in 'a']",
    "f'{f}'",
    "f'{1:{eval}}'",
    "[1 for x in 'a' if (y := x)]",
    "lambda x=exec: 1",
    "lambda: (yield)",
    "(await x)",
    "print",
    "open",
    "breakpoint",
]


def asked(source: str) -> bool:
    return only_computes(ast.parse(source, mode="eval").body, "f")


@pytest.mark.parametrize("source", HONEST)
def test_values_may_be_made_in_any_way(source: str) -> None:
    assert asked(source)


@pytest.mark.parametrize("source", TRICKS)
def test_nothing_else_is_let_through(source: str) -> None:
    assert not asked(source)
    assert not asked(f"[1, (lambda: {{'a': [{source}]}})]")


def test_methods_are_those_of_plain_types() -> None:
    assert {"join", "items", "append", "real"} <= METHODS
    assert not {name for name in METHODS if name.startswith(("_", "gi_", "f_", "tb_", "cr_", "co_"))}
    functions = (lambda: 0, print, (x for x in "a"), ast, type)
    assert not METHODS.intersection(*[{"mro"}], *[dir(thing) for thing in functions])


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(0, 1e9) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(plain)
def test_every_literal_is_let_through(value: object) -> None:
    assert asked(repr(value))
