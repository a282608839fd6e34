"""Numbers and foreign text as reports print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.reports import format as shown


@pytest.mark.parametrize(
    ("value", "n", "text"),
    [
        (0.8, 20, "80"),
        (0.805, 200, "80.5"),
        (0.8641, 1319, "86.4"),
        (0.86412, 14_042, "86.41"),
        (1.0, 5, "100"),
        (0.0, 99, "0"),
        (0.0, 100, "0.0"),
    ],
)
def test_decimals_follow_n(value: float, n: int, text: str) -> None:
    assert shown.percent(value, n) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0004, "0 ms"),
        (0.412, "412 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (1.0, "1.0 s"),
        (3.44, "3.4 s"),
        (59.94, "59.9 s"),
        (59.96, "1m 00s"),
        (125, "2m 05s"),
        (3599.4, "59m 59s"),
        (3599.6, "1h 00m"),
        (4320, "1h 12m"),
        (360_000, "100h 00m"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert shown.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.50"),
        (5.432, "5.43"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (54.32, "54.3"),
        (99.94, "99.9"),
        (99.96, "100"),
        (1204.4, "1204"),
        (123456.0, "123456"),
    ],
)
def test_rates_have_three_digits(value: float, text: str) -> None:
    assert shown.rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "$0.00"), (0.00123, "$0.0012"), (0.5, "$0.5"), (12.346, "$12.35")]
)
def test_dollars(value: float, text: str) -> None:
    assert shown.dollars(value) == text


def test_score_with_interval() -> None:
    metrics = {"score": 0.864, "score_ci_low": 0.845, "score_ci_high": 0.882, "samples": 1319}
    assert shown.score(metrics) == "86.4 [84.5, 88.2]"
    assert shown.score({"score": 0.5, "samples": 1}) == "50 [–]"
    assert shown.score({"samples": 0}) == "–"
    assert shown.points(1.44, 200) == "+1.4 pp"
    assert shown.points(-3.0, 20) == "-3 pp"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain [red]x[/red]", "plain [red]x[/red]"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\0b", "a\\x00b"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
        ("é漢😀", "é漢😀"),
    ],
)
def test_foreign_text_is_defused(text: str, line: str) -> None:
    assert shown.safe(text) == line


def test_lines_may_be_kept() -> None:
    assert shown.safe("a\n\tb\r\x1b", lines=True) == "a\n\tb\\r\\x1b"


@given(st.text())
def test_defused_text_is_one_printable_line(text: str) -> None:
    line = shown.safe(text)
    assert "\n" not in line
    assert not shown.UNSAFE.search(line)
    line.encode()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", None, "no-such-encoding"])
def test_any_stream_can_print_it(encoding: str | None) -> None:
    text = shown.encodable("86 ±1 – 漢…", encoding)
    try:
        text.encode(encoding or "utf-8")
    except LookupError:
        text.encode("ascii")
    assert text.startswith("86 ")
    assert shown.encodable("±", "ascii") == "+/-"
