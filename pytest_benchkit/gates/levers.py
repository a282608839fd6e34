"""Environment levers and the hermetic set: ``LEVERS.toml``, extended by class and model (layers)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_benchkit.gates import schema
from pytest_benchkit.gates.problems import Sink, Where, shown

CLASSES = ("runtime", "build", "harness")
CLOSED = {"enable_prefix_caching": "false", "mtp_gate": "force"}
"""Default hermetic set: with these no request's state can influence another."""
ORIGIN_PREFIX = re.compile(r"METRALE_[A-Z0-9_]+")
LEVER_KEYS: dict[str, schema.Check] = {
    "class": schema.one_of(*CLASSES),
    "pattern": schema.text,
    "note": schema.text,
}


@dataclass(frozen=True, slots=True)
class Lever:
    """An environment variable that changes what is measured; ``kind``: when it acts."""

    kind: str
    values: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True)
class Levers:
    """The table in force for one model. ``listed``: whether a LEVERS.toml exists at all."""

    table: Mapping[str, Lever] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=lambda: dict(CLOSED))
    listed: bool = False


def layer(below: Levers, data: Mapping[str, Any], sink: Sink) -> Levers:
    """Adds the levers of one file and replaces the closed set where it has one."""
    table = dict(below.table)
    for name, raw in (schema.table(data, "levers", sink, ()) or {}).items():
        where = ("levers", name)
        if not isinstance(raw, dict):
            sink.add("wrong-type", f"levers.{name} is {shown(raw)}", "write a table", where=where, key=name)
            continue
        lever = _lever(raw, sink, where)
        known = table.get(name)
        if known is not None and lever.kind and known.kind != lever.kind:
            sink.add(
                "lever-redefined",
                f"{name} is of class {known.kind}, and here of class {lever.kind}",
                "keep one class",
                where=where,
                key=name,
            )
            continue
        table[name] = lever
    hermetic = schema.table(data, "hermetic", sink, ()) or {}
    schema.unknown_keys(hermetic, ("closed",), "hermetic", sink, ("hermetic",))
    closed = schema.texts(hermetic, "closed", sink, ("hermetic",))
    return replace(below, table=table, closed=closed if "closed" in hermetic else below.closed)


def levers_file(data: Mapping[str, Any], sink: Sink) -> Levers:
    """``LEVERS.toml``."""
    schema.unknown_keys(data, ("prefixes", "levers", "hermetic"), "the file", sink, ())
    prefixes = data.get("prefixes", [])
    if not isinstance(prefixes, list) or not all(isinstance(p, str) for p in prefixes):
        sink.add(
            "wrong-type",
            f"prefixes is {shown(prefixes)}",
            "write a list of texts",
            where=("prefixes",),
            key="prefixes",
        )
    return layer(Levers(listed=True), data, sink)


def _lever(raw: Mapping[str, Any], sink: Sink, where: Where) -> Lever:
    schema.unknown_keys(raw, (*LEVER_KEYS, "values"), "the lever", sink, where)
    good = schema.values(raw, LEVER_KEYS, sink, where)
    if "class" not in raw:
        sink.add(
            "missing-key",
            "the lever has no class",
            f"add class: {', '.join(CLASSES)}",
            where=where,
            key="class",
        )
    allowed = raw.get("values", [])
    if not isinstance(allowed, list) or not all(isinstance(v, str) for v in allowed):
        sink.add(
            "wrong-type",
            f"values is {shown(allowed)}",
            "write a list of texts",
            where=(*where, "values"),
            key="values",
        )
        allowed = []
    pattern = good.get("pattern")
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            sink.add(
                "wrong-type",
                f"pattern {shown(pattern)} is no regular expression: {error}",
                "correct it",
                where=(*where, "pattern"),
                key="pattern",
            )
            pattern = None
    return Lever(good.get("class", ""), tuple(allowed), pattern)


def check_hermetic(serve: Mapping[str, str], levers: Levers, sink: Sink, where: Where) -> None:
    """E10, E11."""
    asked = serve.get("hermetic")
    if asked is None or asked == "false":
        return
    if asked != "true":
        sink.add(
            "hermetic-spelling",
            f"hermetic is {shown(asked)}",
            'write "true" or "false"',
            where=(*where, "hermetic"),
            key="serve_overrides.hermetic",
        )
        return
    missing = [f'{key} = "{value}"' for key, value in levers.closed.items() if serve.get(key) != value]
    if missing:
        sink.add(
            "hermetic-incomplete",
            f"hermetic without {', '.join(missing)}",
            f"add {', '.join(missing)}",
            where=(*where, "hermetic"),
            key="serve_overrides.hermetic",
        )


def check_env(env: Mapping[str, str], levers: Levers, sink: Sink, where: Where) -> None:
    """E12."""
    for name, value in env.items():
        lever = levers.table.get(name)
        at, key = (*where, name), f"serve_env.{name}"
        if not value.strip():
            sink.add("lever-blank", f"{name} is blank", "write a value, or remove the pin", where=at, key=key)
        elif lever is None:
            if sink.compat and not levers.listed and ORIGIN_PREFIX.fullmatch(name):
                sink.add(
                    "lever-unlisted",
                    f"{name} is not checked: there is no LEVERS.toml",
                    "add it to LEVERS.toml",
                    where=at,
                    key=key,
                )
                continue
            near = difflib.get_close_matches(name, levers.table, n=1, cutoff=0.6)
            remedy = f"did you mean {near[0]}" if near else "declare it under [levers] in LEVERS.toml"
            sink.add("lever-undeclared", f"{name} is not in the lever table", remedy, where=at, key=key)
        elif lever.kind != "runtime":
            sink.add(
                "lever-not-runtime",
                f"{name} is of class {lever.kind}",
                "pin runtime levers only",
                where=at,
                key=key,
            )
        elif (lever.values and value not in lever.values) or (
            lever.pattern is not None and not re.fullmatch(lever.pattern, value)
        ):
            allowed = (
                f"one of {', '.join(lever.values)}" if lever.values else f"a text that fits {lever.pattern}"
            )
            sink.add("lever-value", f"{name} is {shown(value)}", f"write {allowed}", where=at, key=key)
