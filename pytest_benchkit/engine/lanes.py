"""From a prepared model to its lane: the client in the right dialect, with this process's share of slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_benchkit.engine import eviction
from pytest_benchkit.engine.lane import Lane
from pytest_benchkit.engine.sizing import ALLOWANCE, ModelSizer
from pytest_benchkit.models.limits import SharedHold, Slots

if TYPE_CHECKING:
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.base import Model
    from pytest_benchkit.models.client import HttpModel
    from pytest_benchkit.models.profiles import ModelSpec

Say = Callable[[str], None]


def build_lane(
    spec: ModelSpec,
    prepared: Prepared,
    *,
    share: int,
    hold: SharedHold,
    say: Say,
    registered: Mapping[str, Callable[[], Model]],
    lag: Callable[[], float] = lambda: 0.0,
) -> Lane:
    """The model with this process's share of its slots."""
    model: Model
    if prepared.kind == "demo":
        from pytest_benchkit.models.demo import DemoModel

        model = DemoModel.parse(spec.argument)
    elif prepared.kind == "registered":
        model = registered[spec.name]()
    else:
        model = http_model(spec, prepared, say, lag)
    lane = Lane(
        spec.name,
        model,
        Slots(share, hold),
        spec.settings,
        spec.origins,
        endpoint=prepared.endpoint,
        window=prepared.window,
        sizer=_sizer(model, prepared),
        say=say,
    )
    lane.stopped = prepared.stopped
    lane.served_id = str(prepared.facts.get("served_id") or spec.served_id)
    if share == prepared.capacity:  # nobody else asks it
        lane.evict = eviction.policy(spec, prepared)
    return lane


def _sizer(model: Model, prepared: Prepared) -> ModelSizer:
    """Where ratios had to be measured, the server's tokenizer did not answer: it is not asked again."""
    calibrated = prepared.sizing.keys() - {ALLOWANCE}
    counts = bool(prepared.facts.get("tokenize")) and not calibrated
    return ModelSizer(prepared.window, prepared.sizing, getattr(model, "count", None) if counts else None)


def http_model(
    spec: ModelSpec, prepared: Prepared, say: Say, lag: Callable[[], float] = lambda: 0.0
) -> HttpModel:
    """The client of a served model, in the dialect of its server."""
    from dataclasses import replace

    from pytest_benchkit.models.client import HttpModel
    from pytest_benchkit.models.decision import DecisionModel
    from pytest_benchkit.models.facts import ServerFacts
    from pytest_benchkit.models.ollama import OllamaModel
    from pytest_benchkit.models.transport import AioTransport

    transport = AioTransport(spec.settings.connect_timeout, spec.settings.ca_file)
    facts = ServerFacts(**prepared.facts)
    facts.window = prepared.window
    served = replace(spec, base_url=prepared.base_url)
    model_class: type[HttpModel] = DecisionModel if prepared.decides else HttpModel
    if facts.flavour == "ollama" and not prepared.decides:
        model_class = OllamaModel
    model = model_class(served, facts, transport, stream=prepared.stream, lag=lag, say=say)
    model.dropped.update(prepared.dropped)
    return model
