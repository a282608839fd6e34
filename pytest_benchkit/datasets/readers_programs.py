"""Readers of the data sets that are answered with a program, or with a word about one."""

from __future__ import annotations

import ast
import builtins
import gzip
import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.tables import rows_of
from pytest_benchkit.errors import DataFault
from pytest_benchkit.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Row = Mapping[str, Any]

FIRST_MBPP, LAST_MBPP = 11, 510
"""Upstream's test rows by number; its file holds prompts, training and validation rows too."""


def humaneval(paths: Sequence[Path]) -> list[Task]:
    """``prompt`` (the stub), ``entry_point``, ``canonical_solution`` (the body), ``test`` (source of
    ``check``)."""
    names = ("prompt", "entry_point", "canonical_solution", "test")
    tasks = []
    for place, row in enumerate(_lines(paths[0])):
        data = _texts("humaneval", row, names)
        number = _number(row, "HumanEval/")
        _compiles("humaneval", number, data["prompt"] + data["canonical_solution"], data["test"])
        tasks.append(Task(f"{number:03}", place, data))
    return tasks


def mbpp(paths: Sequence[Path]) -> list[Task]:
    """``text``, ``tests`` (assertions, one text each), ``setup`` (lines before them), ``entry_point`` (the
    function that the assertions call)."""
    tasks: list[Task] = []
    for row in _lines(paths[0]):
        number = row["task_id"] if isinstance(row.get("task_id"), int) else _number(row, "MBPP/")
        if not FIRST_MBPP <= number <= LAST_MBPP:
            continue
        if "test_list" in row:
            tests = [text.strip() for text in row["test_list"]]
            setup = (row.get("test_setup_code") or "").strip()
            data = {**_texts("mbpp", row, ("text",)), "setup": setup, "tests": tests}
        else:
            setup, tests = _split_tests(number, row["test"])
            data = {"text": _texts("mbpp", row, ("prompt",))["prompt"], "setup": setup, "tests": tests}
        data["text"] = data["text"].strip()
        data["entry_point"] = _called(number, tests)
        tasks.append(Task(f"{number:03}", len(tasks), data))
    return tasks


def evalplus(paths: Sequence[Path]) -> list[Task]:
    """EvalPlus's release files: ``prompt``, ``entry_point``, ``canonical_solution``, ``atol``, and ``base``
    and ``plus``, lists of argument lists as JSON text (some are megabytes long, and parsed when used). Rows
    are numbered as upstream's."""
    tasks = []
    for place, row in enumerate(_lines(paths[0])):
        data = _texts("evalplus", row, ("prompt", "entry_point", "canonical_solution"))
        prefix, _, digits = str(row.get("task_id")).partition("/")
        if not digits.isdigit() or not all(isinstance(row.get(f"{n}_input"), list) for n in ("base", "plus")):
            raise DataFault(f"evalplus row {row.get('task_id')!r} has no number or no inputs")
        if prefix == "HumanEval" and digits == "115":  # upstream mends this docstring when it loads the file
            data["prompt"] = "import math\n" + data["prompt"].replace("import math\n", "")
        data |= {name: json.dumps(row[f"{name}_input"]) for name in ("base", "plus")}
        data["atol"] = float(row.get("atol") or 0)
        tasks.append(Task(f"{int(digits):03}", place, data))
    return tasks


def cruxeval(paths: Sequence[Path]) -> list[Task]:
    """``code`` (a function ``f``), ``input`` (its arguments as text), ``output`` (a literal as text)."""
    tasks = []
    for place, row in enumerate(_lines(paths[0])):
        code = row.get("code", row.get("function"))
        data = _texts("cruxeval", {**row, "code": code}, ("code", "input", "output"))
        _compiles("cruxeval", place, data["code"], f"f({data['input']})")
        try:
            ast.literal_eval(data["output"])
        except (ValueError, SyntaxError) as error:
            raise DataFault(f"cruxeval row {place:03}: the output is no literal: {error}") from None
        tasks.append(Task(f"{place:03}", place, data))
    return tasks


def code_verifier(paths: Sequence[Path]) -> list[Task]:
    """``prompt`` (the stub), ``entry_point``, ``solution``, ``answer`` (yes or no, our label), ``published``
    (the file's own label), ``problem`` (HumanEval's number)."""
    tasks = []
    for place, row in enumerate(_lines(paths[0])):
        data: dict[str, Any] = _texts("code-verifier", row, ("prompt", "entry_point", "solution"))
        if not isinstance(row.get("passes"), bool):
            raise DataFault(f"code-verifier row {place:03} has no label")
        published = "yes" if row["passes"] else "no"
        id = f"{place:03}"
        answer = RELABELLED.get(id, published)
        data |= {"answer": answer, "published": published, "problem": _number(row, "HumanEval/")}
        tasks.append(Task(id, place, data, answer, f"humaneval-{data['problem']:03}"))
    return tasks


RELABELLED = {"006": "yes", "193": "no"}
"""Rows whose published label is wrong. 006 solves HumanEval/32, whose published checker can never pass: its
zeros hold on 6,000 random polynomials, where 346 misses the tolerance twice and 000 fails on most. 193 fails
an assertion of the original test of HumanEval/95."""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of JSON lines, gzipped or plain, or of a table by its ending."""
    if path.suffix != ".gz":
        yield from rows_of(path)
        return
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except (OSError, EOFError, ValueError) as error:
        raise DataFault(f"{path} is not readable as gzipped JSON lines: {error}") from None


def _texts(name: str, row: Row, fields: Sequence[str]) -> dict[str, Any]:
    found = {field: row.get(field) for field in fields}
    if bad := [field for field, value in found.items() if not isinstance(value, str)]:
        raise DataFault(f"{name} row {row.get('task_id', row.get('id', '?'))} has no text {bad[0]!r}")
    return found


def _number(row: Row, prefix: str) -> int:
    text = str(row.get("task_id"))
    if not text.startswith(prefix) or not text.removeprefix(prefix).isdigit():
        raise DataFault(f"the task id {text!r} is not {prefix}NUMBER")
    return int(text.removeprefix(prefix))


def _compiles(name: str, number: int, *sources: str) -> None:
    for source in sources:
        try:
            compile(source, f"<{name}/{number}>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise DataFault(f"{name} row {number:03} does not compile: {error}") from None


def _split_tests(number: int, source: str) -> tuple[str, list[str]]:
    """Assertions of a test program, each as written, and what stands before them."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise DataFault(f"mbpp row {number:03} does not compile: {error}") from None
    texts = [(node, ast.get_source_segment(source, node) or "") for node in body]
    tests = [text for node, text in texts if isinstance(node, ast.Assert)]
    first = next((node.lineno for node, _ in texts if isinstance(node, ast.Assert)), 1)
    return "\n".join(source.split("\n")[: first - 1]).strip(), tests


def _called(number: int, tests: Sequence[str]) -> str:
    """The function that every assertion calls by name, the outermost of several; builtins that only wrap the
    call (``set(f(x)) == ...``) come last, because MBPP/126 calls its function ``sum``."""
    calls = []
    for text in tests:
        called = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        calls.append([name.id for name in called if isinstance(name, ast.Name)])
    shared = [name for name in calls[0] if all(name in names for names in calls)] if calls else []
    if not shared:
        raise DataFault(f"mbpp row {number:03}: its assertions share no function")
    return min(shared, key=lambda name: hasattr(builtins, name))
