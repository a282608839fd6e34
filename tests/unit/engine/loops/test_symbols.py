"""Symbols, and what the lanes take them for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_benchkit.engine.loops.structure import Structure
from pytest_benchkit.engine.loops.symbols import LONGEST, MARK, NUMBER, PIECE, WORD, count, is_open, look


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The cat's 3.5 m", ["The", "cat", "'", "s", "3", ".", "5", "m"]),
        ("a\n  b\r\n\tc", ["a", "\n  ", "b", "\n\t", "c"]),
        ("x" * 70, ["x" * 32, "x" * 32, "x" * 6]),
        ("日本語。", ["日本語", "。"]),
        ("\ud800 ", ["\ud800"]),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert PIECE.findall(text) == pieces
    assert count(text) == sum(piece[0] != "\n" for piece in pieces)


@pytest.mark.parametrize(
    ("piece", "open_"),
    [
        ("ab", True),
        ("_", True),
        ("7", True),
        ("a" * LONGEST, False),
        (".", False),
        ("\n", True),
        ("\n" + " " * LONGEST, False),
    ],
)
def test_what_may_go_on(piece: str, open_: bool) -> None:
    assert is_open(piece) is open_


def test_looks() -> None:
    assert [look(s).kind for s in ("cat", "x1", "7", "1st", "²", "_", ".", "é", "语")] == [
        WORD, WORD, NUMBER, NUMBER, NUMBER, MARK, MARK, WORD, WORD,
    ]  # fmt: skip
    assert look("7").numeric == look("12").numeric != look("7").exact
    assert look("cat").numeric == look("cat").exact
    assert look("cat").structural == look("dog").structural != look("cat").exact
    assert look("if").structural == look("if").exact != look("for").structural
    assert all(value & 3 == seen.kind for seen in map(look, ("cat", "7", ".")) for value in seen[:3])


def test_looks_are_equal_in_every_process() -> None:
    code = "from pytest_benchkit.engine.loops.symbols import look; print(tuple(look('straße')))"
    told = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str(tuple(look("straße")))


def _fed(text: str) -> Structure:
    structure, at = Structure(), 0
    for match in PIECE.finditer(text):
        if match[0][0] == "\n":
            structure.new_line(len(match[0]) - 1)
        else:
            structure.see(match[0], look(match[0]), at, match.end())
            at += 1
    return structure


LINES = "".join(f"    {a}{b} = {b}{a}({ord(a)})\n" for a in "abcdefgh" for b in "pqrst")


def test_structure_is_for_code_only() -> None:
    assert _fed(LINES).best is None
    for opening in ("```\n", "~~~\n", "def f():\n  if x:\n  return\n"):
        best = _fed(opening + LINES).best
        assert best is not None
        assert (best.kind, best.period) == ("structural_cycle", 6)
    assert _fed("```\n```\n" + LINES).best is None
    assert _fed("``\n" + LINES).best is None


def test_indents_are_part_of_the_structure() -> None:
    stairs = "```\n" + "".join(f"{' ' * (n % 13)}a{n} = b({n})\n" for n in range(104))
    best = _fed(stairs).best
    assert best is not None
    assert best.period == 6 * 13
