"""Code out of replies, and how it joins a stub: every form in which a model may write a solution."""

from __future__ import annotations

import textwrap
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.scoring.code import assemble, extract
from pytest_benchkit.scoring.fences import fences
from pytest_benchkit.scoring.syntax import compiles, parsed

STUB = '''import math


def half(x: float) -> float:
    return x / 2


def area(r: float) -> float:
    """ Area of a circle.
    >>> area(0)
    0.0
    """
'''
BODY = "    if r < 0:\n        raise ValueError(r)\n    return math.pi * half(2 * r) ** 2\n"
PROGRAM = STUB + BODY
FORMS = [
    (BODY, "raw", "body", False),
    (PROGRAM, "raw", "program", False),
    (PROGRAM.replace("\n", "\r\n"), "raw", "program", False),
    ("\ufeff" + PROGRAM, "raw", "program", False),
    (textwrap.dedent(BODY), "raw", "body", True),
    (BODY.lstrip(), "raw", "body", True),
    (f"Sure:\n```python\n{PROGRAM}```\nDone.", "fence-entry", "program", False),
    (f"```PYTHON title='x'\n{PROGRAM}```", "fence-entry", "program", False),
    (f"~~~~ weird words\n{PROGRAM}~~~~~", "fence-entry", "program", False),
    (f"```\n{BODY}```", "fence-body", "body", False),
    (f"```py\n{textwrap.dedent(BODY)}```", "fence-body", "body", True),
    (f"Here:\n```python\n{PROGRAM}", "fence-entry-open", "program", False),
    (
        f"First try:\n```python\ndef area(r): return 0\n```\nBetter:\n```python\n{PROGRAM}```",
        "fence-entry",
        "program",
        False,
    ),
    (
        f"```python\n{PROGRAM}```\nOutput:\n```text\ndef area(r): return 'no'\n```",
        "fence-entry",
        "program",
        False,
    ),
    (f"I would write:\n\n{PROGRAM}\n\nThat's it, isn't it?", "longest-run", "program", False),
    (f"1. Write:\n   ```python\n{textwrap.indent(PROGRAM, '   ')}   ```", "fence-entry", "program", False),
]


@pytest.mark.parametrize(("text", "rule", "kind", "mended"), FORMS)
def test_forms(text: str, rule: str, kind: str, mended: bool) -> None:
    found = extract(text, "area", bodies=True)
    assert found.rule == rule
    whole = assemble(STUB, "area", found.code)
    assert (whole.kind, whole.reindented) == (kind, mended)
    names: dict[str, object] = {}
    exec(compile(whole.source, "<test>", "exec"), names)  # noqa: S102 (code written above)
    area = names["area"]
    assert callable(area)
    assert area(1) == pytest.approx(3.14159, abs=1e-4)
    if found.span is not None:
        assert text[slice(*found.span)].strip() != ""


def test_helpers_in_a_fence_of_their_own() -> None:
    text = (
        "A helper:\n```python\ndef twice(x):\n    return 2 * x\n```\nUnrelated:\n```python\ny = 1 / 0\n```\n"
        "And:\n```python\ndef area(r):\n    return twice(r)\n```"
    )
    found = extract(text, "area")
    assert found.rule == "fence-joined"
    assert "twice" in found.code
    assert "1 / 0" not in found.code
    assert found.span is None


def test_a_name_is_bound_exactly() -> None:
    assert extract("```python\ndef area_of(r): return 1\n```", "area").rule == "fence-last"
    assert extract("```python\nclass A:\n    def area(self): return 1\n```", "area").rule == "fence-last"
    for code in ("area = lambda r: 1", "try:\n    from x import area\nexcept ImportError:\n    area = None"):
        assert extract(f"```python\n{code}\n```", "area").rule == "fence-entry"


def test_a_broken_fence_is_a_miss_and_no_error() -> None:
    found = extract("```python\ndef area(r:\n```", "area", bodies=True)
    assert (found.rule, found.code) == ("fence-last", "def area(r:\n")
    assert not compiles(assemble(STUB, "area", found.code).source)
    assert extract("I don't know.", "area", bodies=True).rule == "raw-broken"


def test_future_imports_come_first() -> None:
    whole = assemble(STUB, "area", "from __future__ import annotations\ndef area(r): return 1\n")
    assert whole.source.startswith("from __future__ import annotations\n")
    assert compiles(whole.source)


@pytest.mark.parametrize(
    "lines",
    [
        "from __future__ import (\n    annotations,\n)\n",
        "from __future__ import annotations; import math as m\n",
        "'\u00fc'; from __future__ import annotations; from __future__ import (\n division); n = '\u00fc'\n",
        '"""Doc."""\nfrom __future__ import annotations\n',
    ],
)
def test_future_imports_of_any_form_come_first(lines: str) -> None:
    program = f"{lines}def area(r):\n    return 1\n"
    whole = assemble(STUB, "area", program).source
    assert whole.startswith("from __future__ import annotations\n")
    assert compiles(whole)
    before, after = (len(parsed(text).body) for text in (f"{STUB}\n{program}", whole))  # type: ignore[union-attr]
    assert after - before == lines.count("__future__"), "pass stands where each was"


@pytest.mark.parametrize(
    "lines", ["S = '''\nfrom __future__ import braces\n'''", "from .__future__ import x"]
)
def test_what_is_no_future_import_stays(lines: str) -> None:
    program = f"{lines}\ndef area(r):\n    return 1\n"
    assert assemble(STUB, "area", program).source == f"{STUB}\n{program}"


def test_return_outside_a_function_is_no_program() -> None:
    assert parsed("return 1") is not None
    assert not compiles("return 1")


def test_odd_escapes_neither_warn_nor_fail() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiles("x = '\\d'\nassert (1, 'always true')\ny = x is 'z'\n")
        assert warnings.filters[1][0] == "error"


def test_fences() -> None:
    text = "a\n````md\n```python\nx\n```\n````\n~~~\ny\n~~~~\n```a`b\n```\nz"
    found = fences(text)
    assert [(f.info, f.body, f.closed) for f in found] == [
        ("md", "```python\nx\n```\n", True),
        ("", "y\n", True),
        ("", "z", False),
    ]
    assert all(text[f.start : f.end] == f.body for f in found)


@given(st.text(st.characters(codec=None)), st.booleans())
def test_total_over_any_text(text: str, bodies: bool) -> None:
    found = extract(text, "f", bodies=bodies)
    assemble("def f():\n", "f", found.code)


@given(
    st.lists(
        st.sampled_from(
            [
                "```python\n",
                "```\n",
                "~~~",
                "def f():\n",
                "    return 1\n",
                "return 2\n",
                "x = (\n",
                "\n",
                "é",
                "\0",
                "\t",
            ]
        )
    )
)
def test_total_over_pieces(pieces: list[str]) -> None:
    found = extract("".join(pieces), "f", bodies=True)
    assert found.rule.removesuffix("-open") in {
        "fence-entry",
        "fence-joined",
        "fence-body",
        "fence-last",
        "raw",
        "longest-run",
        "raw-broken",
    }


@pytest.mark.parametrize(
    "text",
    [
        "(" * 90_000,
        "def f():\n" * 9000,
        "```python\n" * 9000,
        "[" * 50_000 + "]" * 49_000,
        "-" * 90_000 + "1",
        "import x\n" * 9000 + ")",
        "x" * 1_000_000,
        "```\nx = 1\n```\n" * 6000,
    ],
)
def test_bounded_on_hostile_text(text: str) -> None:
    started = time.process_time()
    extract(text, "f", bodies=True)
    assert time.process_time() - started < 2
