"""Benchmark parameters that an entry pins (``param_overrides``), and what a run had in force.

The parameters of a run are its sampling settings (``sampling.<name>``) and the few others that change
replies; each is read by the rule of its setting, so that ``"0.70"`` equals 0.7.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pytest_benchkit.gates.problems import Sink, Where, shown
from pytest_benchkit.settings import SAMPLING, Parse, definitions

OTHERS = ("max_tokens", "thinking", "system", "loop_kill")
FREE = ("seed", "max_tokens")
"""May differ from the default without a pin: the seed is the draw of a repetition, and a token limit shows
in its own metric (``truncation_rate``) and makes no score better."""


def known() -> dict[str, Parse]:
    """Every parameter with the reader of its values."""
    parse = {d.name: d.parse for d in definitions()}
    found = {f"sampling.{name}": parse[name] for name in (*SAMPLING, "seed")}
    return found | {name: parse[name] for name in OTHERS}


def check_params(pins: Mapping[str, str], sink: Sink, where: Where) -> None:
    """E13."""
    if not pins:
        return
    table = known()
    for name, text in pins.items():
        at, key = (*where, "param_overrides", name), f"param_overrides.{name}"
        parse = table.get(name)
        if parse is None:
            near = difflib.get_close_matches(name, table, n=1, cutoff=0.6)
            remedy = f"did you mean {near[0]}" if near else f"known parameters: {', '.join(sorted(table))}"
            sink.add("param-unknown", f"there is no parameter {name}", remedy, where=at, key=key)
            continue
        try:
            parse(text.strip())
        except ValueError as error:
            sink.add("param-value", f"{name} is {shown(text)}", f"write {error}", where=at, key=key)


def differences(
    pins: Mapping[str, str], effective: Mapping[str, Any], defaults: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """What was in force and should not have been: (code, sentence). Keys as in :func:`known`."""
    table = known()
    found = []
    for name in sorted(table):
        value = effective.get(name)
        if name in pins:
            try:
                wanted = table[name](pins[name].strip())
            except ValueError:
                wanted = pins[name]
            if wanted != value:
                found.append(
                    ("param-pin-differs", f"{name} is pinned to {pins[name]}, the run had {_said(value)}")
                )
        elif name.removeprefix("sampling.") not in FREE and value != defaults.get(name):
            default = _said(defaults.get(name))
            found.append(("param-not-default", f"{name} was {_said(value)}, by default it is {default}"))
    return found


def _said(value: object) -> str:
    return "not set" if value is None else shown(value)
