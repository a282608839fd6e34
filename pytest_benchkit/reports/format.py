"""Numbers and untrusted text as every report prints them (OUT-8, OUT-14, N-1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNKNOWN = "–"
# C0 without TAB and LF, DEL, C1, bidirectional and separator controls, lone surrogates
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
COMMAND = re.compile(r"#(?=#\w*\[)")
"""``##[...]`` and ``##vso[...]`` are commands to CI runners anywhere in a line."""
BREAKS = re.compile(r"[\t\n]")
PLAIN = str.maketrans({"–": "-", "±": "+/-", "·": "|", "…": "...", "×": "x", "Δ": "delta ", "÷": "/"})


def safe(text: str, *, lines: bool = False) -> str:
    """The text with control and direction characters as escapes; LF and TAB too unless ``lines``.
    Commands to CI runners are broken (those that begin a line are the caller's to indent)."""
    clean = COMMAND.sub(r"\\x23", UNSAFE.sub(_escaped, text))
    return clean if lines else BREAKS.sub(_escaped, clean)


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape", "replace").decode()


def encodable(text: str, encoding: str | None) -> str:
    """The text as a stream of this encoding can print it: plain stand-ins, then escapes (OUT-9)."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text.translate(PLAIN).encode("ascii", "backslashreplace").decode()
    return text


def decimals(n: int) -> int:
    """How many decimals of a percentage ``n`` rows can carry."""
    if n < 100:
        return 0
    return 1 if n < 10_000 else 2


def percent(value: float, n: int) -> str:
    """A fraction 0..1 as percent, without the sign."""
    return f"{100 * value:.{decimals(n)}f}"


def interval(low: float | None, high: float | None, n: int) -> str:
    """``[84.5, 88.2]``; ``[–]`` where there is none."""
    if low is None or high is None:
        return f"[{UNKNOWN}]"
    return f"[{percent(low, n)}, {percent(high, n)}]"


def score(metrics: Mapping[str, Any]) -> str:
    """``86.4 [84.5, 88.2]`` of an entry's metrics; ``–`` without a score."""
    if "score" not in metrics:
        return UNKNOWN
    n = metrics["samples"]
    bounds = interval(metrics.get("score_ci_low"), metrics.get("score_ci_high"), n)
    return f"{percent(metrics['score'], n)} {bounds}"


def points(delta_pp: float, n: int) -> str:
    """A difference in percentage points, signed: ``+1.4 pp``."""
    return f"{delta_pp:+.{decimals(n)}f} pp"


def rate(value: float) -> str:
    """Tokens a second: three significant digits, whole from 100 up."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def seconds(value: float) -> str:
    """``412 ms``, ``3.4 s``, ``2m 05s``, ``1h 12m``."""
    if round(value * 1000) < 1000:
        return f"{value * 1000:.0f} ms"
    if round(value, 1) < 60:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    minutes = round(value / 60)
    return f"{minutes // 60}h {minutes % 60:02d}m"


def dollars(value: float) -> str:
    """A cost with as many digits as tell it from nothing."""
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.2g}"
