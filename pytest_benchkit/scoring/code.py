"""The program in a reply: which part of the text is code, and how it joins a task's stub. Pure.

Nothing is executed here: code is only parsed. Rules are tried in order, and the one that fired is recorded.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from dataclasses import dataclass

from pytest_benchkit.scoring.fences import Fence, fences
from pytest_benchkit.scoring.syntax import compiles, error_line, parsed

MOST_CHARS = 100_000
"""A longer reply is no answer to a task of this kind, and parsing it would cost seconds."""
MOST_LINES = 2000
MOST_FENCES = 100
MOST_STARTS = 50
STARTERS = ("import ", "from ", "def ", "class ", "async ", "@")


@dataclass(frozen=True, slots=True)
class Extracted:
    """``rule`` is the rule that found ``code``, ``span`` its place in the answer where it is one piece."""

    code: str
    rule: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Assembled:
    """A whole program. ``kind``: ``program`` (the reply defines the function) or ``body`` (it goes on where
    the stub ends); ``reindented``: its indentation had to be mended."""

    source: str
    kind: str
    reindented: bool = False


def extract(text: str, entry: str, *, bodies: bool = False) -> Extracted:
    """The code of a reply that should define ``entry``; ``bodies`` allows the inside of that function alone.

    Rules, in order: ``fence-entry``, ``fence-joined``, ``fence-body``, ``fence-last``, ``raw``,
    ``longest-run``, ``raw-broken``; ``-open`` behind one whose fence was never closed.
    """
    clean = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if len(clean) > MOST_CHARS:
        return Extracted("", "raw-broken")
    same_places = len(clean) == len(text)
    found = fences(clean)[-MOST_FENCES:]
    if found:
        chosen = _of_fences(found, entry, bodies) or _longest_run(clean, entry)
        if chosen is None:
            last = next((fence for fence in reversed(found) if fence.python), found[-1])
            chosen = _from(last, "fence-last")
    elif compiles(clean) or (bodies and is_body(clean)):
        chosen = Extracted(clean, "raw", (0, len(clean)))
    else:
        chosen = _longest_run(clean, entry) or Extracted(clean, "raw-broken", (0, len(clean)))
    return chosen if same_places else Extracted(chosen.code, chosen.rule)


def _of_fences(found: list[Fence], entry: str, bodies: bool) -> Extracted | None:
    trees = {f: tree for f in found if (tree := parsed(f.body)) is not None and compiles(f.body)}
    ours = [fence for fence in found if fence.python and fence in trees]
    for fence in reversed(found):
        if fence not in trees or fence.shown or entry not in bound(trees[fence]):
            continue
        others = set().union(*(bound(trees[other]) for other in ours if other is not fence))
        if missing := free_names(trees[fence]) & others:  # helpers of its own, in a fence of their own
            return Extracted(_joined(ours, trees, fence, missing), "fence-joined" + _open(fence))
        return _from(fence, "fence-entry")
    joined = "\n".join(fence.body for fence in ours)
    tree = parsed(joined)
    if tree is not None and entry in bound(tree):
        return Extracted(joined, "fence-joined" + _open(ours[-1]))
    if bodies:
        for fence in reversed(found):
            if fence.python and is_body(fence.body):
                return _from(fence, "fence-body")
    return None


def _joined(
    ours: list[Fence], trees: dict[Fence, ast.Module], main: Fence, missing: frozenset[str] | set[str]
) -> str:
    """The fences that bind what the main one misses, in order, then the main one."""
    needed = [fence for fence in ours if fence is not main and bound(trees[fence]) & missing]
    return "\n".join(fence.body for fence in [*needed, main])


def _from(fence: Fence, rule: str) -> Extracted:
    return Extracted(fence.body, rule + _open(fence), (fence.start, fence.end))


def _open(fence: Fence) -> str:
    return "" if fence.closed else "-open"


def _longest_run(text: str, entry: str) -> Extracted | None:
    """The longest run of whole lines that parses and binds ``entry``; starts only where a program could."""
    lines = text.split("\n")[:MOST_LINES]
    starts = [n for n, line in enumerate(lines) if line.startswith(STARTERS)][:MOST_STARTS]
    best: tuple[int, int] | None = None
    reached = 0
    for start in starts:
        if start < reached or (best is not None and start + (best[1] - best[0]) >= len(lines)):
            continue  # a part of a run that was looked at, or too near the end to be longer
        reached = end = _parses_up_to(lines, start)
        tree = parsed("\n".join(lines[start:end]))
        longer = best is None or end - start > best[1] - best[0]
        if longer and tree is not None and entry in bound(tree):
            best = (start, end)
    if best is None:
        return None
    before = sum(len(line) + 1 for line in lines[: best[0]])
    code = "\n".join(lines[best[0] : best[1]])
    return Extracted(code, "longest-run", (before, before + len(code)))


def _parses_up_to(lines: list[str], start: int) -> int:
    """The end of a run from ``start`` that parses; each error tells where to cut next."""
    end = len(lines)
    for _ in range(20):
        if end <= start:
            break
        at = error_line("\n".join(lines[start:end]))
        if at is None:
            return end
        end = min(end - 1, start + max(0, at - 1))
    return start


# ---------------------------------------------------------------------- assembly


def assemble(stub: str, entry: str, code: str) -> Assembled:
    """Joins a stub (imports, helpers, the function's head and docstring) with the code of a reply.

    The stub always stays: its imports and helpers exist for the solution. A program that binds ``entry``
    defines it anew; anything else goes on as the function's body, as it is, indented by four, or with its
    first line alone indented. What fits nowhere is joined as it is and will not compile.
    """
    tree = parsed(code)
    if tree is not None and entry in bound(tree):
        return Assembled(_hoisted(f"{stub}\n{code}"), "program")
    if compiles(stub + code):
        return Assembled(stub + code, "body")
    lines = textwrap.dedent(code).strip("\n")
    first, _, rest = code.strip("\n").partition("\n")
    for body in (textwrap.indent(lines, "    "), f"    {first.lstrip()}\n{rest}"):
        if compiles(stub + body):
            return Assembled(stub + body, "body", reindented=True)
    return Assembled(stub + code, "body")


def _hoisted(source: str) -> str:
    """``from __future__`` statements must stand first. Where they stood is ``pass``, for what follows on the
    same line."""
    tree = parsed(source) if "__future__" in source else None
    body = tree.body if tree is not None else []
    future = [n for n in body if isinstance(n, ast.ImportFrom) and (n.module, n.level) == ("__future__", 0)]
    lines = source.encode().split(b"\n") if future else []  # places are counted in bytes
    for node in reversed(future):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + b"pass" + after]
    if not future:
        return source
    return "\n".join([*map(ast.unparse, future), b"\n".join(lines).decode()])


# ---------------------------------------------------------------------- reading code


def is_body(code: str) -> bool:
    """Whether it can stand inside a function: it parses there and does more than name something."""
    if not code.strip():
        return False
    inside = textwrap.indent(textwrap.dedent(code), "    ")
    first, _, rest = code.strip("\n").partition("\n")
    for body in (inside, f"    {first.lstrip()}\n{rest}"):
        tree = parsed(f"def f():\n{body}")
        if tree is not None and any(isinstance(node, (ast.Return, ast.Yield)) for node in ast.walk(tree)):
            return True
    return False


def bound(tree: ast.Module) -> frozenset[str]:
    """Names that a program binds at top level, also under ``if``, ``try`` and ``with``."""
    names: set[str] = set()
    _bind(tree.body, names)
    return frozenset(names)


def _bind(body: list[ast.stmt], names: set[str]) -> None:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        for field in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try, ast.With)):
                _bind(getattr(node, field, []), names)
        for handler in getattr(node, "handlers", []):
            _bind(handler.body, names)


def free_names(tree: ast.Module) -> frozenset[str]:
    """Names that a program reads and neither binds anywhere nor gets from the language."""
    read: set[str] = set()
    stored = set(bound(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stored.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            stored.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return frozenset(name for name in read - stored if not hasattr(builtins, name))
