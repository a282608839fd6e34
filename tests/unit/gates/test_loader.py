"""Reading trees: lines of values, any bytes, independence of order (properties P3-P5); speed."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_benchkit.gates.codes import CODES
from pytest_benchkit.gates.discover import parse
from pytest_benchkit.gates.problems import Problem, escape, ordered, render
from pytest_benchkit.gates.toml_lines import LineIndex
from pytest_benchkit.gates.tree import Tree, load
from tests.unit.gates.trees import RULES, bound, codes, entry, grow

NO_RESET = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)


# ---------------------------------------------------------------------- lines

TEXT = """# head
title = "a # b"   # comment
"quoted.key" = 'x'
a.b.c = 1
list = [
  1, # one
  { deep = 2 },
]
inline = { x = 1, y = { z = "}" } }
long = \"\"\"
[[benchmarks]]
x = 1
\"\"\"
[[benchmarks]]
gate = "g"
[benchmarks.metrics]
score = { min = 1 }
[[benchmarks]]
metrics.score.min = 2
note = '''
[x]
'''
[other]
z = 1979-05-27 07:32:00
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines(newline: str) -> None:
    index = LineIndex(TEXT.replace("\n", newline))
    expected: dict[tuple[str | int, ...], int] = {
        ("title",): 2,
        ("quoted.key",): 3,
        ("a", "b", "c"): 4,
        ("list", 0): 6,
        ("list", 1, "deep"): 7,
        ("inline", "y", "z"): 9,
        ("long",): 10,
        ("benchmarks", 0): 14,
        ("benchmarks", 0, "gate"): 15,
        ("benchmarks", 0, "metrics"): 16,
        ("benchmarks", 0, "metrics", "score", "min"): 17,
        ("benchmarks", 1): 18,
        ("benchmarks", 1, "metrics", "score", "min"): 19,
        ("benchmarks", 1, "note"): 20,
        ("other", "z"): 24,
    }
    assert {where: index(where) for where in expected} == expected
    assert index(("x",)) is None


WORDS = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
STRINGS = st.sampled_from(['"x # y"', "'a]b'", '"""\nk = 1\n[t]\n"""', "'''\n}\n'''", '"\\"q\\""'])
SIMPLE = st.one_of(STRINGS, st.sampled_from(["1", "2.5", "true", "1e3", "nan", "[1, 2]", "[\n1, # c\n2\n]"]))
INLINE = st.dictionaries(WORDS, SIMPLE.filter(lambda v: "\n" not in v), max_size=3).map(
    lambda d: "{ " + ", ".join(f"{k} = {v}" for k, v in d.items()) + " }"
)
PAIRS = st.dictionaries(WORDS, st.one_of(SIMPLE, INLINE), max_size=4)


@given(st.lists(st.tuples(WORDS, PAIRS, st.sampled_from(["", "# c\n", "\n\n"])), max_size=5), st.booleans())
def test_every_known_line_is_true(tables: list[tuple[str, dict[str, str], str]], crlf: bool) -> None:
    """Each element of ``[[t]]`` gets the lines at which its header and keys were written."""
    text = ""
    true: dict[tuple[str | int, ...], int] = {}
    for place, (name, pairs, gap) in enumerate(tables):
        text += gap
        true["t", place] = text.count("\n") + 1
        text += f"[[t]] # {name}\n"
        for key, value in pairs.items():
            true["t", place, key] = text.count("\n") + 1
            text += f"{key} = {value}\n"
    index = LineIndex(text.replace("\n", "\r\n") if crlf else text)
    assert tomli.loads(text) is not None
    assert {where: index(where) for where in true} == true


@given(st.text())
def test_the_line_index_never_raises(text: str) -> None:
    LineIndex(text)


@given(st.text(alphabet="[]{}\"'=\\\n#.,ab 1"))
def test_nor_on_fragments_of_toml(text: str) -> None:
    LineIndex(text)


# ---------------------------------------------------------------------- any bytes


def loaded(root: Path, name: str, content: bytes, *, compat: bool = False) -> Tree:
    files: dict[str, str | bytes] = {"gb10/HARDWARE.toml": "", name: content}
    return load(grow(root, files), "kernels", compat=compat, rules=RULES)


@NO_RESET
@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "ignore"))),
    st.sampled_from(
        ["gb10/m/BENCH.toml", "gb10/HARDWARE.toml", "gb10/m/MODEL.toml", "GATES.toml", "LEVERS.toml"]
    ),
)
def test_any_bytes_give_problems_never_an_exception(tmp_path: Path, content: bytes, name: str) -> None:
    for problem in loaded(tmp_path, name, content).problems:
        assert "\n" not in render(problem)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["gate", "quant", "metrics", "serve_env", "tasks", "repeats", "sequential", "fingerprints"]
)
TABLES = st.dictionaries(KEYS, JSON, max_size=6)


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if value is None:
        return "{}"
    return json.dumps(value, ensure_ascii=True).replace("NaN", "nan").replace("Infinity", "inf")


@NO_RESET
@given(TABLES, st.booleans())
def test_any_values_in_an_entry_give_problems(tmp_path: Path, table: dict[str, Any], compat: bool) -> None:
    text = "[[benchmarks]]\n" + "".join(f"{k} = {toml_value(v)}\n" for k, v in table.items())
    document, problems = parse(text, "x")
    tree = loaded(tmp_path, "gb10/m/BENCH.toml", text.encode(), compat=compat)
    if document.data is not None:
        assert not problems
        assert len(tree.entries) == 1


def test_large_and_odd_files(tmp_path: Path) -> None:
    assert codes(loaded(tmp_path, "gb10/m/BENCH.toml", b"#" * (1 << 20) + b"#").problems) == [
        "file-too-large"
    ]
    assert codes(loaded(tmp_path, "gb10/m/BENCH.toml", b"a = '\xff'").problems) == ["file-encoding"]
    assert codes(loaded(tmp_path, "gb10/m/BENCH.toml", b"a = " + b"[" * 100000).problems) == ["toml-syntax"]
    assert codes(loaded(tmp_path, "gb10/m/BENCH.toml", b"benchmarks = 3").problems) == ["wrong-type"]
    assert codes(loaded(tmp_path, "gb10/m/BENCH.toml", b"").problems) == ["no-entries"]


# ---------------------------------------------------------------------- order and modes

TEXTS = [
    bound("min = 83.64"),
    bound("min = 0.5, max = 0.5, noise = 1"),
    entry("colour = 1", status="Measured"),
    entry("metrics.score = { min = 0.5 }"),
    "[[benchmarks]\n",
]


@NO_RESET
@given(st.permutations(range(len(TEXTS))))
def test_problems_do_not_depend_on_the_order_of_files(tmp_path: Path, order: list[int]) -> None:
    """Directories are read in the order of their names, and the report is sorted."""
    names = [f"gb10/m{place}/BENCH.toml" for place in range(len(TEXTS))]
    straight = load(
        grow(tmp_path / "a", {"gb10/HARDWARE.toml": "", **dict(zip(names, TEXTS, strict=True))}),
        "kernels",
        rules=RULES,
    )
    mixed = {names[place]: TEXTS[place] for place in order}
    other = load(grow(tmp_path / "b", {**mixed, "gb10/HARDWARE.toml": ""}), "kernels", rules=RULES)
    assert straight.problems == other.problems


@pytest.mark.parametrize("text", TEXTS)
def test_a_compat_error_is_a_strict_error(tmp_path: Path, text: str) -> None:
    strict = loaded(tmp_path, "gb10/m/BENCH.toml", text.encode())
    compat = loaded(tmp_path, "gb10/m/BENCH.toml", text.encode(), compat=True)
    hard = {p.code for p in strict.problems if p.severity == "error"}
    assert {p.code for p in compat.problems if p.severity == "error"} <= hard | {"likely-typo"}
    if not strict.problems:
        assert not compat.problems
        assert compat.entries == strict.entries


def test_numbers_are_the_decimals_as_written(tmp_path: Path) -> None:
    tree = loaded(tmp_path, "gb10/m/BENCH.toml", bound("min = 0.1, noise = 0.0010").encode())
    metrics = tree.entries[0].metrics or {}
    assert metrics["score"].min == Decimal("0.1")
    assert str(metrics["score"].noise) == "0.0010"
    assert tree.entries[0].plain()["metrics"] == {"score": {"min": "0.1", "noise": "0.0010"}}


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9/._:-]{0,20}", fullmatch=True)
LIMITS = st.fixed_dictionaries(
    {"min": st.decimals(0, 1, places=4)}, optional={"measured": st.decimals(0, 1, places=3)}
)
FIELDS = st.fixed_dictionaries(
    {"quant": NAMES, "checkpoint": NAMES, "metrics": st.dictionaries(WORDS, LIMITS, min_size=1, max_size=3)},
    optional={
        "label": NAMES,
        "note": st.text(st.characters(exclude_categories=["Cs", "Cc"])),
        "tasks": st.sampled_from(["50", "head:5", "v", "v:5", "v:head:5"]),
        "repeats": st.integers(1, 100),
        "combine": st.sampled_from(["mean", "median", "worst"]),
        "allow_errors": st.integers(0, 9),
        "param_overrides": st.dictionaries(NAMES, NAMES, max_size=2),
        "serve_env": st.dictionaries(WORDS, NAMES, max_size=2),
    },
)


def written(fields: dict[str, Any]) -> str:
    """The entry as TOML; decimals as written."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {text(v)}" for k, v in value.items()) + "}"
        return str(value) if isinstance(value, (Decimal, int)) else json.dumps(value, ensure_ascii=False)

    pairs = "".join(f"{key} = {text(value)}\n" for key, value in fields.items())
    return '[[benchmarks]]\ngate = "g"\nstatus = "measured"\ndefault = true\n' + pairs


@NO_RESET
@given(FIELDS)
def test_loading_and_writing_is_a_fixed_point(tmp_path: Path, fields: dict[str, Any]) -> None:
    first = load(grow(tmp_path, {"gb10/HARDWARE.toml": "", "gb10/m/BENCH.toml": written(fields)}), "kernels")
    plain = first.entries[0].plain()
    again = {key: value for key, value in plain.items() if key not in ("gate", "status", "default")}
    again["metrics"] = {
        name: {key: Decimal(text) for key, text in bound.items()} for name, bound in again["metrics"].items()
    }
    second = load(grow(tmp_path, {"gb10/m/BENCH.toml": written(again)}), "kernels")
    assert second.entries[0].plain() == plain


@pytest.mark.parametrize(
    ("tasks", "wanted"),
    [
        ("", (None, "all", None)),
        ("50", (None, "sample", 50)),
        ("head:50", (None, "head", 50)),
        ("activitynet-1000", ("activitynet-1000", "all", None)),
        ("activitynet-1000:50", ("activitynet-1000", "sample", 50)),
        ("v:head:5", ("v", "head", 5)),
    ],
)
def test_slices(tmp_path: Path, tasks: str, wanted: tuple[object, ...]) -> None:
    tree = loaded(tmp_path, "gb10/m/BENCH.toml", bound("min = 0.5", extra=f'tasks = "{tasks}"').encode())
    assert tree.entries[0].wanted == wanted


@pytest.mark.parametrize("tasks", ["0", "a b", "head:", "V", "5:5"])
def test_bad_slices(tmp_path: Path, tasks: str) -> None:
    tree = loaded(tmp_path, "gb10/m/BENCH.toml", bound("min = 0.5", extra=f'tasks = "{tasks}"').encode())
    assert "wrong-type" in codes(tree.problems)


# ---------------------------------------------------------------------- problems


def test_rendering() -> None:
    problem = Problem(
        "bad-id", "error", "a/b.toml", 3, "the id is \x1b[31m", "write \n words", "g", "c", key="gate"
    )
    line = render(problem)
    assert line == r"a/b.toml:3: error[bad-id] [g / c] [gate]: the id is \x1b[31m. Remedy: write \n words."
    assert escape("é\u202e") == r"é\u202e"


def test_reports_are_sorted_and_hold_no_repeats() -> None:
    late = Problem("no-default", "error", "a", None, "m", "r")
    early = Problem("bad-id", "error", "a", None, "m", "r")
    assert ordered([late, early, late]) == [early, late]


# ---------------------------------------------------------------------- speed


def test_a_thousand_entries_lint_in_two_seconds(tmp_path: Path) -> None:
    """CPU time of this process, measured 0.3 s on the machine it was written on."""
    files: dict[str, str | bytes] = {"gb10/HARDWARE.toml": ""}
    for directory in range(50):
        text = ""
        for place in range(20):
            head = f'quant = "q"\ncheckpoint = "org/m{directory}"\ngate = "gate-{place}"\nsuite = "gsm8k"'
            body = (
                "metrics.score = { min = 0.86, noise = 0.004, measured = 0.9 }\n"
                "metrics.samples = { min = 1319, max = 1319 }\nmetrics.truncation_rate = { max = 0.05 }\n"
                'note = """\nprotocol\n"""\nserve_overrides = { slots = "8" }\n'
            )
            text += entry(body, head=head, default=directory == 0)
        files[f"gb10/m{directory}/BENCH.toml"] = text
    root = grow(tmp_path, files)
    start = time.process_time()
    tree = load(root, "kernels", rules=RULES)
    spent = time.process_time() - start
    assert (len(tree.entries), tree.problems) == (1000, [])
    assert spent < 2.0, spent


def test_codes_have_one_severity_in_each_mode() -> None:
    for code, rule in CODES.items():
        assert rule.strict in (None, "error", "warning", "note"), code
        assert rule.compat in (None, "error", "warning", "note"), code
        if rule.compat == "error" and code != "likely-typo":
            assert rule.strict == "error", code
