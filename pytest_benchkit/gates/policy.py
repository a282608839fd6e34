"""``GATES.toml``: which gates are required, and what else the project decided about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pytest_benchkit.gates import schema
from pytest_benchkit.gates.problems import Sink, Where, shown

SCHEMA = 1
RESOLUTION = ("warn", "refuse", "off")
SIMPLE: dict[str, schema.Check] = {
    "schema": schema.whole(0, 2**31, "a whole number"),
    "max_age_days": schema.whole(1, 2**31, "a whole number from 1"),
    "max_attempts": schema.whole(1, 2**31, "a whole number from 1"),
    "require_signature": schema.flag,
    "signers": schema.text,
    "resolution": schema.one_of(*RESOLUTION),
}
LISTS = ("required", "watch", "exclude", "closure")
MAPS = ("candidates", "not_required")


@dataclass(frozen=True, slots=True)
class Required:
    """A gate that must have a measured entry on ``any`` class, on ``all``, or on the listed ones."""

    gate: str
    hardware: Literal["any", "all"] | tuple[str, ...] = "any"


@dataclass(frozen=True)
class Policy:
    """Parsed ``GATES.toml``; absent files give the defaults. ``present``: whether there is one."""

    present: bool = False
    path: str = ""
    required: tuple[Required, ...] = ()
    candidates: Mapping[str, str] = field(default_factory=dict)
    not_required: Mapping[str, str] = field(default_factory=dict)
    resolution: Literal["warn", "refuse", "off"] = "warn"


def policy_of(data: Mapping[str, Any], sink: Sink) -> Policy:
    """Reads the file and reports what is wrong with it."""
    schema.unknown_keys(data, (*SIMPLE, *LISTS, *MAPS), "the file", sink, ())
    good = schema.values(data, SIMPLE, sink, ())
    if good.get("schema", SCHEMA) != SCHEMA:
        sink.add(
            "policy-schema",
            f"schema is {good['schema']}",
            f"this version reads schema {SCHEMA}",
            where=("schema",),
            key="schema",
        )
    lists: dict[str, list[Any]] = {}
    for key in LISTS:
        value = data.get(key, [])
        if not isinstance(value, list):
            sink.add("wrong-type", f"{key} is {shown(value)}", "write a list", where=(key,), key=key)
            value = []
        lists[key] = value
    maps = {key: schema.texts(data, key, sink, ()) for key in MAPS}
    for key, reasons in maps.items():
        for gate, reason in reasons.items():
            _reason(reason, f"{key}.{gate}", (key, gate), sink)
    for position, item in enumerate(lists["exclude"]):
        if isinstance(item, dict):
            _reason(item.get("reason"), f"exclude {position + 1}", ("exclude", position), sink)
        else:
            sink.add(
                "wrong-type",
                f"exclude holds {shown(item)}",
                "write tables with paths and reason",
                where=("exclude", position),
            )
    required = tuple(
        found for place, item in enumerate(lists["required"]) if (found := _required(item, place, sink))
    )
    return Policy(
        True,
        sink.path,
        required,
        maps["candidates"],
        maps["not_required"],
        cast("Any", good.get("resolution", "warn")),
    )


def _reason(reason: object, what: str, where: Where, sink: Sink) -> None:
    if not isinstance(reason, str) or not reason.strip():
        sink.add("reason-missing", f"{what} has no reason", "write why", where=where, key="reason")


def _required(item: object, place: int, sink: Sink) -> Required | None:
    where: Where = ("required", place)
    if isinstance(item, str):
        return Required(item)
    if isinstance(item, dict):
        schema.unknown_keys(item, ("gate", "hardware"), "required", sink, where)
        gate, hardware = item.get("gate"), item.get("hardware", "any")
        if isinstance(gate, str) and hardware in ("any", "all"):
            return Required(gate, hardware)
        if isinstance(gate, str) and isinstance(hardware, list) and all(isinstance(h, str) for h in hardware):
            return Required(gate, tuple(hardware))
    sink.add(
        "wrong-type",
        f"required holds {shown(item)}",
        'write a gate id or { gate = "…", hardware = "any" }',
        where=where,
        key="required",
    )
    return None
