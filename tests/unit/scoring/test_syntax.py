"""Whether a reply is a program: told without running, and without writing its bytecode twice over."""

from __future__ import annotations

import time

import pytest

from pytest_benchkit.scoring.syntax import compiles


def bomb(levels: int) -> str:
    """Nested ``finally`` clauses, whose bytecode doubles with each level."""
    lines = []
    for level in range(levels):
        pad = "    " * (2 * level)
        lines += [f"{pad}def g{level}():", f"{pad}    try:", f"{pad}        pass", f"{pad}    finally:"]
    return "\n".join([*lines, "    " * (2 * levels) + "pass"]) + "\n\ndef f(n):\n    return n * 2\n"


def test_a_source_that_doubles_when_compiled_is_looked_at_in_no_time() -> None:
    started = time.process_time()
    assert compiles(bomb(40))
    assert time.process_time() - started < 5  # centuries, without the care taken


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("try:\n    pass\nfinally:\n    return", False),
        ("def f():\n    try:\n        return 1\n    finally:\n        return 2", True),
        ("for i in x:\n    try:\n        pass\n    finally:\n        continue", True),
        ("try:\n    break\nfinally:\n    pass", False),
        ("try:\n    pass\nexcept* E:\n    pass\nelse:\n    x = 1\nfinally:\n    y = 2", True),
        ("async def f():\n    try:\n        await x\n    finally:\n        await y", True),
        ("def f():\n    try:\n        pass\n    finally:\n        nonlocal z", False),
    ],
)
def test_what_compiles_is_what_python_says(source: str, whole: bool) -> None:
    assert compiles(source) == whole
    try:
        compile(source, "<s>", "exec")
    except SyntaxError:
        assert not whole
    else:
        assert whole
