"""Which hardware class and which checkpoint a run measured. Pure, but for this host's addresses."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.classes import HardwareClass, MatchRule
from pytest_benchkit.gates.devices import Device, Devices

if TYPE_CHECKING:
    from pytest_benchkit.gates.tree import Tree

VENDOR_WORDS = frozenset(
    {"nvidia", "geforce", "rtx", "tesla", "quadro", "amd", "radeon", "instinct", "intel", "apple", "graphics"}
)


# ---------------------------------------------------------------------- matching


def classify(classes: Iterable[HardwareClass], devices: Sequence[Device]) -> str | Reason:
    """The one class that all visible devices belong to, or why there is none."""
    classes = list(classes)
    if not devices:
        return Reason("hardware-unknown", "no device was found", "name the class with --bench-hardware")
    best = _best(classes, devices)
    if len(best) == 1:
        return best[0]
    if best:
        return Reason(
            "hardware-ambiguous",
            f"this machine fits {' and '.join(best)} equally well",
            "add a condition to one of their match rules, or name the class with --bench-hardware",
        )
    single = [_best(classes, [device]) for device in devices]
    named = sorted({name for names in single for name in names})
    if len(named) > 1 and all(single):
        return Reason(
            "hardware-mixed",
            f"the devices belong to different classes: {', '.join(named)}",
            "hide devices with CUDA_VISIBLE_DEVICES, or name the class with --bench-hardware",
        )
    seen = " ".join(dict.fromkeys(token for device in devices for token in device.tokens))
    return Reason(
        "hardware-unknown",
        f"no class matches this machine; tokens seen: {seen or 'none'}",
        "add a [[hardware.match]] rule, or name the class with --bench-hardware",
    )


def _best(classes: Iterable[HardwareClass], devices: Sequence[Device]) -> list[str]:
    """Ids of the most specific classes that fit all these devices."""
    fitting: dict[str, int] = {}
    for cls in classes:
        if not cls.rules:
            if all(_by_id(cls.id, device) for device in devices):
                fitting[cls.id] = 1
            continue
        values = [rule.specificity for rule in cls.rules if _fits(rule, devices)]
        if values:
            fitting[cls.id] = max(values)
    most = max(fitting.values(), default=0)
    return sorted(name for name, value in fitting.items() if value == most)


def _by_id(name: str, device: Device) -> bool:
    """A class without rules: its id is a whole token, or all tokens joined without vendor words."""
    tokens = device.tokens
    return name in tokens or name == "".join(token for token in tokens if token not in VENDOR_WORDS)


def _fits(rule: MatchRule, devices: Sequence[Device]) -> bool:
    asked = rule.conditions
    if len(devices) != asked.get("devices", len(devices)) or len(devices) < asked.get("min_devices", 0):
        return False
    return all(_fits_device(asked, device) for device in devices)


def _fits_device(asked: Mapping[str, object], device: Device) -> bool:
    tokens = set(device.tokens)
    memory, cores = device.memory_gib, device.cores
    tests: dict[str, Callable[[object], bool]] = {
        "probe": lambda v: v in ("any", device.probe),
        "tokens_all": lambda v: tokens.issuperset(_list(v)),
        "tokens_any": lambda v: not tokens.isdisjoint(_list(v)),
        "tokens_none": lambda v: tokens.isdisjoint(_list(v)),
        "compute_capability": lambda v: device.compute_capability in _list(v),
        "arch": lambda v: device.arch in _list(v),
        "min_memory_gib": lambda v: memory is not None and memory >= float(str(v)),
        "max_memory_gib": lambda v: memory is not None and memory <= float(str(v)),
        "cpu_flags_all": lambda v: device.flags.issuperset(_list(v)),
        "min_cores": lambda v: cores is not None and cores >= int(str(v)),
    }
    return all(tests[name](value) for name, value in asked.items() if name in tests)


def _list(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


# ---------------------------------------------------------------------- class of a run


def is_local(url: str) -> bool:
    """Whether a URL's host is this machine: loopback, its name, or one of its addresses."""
    host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    if host in ("localhost", "::1", "0.0.0.0", "") or host.startswith("127."):
        return True
    if host in (socket.gethostname().lower(), socket.getfqdn().lower()):
        return True
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as test:
            test.bind((host, 0))  # an address that is not ours cannot be bound
    except OSError:
        return False
    return True


def hardware_of_run(
    tree: Tree, asked: str | None, urls: Iterable[str], devices: Callable[[], Devices]
) -> str | Reason:
    """``--bench-hardware`` if given, else the class of this machine, if the model is served here."""
    if asked is not None:
        return asked
    for url in urls:
        if not is_local(url):
            return Reason(
                "hardware-remote",
                f"the model is served at {urlsplit(url).hostname or url}, not on this machine",
                "name its class with --bench-hardware",
            )
    return classify(tree.hardware.values(), devices().devices)


# ---------------------------------------------------------------------- checkpoint


@dataclass(frozen=True, slots=True)
class Claim:
    """The checkpoint that a run is held to, and how it was told."""

    checkpoint: str
    source: str
    also: tuple[str, ...] = field(default=())


def checkpoint_of(
    tree: Tree, hardware: str, gate: str, model: str, asked: Mapping[str | None, str]
) -> Claim | Reason:
    """The checkpoint of a model name. ``asked``: ``--bench-checkpoint`` by model name, ``None`` for all."""
    for key in (model, None):
        if key in asked:
            return Claim(asked[key], "--bench-checkpoint")
    mine = [entry for entry in tree.entries if entry.hardware == hardware and entry.gate == gate]
    if any(entry.checkpoint == model for entry in mine):
        return Claim(model, "model name")
    hits: dict[str, list[str]] = {}
    for (cls, directory), facts in tree.models.items():
        if cls != hardware:
            continue
        if model in facts.checkpoints or any(fnmatchcase(model, glob) for glob in facts.match_names):
            hits[directory] = [e.checkpoint for e in mine if e.model == directory]
    if len(hits) > 1:
        return Reason(
            "checkpoint-ambiguous",
            f"the model name {model} fits {' and '.join(sorted(hits))}",
            "name the checkpoint with --bench-checkpoint",
        )
    listed = next(iter(hits.values()), [])
    if listed:
        preferred = next((e.checkpoint for e in mine if e.checkpoint in listed and e.default), listed[0])
        return Claim(preferred, "MODEL.toml", tuple(c for c in listed if c != preferred))
    known = ", ".join(sorted({entry.checkpoint for entry in mine})) or "none"
    return Reason(
        "no-baseline-checkpoint",
        f"{model} is no checkpoint that {gate} has an entry for on {hardware}; it has: {known}",
        "name the checkpoint with --bench-checkpoint, or calibrate this model",
    )
