"""Which hardware class and which checkpoint a run measured. :func:`classify` and :func:`checkpoint_of` are
pure; :func:`probe` looks at this machine."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.classes import HardwareClass, MatchRule

if TYPE_CHECKING:
    from pytest_benchkit.gates.tree import Tree

PROBE_TIMEOUT_S = 10.0
VENDOR_WORDS = frozenset(
    {"nvidia", "geforce", "rtx", "tesla", "quadro", "amd", "radeon", "instinct", "intel", "apple", "graphics"}
)
NVIDIA_FIELDS = "index,uuid,name,driver_version,memory.total,compute_cap,mig.mode.current"
MIB, KIB = 1 << 20, 1 << 10
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Device:
    """One device as its probe shows it. ``memory_gib``: of the device (of the machine for a CPU)."""

    probe: str
    name: str
    memory_gib: float | None = None
    compute_capability: str | None = None
    arch: str | None = None
    mig: bool = False
    flags: frozenset[str] = frozenset()
    cores: int | None = None

    @property
    def tokens(self) -> list[str]:
        """Lower-case words of the name; an enabled MIG adds one."""
        words = re.findall(r"[a-z0-9]+", self.name.lower())
        return [*words, "mig"] if self.mig else words


@dataclass(frozen=True)
class Devices:
    """What a probe found, and notes on probes that failed."""

    devices: tuple[Device, ...] = ()
    notes: tuple[str, ...] = ()


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


# ---------------------------------------------------------------------- probing


def run_command(words: Sequence[str]) -> str | None:
    """Output of a program; ``None`` when it does not exist. Raises ``OSError`` when it fails."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=PROBE_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired:
        raise OSError(f"{words[0]} did not answer in {PROBE_TIMEOUT_S:g} s") from None
    if done.returncode != 0:
        raise OSError(f"{words[0]} exited {done.returncode}: {done.stderr.strip()[:200]}")
    return done.stdout


def probe(
    run: Callable[[Sequence[str]], str | None] = run_command,
    environ: Mapping[str, str] | None = None,
    cpuinfo: Path = Path("/proc/cpuinfo"),
) -> Devices:
    """The devices of this machine: the first probe that lists one wins. A failing probe is a note."""
    environ = os.environ if environ is None else environ
    notes: list[str] = []
    looks: tuple[Callable[[], list[Device]], ...] = (
        lambda: _nvidia(run, environ),
        lambda: _rocm(run, environ),
        lambda: _metal(run),
        lambda: _cpu(cpuinfo),
    )
    for look in looks:
        try:
            if found := look():
                return Devices(tuple(found), tuple(notes))
        except (OSError, ValueError) as error:
            notes.append(str(error))
    return Devices((), tuple(notes))


def _nvidia(run: Callable[[Sequence[str]], str | None], environ: Mapping[str, str]) -> list[Device]:
    text = run(["nvidia-smi", f"--query-gpu={NVIDIA_FIELDS}", "--format=csv,noheader,nounits"])
    found: dict[str, Device] = {}
    uuids: dict[str, str] = {}
    for row in (text or "").splitlines():
        cells = [cell.strip() for cell in row.split(",")]
        if len(cells) != len(NVIDIA_FIELDS.split(",")):
            continue
        index, uuid, name, _, memory, capability, mig = cells
        size = float(memory) * MIB / GIB if re.fullmatch(r"[0-9.]+", memory) else None
        found[index] = Device("nvidia-smi", name, size, capability, mig=mig.lower() == "enabled")
        uuids[uuid] = index
    return _visible(found, environ.get("CUDA_VISIBLE_DEVICES"), uuids)


def _visible(found: Mapping[str, Device], listed: str | None, uuids: Mapping[str, str]) -> list[Device]:
    """Devices of a visibility list; what stands behind an unknown one is hidden, as the runtimes do."""
    if listed is None:
        return list(found.values())
    chosen = []
    for word in (word.strip() for word in listed.split(",")):
        index = (
            word
            if word in found
            else next((i for u, i in uuids.items() if word and u.startswith(word)), None)
        )
        if index is None:
            break
        chosen.append(found[index])
    return chosen


def _rocm(run: Callable[[Sequence[str]], str | None], environ: Mapping[str, str]) -> list[Device]:
    text = run(["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"])
    if not text:
        return []
    found: dict[str, Device] = {}
    for card, facts in json.loads(text).items():
        if not card.startswith("card") or not isinstance(facts, dict):
            continue
        words = {key.lower(): str(value) for key, value in facts.items()}
        name = words.get("card series") or words.get("card model") or card
        memory = next((v for k, v in words.items() if "vram total memory" in k), "")
        size = float(memory) / GIB if memory.isdigit() else None
        found[card.removeprefix("card")] = Device("rocm-smi", name, size, arch=words.get("gfx version"))
    return _visible(found, environ.get("HIP_VISIBLE_DEVICES"), {})


def _metal(run: Callable[[Sequence[str]], str | None]) -> list[Device]:
    if sys.platform != "darwin":
        return []
    name = (run(["sysctl", "-n", "machdep.cpu.brand_string"]) or "").strip()
    if not name.startswith("Apple"):
        return []
    size = (run(["sysctl", "-n", "hw.memsize"]) or "").strip()
    return [Device("metal", name, int(size) / GIB if size.isdigit() else None, cores=os.cpu_count())]


def _cpu(cpuinfo: Path) -> list[Device]:
    try:
        text = cpuinfo.read_text(errors="replace")
    except FileNotFoundError:
        return []
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            values.setdefault(name.strip(), value.strip())
    name = values.get("model name") or values.get("Processor") or values.get("CPU part") or "unknown"
    flags = frozenset((values.get("flags") or values.get("Features") or "").split())
    return [Device("cpu", name, _memory(cpuinfo.with_name("meminfo")), flags=flags, cores=os.cpu_count())]


def _memory(meminfo: Path) -> float | None:
    try:
        match = re.search(r"MemTotal:\s*(\d+) kB", meminfo.read_text())
    except OSError:
        return None
    return int(match.group(1)) * KIB / GIB if match else None


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
