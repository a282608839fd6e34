"""What ``BENCH.toml`` may hold, as frozen values: :class:`Entry` and :class:`Bound`.

Each field is checked on its own, so that one bad field hides no other; rules over several fields stand in
:mod:`.lint`. Numbers are the decimals as written.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Literal

from pytest_benchkit.gates.problems import Sink, Where, shown

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
TASKS = re.compile(
    r"(?:(?P<variant>[a-z0-9][a-z0-9.-]*?)(?::|$))??(?:(?P<head>head:)?(?P<count>[1-9][0-9]*))?"
)
HEX64 = re.compile(r"[0-9a-f]{64}")
Combine = Literal["mean", "median", "worst"]
COMBINE = ("mean", "median", "worst")
LARGEST_EXPONENT = 400
"""Beyond binary64 all the same; keeps exact arithmetic on what a file says from taking hours."""
STATUS = ("measured", "unmeasured")


@dataclass(frozen=True, slots=True)
class Bound:
    """Limits of one metric, in its unit. ``min`` = ``max`` is an exact pin. ``noise`` absent is 0."""

    min: Decimal | None = None
    max: Decimal | None = None
    noise: Decimal | None = None
    confidence: Decimal | None = None
    measured: Decimal | None = None
    max_spread: Decimal | None = None

    @property
    def pin(self) -> bool:
        return self.min is not None and self.min == self.max

    def plain(self) -> dict[str, str]:
        """The numbers as written, absent ones left out."""
        return {f.name: str(value) for f in fields(self) if (value := getattr(self, f.name)) is not None}


@dataclass(frozen=True, slots=True)
class Sequential:
    """Levels and error rates of the sequential test (:mod:`.early`)."""

    good: Decimal
    bad: Decimal
    alpha: Decimal = Decimal("0.05")
    beta: Decimal = Decimal("0.05")
    metric: str = "score"
    min_tasks: int = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``[[benchmarks]]`` of the class ``hardware`` and the model directory ``model``."""

    hardware: str
    model: str
    path: str
    line: int | None
    position: int
    gate: str = ""
    checkpoint: str = ""
    quant: str = ""
    status: str = ""
    recipe: str | None = None
    label: str = ""
    default: bool = False
    note: str = ""
    suite: str = ""
    tasks: str = ""
    harness: str = "direct"
    perturbation: str = ""
    repeats: int = 1
    combine: Combine | None = None
    allow_errors: int = 0
    allow_skipped: int = 0
    serve_overrides: Mapping[str, str] = field(default_factory=dict)
    param_overrides: Mapping[str, str] = field(default_factory=dict)
    serve_env: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Bound] | None = None
    sequential: Sequential | None = None

    @property
    def measured(self) -> bool:
        return self.status == "measured"

    @property
    def suite_key(self) -> str:
        return self.suite or self.gate

    @property
    def wanted(self) -> tuple[str | None, str, int | None]:
        """``tasks`` as (variant of the data, kind ``all|sample|head``, number of rows)."""
        match = TASKS.fullmatch(self.tasks)
        if match is None or not self.tasks:
            return None, "all", None
        count = int(match["count"]) if match["count"] else None
        kind = "all" if count is None else "head" if match["head"] else "sample"
        return match["variant"], kind, count

    def plain(self) -> dict[str, Any]:
        """What the entry says, empty and default values left out; equal entries give equal dicts."""
        found: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in ("hardware", "model", "path", "line", "position") or value in ("", None, False):
                continue
            if f.name == "metrics":
                value = {name: bound.plain() for name, bound in sorted(value.items())}
            elif f.name == "sequential":
                value = {g.name: str(getattr(value, g.name)) for g in fields(value)}
            elif isinstance(value, Mapping):
                if not value:
                    continue
                value = dict(sorted(value.items()))
            found[f.name] = value
        return found


# ---------------------------------------------------------------------- checking single values

Check = Callable[[object], Any]
"""Gives the typed value; raises ``ValueError`` saying what is allowed."""


def text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise ValueError("a number without quotes")
    found = Decimal(value)
    if not found.is_finite() or found == 0:
        return found if not found.is_finite() else Decimal(0)
    if found.adjusted() > LARGEST_EXPONENT:
        return Decimal("Infinity").copy_sign(found)
    if found.adjusted() < -LARGEST_EXPONENT or len(found.as_tuple().digits) > LARGEST_EXPONENT:
        raise ValueError("a number that a float can hold")
    return found


def whole(low: int, high: int, words: str) -> Check:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(words)
        return value

    return check


def one_of(*words: str) -> Check:
    def check(value: object) -> str:
        if value not in words:
            raise ValueError("one of " + ", ".join(words))
        return str(value)

    return check


def matching(pattern: re.Pattern[str], words: str) -> Check:
    def check(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(words)
        return value

    return check


ENTRY: dict[str, Check] = {
    "gate": text,
    "checkpoint": text,
    "quant": text,
    "status": text,
    "recipe": matching(re.compile(r"[^/\s]+/[^/\s]+"), "FAMILY/STEM"),
    "label": text,
    "default": flag,
    "note": text,
    "suite": text,
    "tasks": matching(TASKS, "a slice as in --bench=KEY:SLICE: N, head:N, VARIANT or VARIANT:N"),
    "harness": text,
    "perturbation": text,
    "repeats": whole(1, 100, "a whole number from 1 to 100"),
    "combine": one_of(*COMBINE),
    "allow_errors": whole(0, 2**31, "a whole number from 0"),
    "allow_skipped": whole(0, 2**31, "a whole number from 0"),
}
MAPS = ("serve_overrides", "param_overrides", "serve_env")
ENTRY_KEYS = (*ENTRY, *MAPS, "fingerprints", "metrics", "sequential")
REQUIRED = ("quant", "checkpoint", "gate", "status")
BOUND: dict[str, Check] = {f.name: number for f in fields(Bound)}
SEQUENTIAL: dict[str, Check] = {
    "good": number,
    "bad": number,
    "alpha": number,
    "beta": number,
    "metric": text,
    "min_tasks": whole(1, 2**31, "a whole number from 1"),
}
FINGERPRINTS: dict[str, Check] = {
    name: matching(HEX64, "64 hexadecimal digits") for name in ("dataset", "suite")
}


def unknown_keys(found: Iterable[str], allowed: Iterable[str], table: str, sink: Sink, where: Where) -> None:
    """Names each key that the table does not have, with the nearest one that it has."""
    allowed = list(allowed)
    for key in found:
        if key in allowed:
            continue
        near = difflib.get_close_matches(key, allowed, n=1, cutoff=0.6)
        alike = bool(near) and difflib.SequenceMatcher(None, key, near[0]).ratio() >= 0.8
        code = "likely-typo" if sink.compat and alike else "unknown-key"
        remedy = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(sorted(allowed))}"
        sink.add(code, f"{table} has no key {shown(key)}", remedy.rstrip("?"), where=(*where, key), key=key)


def values(
    raw: Mapping[str, Any],
    checks: Mapping[str, Check],
    sink: Sink,
    where: Where,
    *,
    metric: str | None = None,
) -> dict[str, Any]:
    """The fields of a table that are as they should be; the others are reported."""
    good = {}
    for key, check in checks.items():
        if key not in raw:
            continue
        try:
            good[key] = check(raw[key])
        except ValueError as error:
            sink.add(
                "wrong-type",
                f"{key} is {shown(raw[key])}",
                f"write {error}",
                where=(*where, key),
                metric=metric,
                key=key,
            )
    return good


def table(raw: Mapping[str, Any], key: str, sink: Sink, where: Where) -> Mapping[str, Any] | None:
    """A sub-table, or ``None`` when it is absent or something else (which is reported)."""
    value = raw.get(key)
    if value is None or isinstance(value, dict):
        return value
    sink.add("wrong-type", f"{key} is {shown(value)}", "write a table", where=(*where, key), key=key)
    return None


def texts(raw: Mapping[str, Any], key: str, sink: Sink, where: Where) -> dict[str, str]:
    """A map of texts; other values are reported with the quoted form to write."""
    found = {}
    for name, value in (table(raw, key, sink, where) or {}).items():
        if isinstance(value, str):
            found[name] = value
            continue
        quoted = str(value).lower() if isinstance(value, bool) else str(value)
        sink.add(
            "wrong-type",
            f"{key}.{name} is {shown(value)}, not a text",
            f'write {name} = "{quoted}"',
            where=(*where, key, name),
            key=f"{key}.{name}",
        )
    return found


def bound_of(raw: object, metric: str, sink: Sink, where: Where) -> Bound | None:
    """One value of ``metrics``; ``None`` when it is no table."""
    if not isinstance(raw, dict):
        sink.add(
            "wrong-type",
            f"the bound is {shown(raw)}",
            "write a table such as { min = 0.5 }",
            where=where,
            metric=metric,
        )
        return None
    unknown_keys(raw, BOUND, f"the bound of {metric}", sink, where)
    return Bound(**values(raw, BOUND, sink, where, metric=metric))


def sequential_of(raw: Mapping[str, Any] | None, sink: Sink, where: Where) -> Sequential | None:
    if raw is None:
        return None
    unknown_keys(raw, SEQUENTIAL, "sequential", sink, where)
    good = values(raw, SEQUENTIAL, sink, where)
    if missing := [key for key in ("good", "bad") if key not in raw]:
        sink.add(
            "missing-key", f"sequential has no {' and no '.join(missing)}", "add the levels", where=where
        )
    return Sequential(**good) if "good" in good and "bad" in good else None
