"""The rules of one entry (E1-E16): :func:`entry_of` reads it and reports everything that is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, cast

from pytest_benchkit.gates import bound_rules, levers, schema
from pytest_benchkit.gates.early import weaker_than_confidence
from pytest_benchkit.gates.metrics import SuiteFacts
from pytest_benchkit.gates.params import check_params
from pytest_benchkit.gates.problems import Sink, Where, shown
from pytest_benchkit.gates.schema import Bound, Entry

Resolution = Literal["warn", "refuse", "off"]
Recipes = Callable[[str], "Recipe | None"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What lint asks of a recipe: which files exist, and the model that the TOML one serves."""

    forms: tuple[str, ...]
    model: str | None = None


@dataclass(frozen=True)
class Rules:
    """What entries are checked against. A missing part switches off the rules that need it.

    ``suite(key)`` gives the facts of a suite, ``None`` for a key that nobody knows; ``unsure`` are keys
    whose file could not be imported. ``recipe(id)`` tells which files a recipe has.
    """

    suite: Callable[[str], SuiteFacts | None] | None = None
    suite_keys: tuple[str, ...] = ()
    unsure: frozenset[str] = frozenset()
    recipe: Recipes | None = None
    resolution: Resolution = "warn"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands."""

    hardware: str
    model: str
    position: int

    @property
    def where(self) -> Where:
        return ("benchmarks", self.position)


def entry_of(raw: object, place: Place, sink: Sink, rules: Rules, table: levers.Levers) -> Entry | None:
    """The entry as far as it can be read; ``None`` when it is no table."""
    where = place.where
    sink.gate = sink.checkpoint = None
    if not isinstance(raw, dict):
        sink.add(
            "wrong-type",
            f"entry {place.position + 1} is {shown(raw)}",
            "write [[benchmarks]] tables",
            where=where,
        )
        return None
    sink.gate, sink.checkpoint = (
        v if isinstance(v := raw.get(k), str) and v else None for k in ("gate", "checkpoint")
    )
    entry = _read(raw, place, sink)
    _names(entry, raw, sink, where)
    _status(entry, raw, sink, where)
    _pins(entry, sink, where, table)
    _references(entry, sink, where, rules)
    suite = _suite(entry, sink, where, rules)
    if suite is not None:
        check_params(entry.param_overrides, sink, where)
    _sequential(entry, sink, where)
    for metric, bound in (entry.metrics or {}).items():
        bound_rules.check(metric, bound, entry, sink, (*where, "metrics", metric), suite, rules.resolution)
    return entry


def _read(raw: dict[str, Any], place: Place, sink: Sink) -> Entry:
    where = place.where
    schema.unknown_keys(raw, schema.ENTRY_KEYS, "the entry", sink, where)
    if missing := [key for key in schema.REQUIRED if key not in raw]:
        sink.add(
            "missing-key",
            f"the entry has no {', no '.join(missing)}",
            f"add {', '.join(missing)}",
            where=where,
        )
    good = schema.values(raw, schema.ENTRY, sink, where)
    maps = {name: schema.texts(raw, name, sink, where) for name in schema.MAPS}
    prints = schema.table(raw, "fingerprints", sink, where) or {}
    schema.unknown_keys(prints, schema.FINGERPRINTS, "fingerprints", sink, (*where, "fingerprints"))
    fingerprints = schema.values(prints, schema.FINGERPRINTS, sink, (*where, "fingerprints"))
    metrics: dict[str, Bound] | None = None
    if (table := schema.table(raw, "metrics", sink, where)) is not None:
        metrics = {}
        for name, value in table.items():
            if (bound := schema.bound_of(value, name, sink, (*where, "metrics", name))) is not None:
                metrics[name] = bound
    sequential = schema.sequential_of(
        schema.table(raw, "sequential", sink, where), sink, (*where, "sequential")
    )
    return Entry(
        place.hardware,
        place.model,
        sink.path,
        sink.line(where),
        place.position,
        metrics=metrics,
        sequential=sequential,
        fingerprints=fingerprints,
        **cast("Any", maps),
        **good,
    )


def _names(entry: Entry, raw: Mapping[str, Any], sink: Sink, where: Where) -> None:
    for key in ("quant", "checkpoint", "gate"):
        value = raw.get(key)
        if isinstance(value, str) and (
            not value.strip() or value != value.strip() or not value.isprintable()
        ):
            sink.add(
                "empty-value",
                f"{key} is {shown(value)}: blank, padded, or with control characters",
                "write the bare name",
                where=(*where, key),
                key=key,
            )
    if entry.gate.strip() and not schema.ID.fullmatch(entry.gate):
        sink.add(
            "bad-id",
            f"the gate id {shown(entry.gate)} does not fit {schema.ID.pattern}",
            "write lower-case words joined by dashes",
            where=(*where, "gate"),
            key="gate",
        )


def _status(entry: Entry, raw: Mapping[str, Any], sink: Sink, where: Where) -> None:
    if "status" in raw and isinstance(raw["status"], str) and entry.status not in schema.STATUS:
        sink.add(
            "bad-status",
            f"status is {shown(entry.status)}, neither measured nor unmeasured",
            'write status = "measured" or status = "unmeasured"',
            where=(*where, "status"),
            key="status",
        )
    if entry.status == "unmeasured" and "metrics" in raw:
        sink.add(
            "unmeasured-with-metrics",
            "an unmeasured entry has a metrics table: a number that nobody measured could turn green",
            "remove the table, or measure it with benchkit gate calibrate",
            where=(*where, "metrics"),
            key="metrics",
        )
    if entry.status == "measured" and not raw.get("metrics"):
        sink.add(
            "measured-without-metrics",
            "a measured entry has no bounds",
            'add bounds with benchkit gate calibrate, or write status = "unmeasured"',
            where=where,
            key="metrics",
        )
    if entry.status == "unmeasured" and entry.default:
        sink.add(
            "default-unmeasured",
            "an unmeasured entry cannot be the default",
            "remove default until it is measured",
            where=(*where, "default"),
            key="default",
        )


def _pins(entry: Entry, sink: Sink, where: Where, table: levers.Levers) -> None:
    serve = entry.serve_overrides
    for key in ("port",) if sink.compat else ("port", "host"):
        if key in serve:
            sink.add(
                "port-pinned",
                f"serve_overrides.{key} is {shown(serve[key])}, and the free port is chosen at the start",
                f"remove {key}",
                where=(*where, "serve_overrides", key),
                key=f"serve_overrides.{key}",
            )
    levers.check_hermetic(serve, table, sink, (*where, "serve_overrides"))
    levers.check_env(entry.serve_env, table, sink, (*where, "serve_env"))


def _references(entry: Entry, sink: Sink, where: Where, rules: Rules) -> None:
    if entry.recipe is None or rules.recipe is None:
        return
    recipe, at = rules.recipe(entry.recipe), (*where, "recipe")
    if recipe is None:
        sink.add(
            "recipe-missing",
            f"no recipes/{entry.recipe}.toml or .yaml exists",
            "write the recipe, or correct its name",
            where=at,
            key="recipe",
        )
    elif len(recipe.forms) > 1:
        sink.add(
            "recipe-ambiguous",
            f"recipes/{entry.recipe} exists as {' and '.join(recipe.forms)}",
            "keep one of them",
            where=at,
            key="recipe",
        )
    elif recipe.model is not None and recipe.model != entry.checkpoint:
        sink.add(
            "recipe-model-mismatch",
            f"{entry.recipe} serves {shown(recipe.model)}, not the checkpoint {shown(entry.checkpoint)}",
            "name the recipe of this checkpoint",
            where=at,
            key="recipe",
        )


def _suite(entry: Entry, sink: Sink, where: Where, rules: Rules) -> SuiteFacts | None:
    key = entry.suite_key
    if rules.suite is None or not key or key in rules.unsure:
        return None
    suite = rules.suite(key)
    if suite is None:
        near = difflib.get_close_matches(key, rules.suite_keys, n=1, cutoff=0.6)
        sink.add(
            "unknown-suite",
            f"no suite has the key {shown(key)}",
            f"did you mean {near[0]}"
            if near
            else 'name the suite with suite = "KEY"; `benchkit list` shows all',
            where=(*where, "suite" if entry.suite else "gate"),
            key="suite",
        )
    elif entry.wanted[0] not in (None, *suite.rows):
        names = ", ".join(sorted(name for name in suite.rows if name)) or "none"
        sink.add(
            "wrong-type",
            f"tasks is {shown(entry.tasks)}, and {key} has no variant {entry.wanted[0]}; variants: {names}",
            "write N, head:N or a variant",
            where=(*where, "tasks"),
            key="tasks",
        )
    return suite


def _sequential(entry: Entry, sink: Sink, where: Where) -> None:
    levels = entry.sequential
    if levels is None:
        return
    half, one = Decimal("0.5"), Decimal(1)
    wrong = []
    if not (levels.good.is_finite() and levels.bad.is_finite() and 0 < levels.bad < levels.good < one):
        wrong.append(f"not 0 < bad {levels.bad} < good {levels.good} < 1")
    for name in ("alpha", "beta"):
        rate = getattr(levels, name)
        if not (rate.is_finite() and 0 < rate < half):
            wrong.append(f"{name} {rate} is not between 0 and 0.5")
    if entry.repeats > 1:
        wrong.append(f"a task's mean over {entry.repeats} repeats is known at the end only")
    bound = (entry.metrics or {}).get(levels.metric)
    floor = None if bound is None else bound.min
    if entry.measured and floor is None:
        wrong.append(f"{levels.metric} has no min")
    if floor is not None and not wrong and levels.bad < floor - (bound.noise if bound and bound.noise else 0):
        wrong.append(f"bad {levels.bad} lies below the floor {floor}")
    if bound is not None and weaker_than_confidence(levels, bound):
        sink.add(
            "sprt-weaker-than-confidence",
            f"beta {levels.beta} with confidence {bound.confidence}: a pass would be less sure than asked",
            f"lower beta to {1 - bound.confidence if bound.confidence is not None else 0}",
            where=(*where, "sequential", "beta"),
            key="sequential.beta",
        )
    if wrong:
        sink.add(
            "sequential-invalid",
            "; ".join(wrong),
            "set repeats = 1, or remove sequential"
            if entry.repeats > 1
            else "choose levels around the floor, bad at or above it",
            where=(*where, "sequential"),
            key="sequential",
        )
