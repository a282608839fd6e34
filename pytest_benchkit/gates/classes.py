"""``HARDWARE.toml`` and ``MODEL.toml``: what a class is and how it is recognised, which names a model has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pytest_benchkit.gates import schema
from pytest_benchkit.gates.problems import Sink, Where, shown

FAMILIES = {
    "nvidia": "nvidia",
    "cuda": "nvidia",
    "amd": "amd",
    "rocm": "amd",
    "hip": "amd",
    "scale": "amd",
    "apple": "apple",
    "metal": "apple",
    "cpu": "cpu",
}
PROBES = ("nvidia-smi", "rocm-smi", "metal", "cpu", "any")
FOREIGN = ("defaults", "build", "tensor_core_policy", "kernels")
"""Tables of the origin that are not read here."""


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
        raise ValueError("a list of texts")
    return tuple(value)


def _number(value: object) -> Decimal:
    number = schema.number(value)
    if not number.is_finite() or number <= 0:
        raise ValueError("a finite number above 0")
    return number


_COUNT = schema.whole(1, 4096, "a whole number from 1")
MATCH: dict[str, schema.Check] = {
    "probe": schema.one_of(*PROBES),
    "tokens_all": _texts,
    "tokens_any": _texts,
    "tokens_none": _texts,
    "compute_capability": _texts,
    "arch": _texts,
    "min_memory_gib": _number,
    "max_memory_gib": _number,
    "devices": _COUNT,
    "min_devices": _COUNT,
    "cpu_flags_all": _texts,
    "min_cores": _COUNT,
}
LIMITS: dict[str, dict[str, tuple[Decimal | None, Decimal | None, bool]]] = {
    "thermal": {
        "chassis_park_c": (None, None, False),
        "chassis_resume_c": (None, None, False),
        "chassis_equivalence_delta_c": (Decimal(0), None, True),
        "gpu_ceiling_c": (None, None, False),
    },
    "memory": {"min_free_fraction": (Decimal(0), Decimal(1), True)},
    "timing": {
        "boot_timeout_s": (Decimal(0), None, True),
        "serve_allowance_s": (Decimal(0), None, True),
        "build_allowance_s": (Decimal(0), None, True),
        "shard_overhead_s": (Decimal(0), None, False),
        "shard_floor_s": (Decimal(0), None, False),
    },
    "equivalence": {"clock_spread": (Decimal(0), None, True), "mem_spread": (Decimal(0), None, True)},
}
"""Limit tables: for each number its least and greatest value, and whether the ends are excluded."""


@dataclass(frozen=True, slots=True)
class MatchRule:
    """One ``[[hardware.match]]``: all its conditions must hold for every visible device."""

    conditions: Mapping[str, Any]

    @property
    def specificity(self) -> int:
        """Number of conditions; a probe of ``any`` says less than a named one."""
        return len(self.conditions) - (self.conditions.get("probe") == "any")


@dataclass(frozen=True)
class HardwareClass:
    """A registered class. ``rules`` empty: it is recognised by its id alone."""

    id: str
    name: str
    vendor: str = "nvidia"
    inherits: str | None = None
    rules: tuple[MatchRule, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Names that a server may use for the model of this directory."""

    directory: str
    checkpoints: tuple[str, ...] = ()
    match_names: tuple[str, ...] = ()


def hardware_of(name: str, data: Mapping[str, Any], sink: Sink) -> HardwareClass:
    """Reads one ``HARDWARE.toml`` and reports what is wrong with it."""
    allowed = ("hardware", "facts", "benchmarks", "levers", "hermetic")
    for table in FOREIGN:
        if table in data and not sink.compat:
            sink.add(
                "unknown-key",
                f"the file has the table [{table}], which is not read",
                "move it under [facts]",
                where=(table,),
                key=table,
            )
    schema.unknown_keys([k for k in data if k not in FOREIGN], allowed, "the file", sink, ())
    raw = schema.table(data, "hardware", sink, ()) or {}
    fields: dict[str, schema.Check] = dict.fromkeys(("name", "vendor", "arch", "inherits"), schema.text)
    schema.unknown_keys(raw, (*fields, "match"), "hardware", sink, ("hardware",))
    good = schema.values(raw, fields, sink, ("hardware",))
    vendor = good.get("vendor", "nvidia")
    if vendor not in FAMILIES:
        sink.add(
            "unknown-vendor",
            f"vendor is {shown(vendor)}",
            f"write one of {', '.join(FAMILIES)}",
            where=("hardware", "vendor"),
            key="vendor",
        )
    limits = _limits(data, sink)
    return HardwareClass(
        name, good.get("name", name), vendor, good.get("inherits"), _rules(raw, sink), limits
    )


def _rules(raw: Mapping[str, Any], sink: Sink) -> tuple[MatchRule, ...]:
    listed = raw.get("match", [])
    if not isinstance(listed, list) or not all(isinstance(rule, dict) for rule in listed):
        sink.add(
            "wrong-type",
            f"match is {shown(listed)}",
            "write [[hardware.match]] tables",
            where=("hardware", "match"),
            key="match",
        )
        return ()
    rules = []
    for position, rule in enumerate(listed):
        where: Where = ("hardware", "match", position)
        schema.unknown_keys(rule, MATCH, "the match rule", sink, where)
        good = schema.values(rule, MATCH, sink, where)
        if "probe" not in rule:
            sink.add(
                "missing-key",
                "the match rule has no probe",
                f"add probe: {', '.join(PROBES)}",
                where=where,
                key="probe",
            )
        elif len(good) == len(rule):  # a rule that lost a condition would match too much
            rules.append(MatchRule(good))
    return tuple(rules)


def _limits(data: Mapping[str, Any], sink: Sink) -> dict[str, Any]:
    benchmarks = schema.table(data, "benchmarks", sink, ()) or {}
    schema.unknown_keys(benchmarks, ("limits",), "benchmarks", sink, ("benchmarks",))
    limits = schema.table(benchmarks, "limits", sink, ("benchmarks",)) or {}
    where: Where = ("benchmarks", "limits")
    schema.unknown_keys(limits, (*LIMITS, "allow_unreadable_state"), "limits", sink, where)
    found: dict[str, Any] = schema.values(limits, {"allow_unreadable_state": schema.flag}, sink, where)
    for table, numbers in LIMITS.items():
        raw = schema.table(limits, table, sink, where) or {}
        schema.unknown_keys(raw, numbers, f"limits.{table}", sink, (*where, table))
        good = schema.values(raw, dict.fromkeys(numbers, schema.number), sink, (*where, table))
        for key, value in good.items():
            low, high, open_ends = numbers[key]
            if not _inside(value, low, high, open_ends):
                sink.add(
                    "limit-invalid",
                    f"{table}.{key} is {value}",
                    "write a finite number in its range",
                    where=(*where, table, key),
                    key=key,
                )
        if good:
            found[table] = good
    thermal = found.get("thermal", {})
    park, resume = thermal.get("chassis_park_c"), thermal.get("chassis_resume_c")
    if park is not None and resume is not None and not resume < park:
        sink.add(
            "limit-invalid",
            f"chassis_resume_c {resume} is not below chassis_park_c {park}",
            "lower it",
            where=(*where, "thermal", "chassis_resume_c"),
            key="chassis_resume_c",
        )
    return found


def _inside(value: Decimal, low: Decimal | None, high: Decimal | None, open_ends: bool) -> bool:
    if not value.is_finite():
        return False
    if low is not None and (value < low or (open_ends and value == low)):
        return False
    return not (high is not None and (value > high or (open_ends and value == high)))


def check_links(classes: Mapping[str, HardwareClass], sinks: Mapping[str, Sink]) -> None:
    """``inherits`` names another class of the same family that inherits nothing itself."""
    for name, cls in classes.items():
        if cls.inherits is None:
            continue
        other = classes.get(cls.inherits)
        if other is None:
            words = f"inherits {shown(cls.inherits)}, which is no class of this tree"
        elif cls.inherits == name:
            words = "inherits itself"
        elif other.inherits is not None:
            words = f"inherits {cls.inherits}, which inherits {other.inherits}: a chain"
        elif FAMILIES.get(cls.vendor) != FAMILIES.get(other.vendor):
            words = f"inherits {cls.inherits} of another vendor ({other.vendor}, not {cls.vendor})"
        else:
            continue
        sinks[name].add(
            "inherits-invalid",
            words,
            "name a class of this vendor that inherits nothing",
            where=("hardware", "inherits"),
            key="inherits",
        )


def model_of(directory: str, data: Mapping[str, Any], sink: Sink, siblings: Collection[str]) -> ModelFacts:
    """Reads one ``MODEL.toml``. ``siblings``: directories of the class that have one too."""
    allowed = ("model", "levers", "hermetic", "facts")
    if not sink.compat:
        schema.unknown_keys(data, allowed, "the file", sink, ())
    raw = schema.table(data, "model", sink, ()) or {}
    fields: dict[str, schema.Check] = {
        "name": schema.text,
        "checkpoints": _texts,
        "match_names": _texts,
        "kernel_source": schema.text,
    }
    schema.unknown_keys(raw, fields, "model", sink, ("model",))
    good = schema.values(raw, fields, sink, ("model",))
    source = good.get("kernel_source")
    if source is not None and source not in siblings:
        sink.add(
            "kernel-source-invalid",
            f"kernel_source is {shown(source)}, no sibling with a MODEL.toml and no source of its own",
            "name such a directory",
            where=("model", "kernel_source"),
            key="kernel_source",
        )
    return ModelFacts(directory, good.get("checkpoints", ()), good.get("match_names", ()))
