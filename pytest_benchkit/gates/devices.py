"""The devices of this machine, as the tools of their vendors list them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROBE_TIMEOUT_S = 10.0
NVIDIA_FIELDS = "index,uuid,name,driver_version,memory.total,compute_cap,mig.mode.current"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
Runner = Callable[[Sequence[str]], str | None]
"""Runs a program and gives its output; ``None`` when it does not exist, ``OSError`` when it fails."""


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
    run: Runner = run_command,
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


def _nvidia(run: Runner, environ: Mapping[str, str]) -> list[Device]:
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


def _rocm(run: Runner, environ: Mapping[str, str]) -> list[Device]:
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


def _metal(run: Runner) -> list[Device]:
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
