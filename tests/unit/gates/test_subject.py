"""Recognising hardware: vectors 24 and 25."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.classes import HardwareClass, hardware_of
from pytest_benchkit.gates.devices import Device, Devices, probe
from pytest_benchkit.gates.discover import parse
from pytest_benchkit.gates.problems import Sink
from pytest_benchkit.gates.subject import classify, hardware_of_run, is_local
from tests.unit.gates.trees import entry, plant


def hardware(name: str, *rules: str) -> HardwareClass:
    text = "[hardware]\n" + "".join(f"[[hardware.match]]\n{rule}\n" for rule in rules)
    document, _ = parse(text, "x")
    sink = Sink("x")
    found = hardware_of(name, document.data or {}, sink)
    assert not sink.found
    return found


def gpu(name: str, memory: float | None = 80.0, **more: object) -> Device:
    return Device("nvidia-smi", name, memory, **more)  # type: ignore[arg-type]


H100 = hardware("h100", 'probe = "nvidia-smi"\ntokens_any = ["h100"]')
H200 = hardware("h200", 'probe = "nvidia-smi"\ntokens_any = ["h200"]')
A100 = hardware("a100sxm480gb")


def test_tokens_are_whole_words() -> None:
    assert isinstance(classify([H200], [gpu("NVIDIA GH200 480GB")]), Reason)
    assert classify([H200], [gpu("NVIDIA H200")]) == "h200"
    assert classify([A100], [gpu("NVIDIA A100-SXM4-80GB")]) == "a100sxm480gb"


def test_mixed_ambiguous_and_unknown() -> None:
    mixed = classify([H100, H200], [gpu("NVIDIA H100"), gpu("NVIDIA H200")])
    assert isinstance(mixed, Reason)
    assert mixed.code == "hardware-mixed"
    twin = hardware("h100b", 'probe = "nvidia-smi"\ntokens_any = ["h100"]')
    both = classify([H100, twin], [gpu("NVIDIA H100")])
    assert isinstance(both, Reason)
    assert both.code == "hardware-ambiguous"
    assert "h100b" in both.message
    unknown = classify([H100], [gpu("NVIDIA L4")])
    assert isinstance(unknown, Reason)
    assert unknown.code == "hardware-unknown"
    assert "l4" in unknown.message
    assert isinstance(classify([H100], []), Reason)


def test_the_most_specific_class_wins() -> None:
    plain = hardware("any-gpu", 'probe = "any"')
    large = hardware("h100-80", 'probe = "nvidia-smi"\ntokens_any = ["h100"]\nmin_memory_gib = 70')
    assert classify([plain, H100, large], [gpu("NVIDIA H100")]) == "h100-80"
    assert classify([plain, H100, large], [gpu("NVIDIA H100", 40)]) == "h100"
    assert classify([plain, H100, large], [gpu("NVIDIA L4")]) == "any-gpu"


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ('tokens_all = ["h100", "pcie"]', True),
        ('tokens_none = ["pcie"]', False),
        ('compute_capability = ["9.0"]', True),
        ('compute_capability = ["8.0"]', False),
        ('arch = ["gfx942"]', False),
        ("max_memory_gib = 79.5", False),
        ("devices = 1", True),
        ("devices = 2", False),
        ("min_devices = 2", False),
        ("min_cores = 1", False),
        ('cpu_flags_all = ["avx"]', False),
        ('tokens_any = ["mig"]', True),
    ],
)
def test_conditions(rule: str, fits: bool) -> None:
    device = gpu("NVIDIA H100 PCIe", compute_capability="9.0", mig=True)
    found = classify([hardware("c", f'probe = "nvidia-smi"\n{rule}')], [device])
    assert (found == "c") == fits


SMI = """0, GPU-aa, NVIDIA H100, 550.1, 81559, 9.0, Disabled
1, GPU-bb, NVIDIA H200, 550.1, 143771, 9.0, Enabled
"""
ROCM = """{"card0": {"Card Series": "Instinct MI300X", "VRAM Total Memory (B)": "206141652992",
 "GFX Version": "gfx942"}}"""


def test_probes(tmp_path: Path) -> None:
    asked: list[str] = []

    def nvidia(words: Sequence[str]) -> str | None:
        asked.append(words[0])
        return SMI if words[0] == "nvidia-smi" else None

    found = probe(nvidia, {}).devices
    assert [(d.name, d.mig, round(d.memory_gib or 0)) for d in found] == [
        ("NVIDIA H100", False, 80),
        ("NVIDIA H200", True, 140),
    ]
    assert asked == ["nvidia-smi"]
    assert [d.name for d in probe(nvidia, {"CUDA_VISIBLE_DEVICES": "1"}).devices] == ["NVIDIA H200"]
    swapped = probe(nvidia, {"CUDA_VISIBLE_DEVICES": "GPU-bb,GPU-aa"}).devices
    assert swapped[0].name == "NVIDIA H200"

    def rocm(words: Sequence[str]) -> str | None:
        if words[0] != "rocm-smi":
            raise OSError(f"{words[0]} is broken")
        return ROCM

    result = probe(rocm, {})
    assert result.notes == ("nvidia-smi is broken",)
    assert [(d.arch, round(d.memory_gib or 0)) for d in result.devices] == [("gfx942", 192)]

    (tmp_path / "cpuinfo").write_text("model name : Xeon\nflags : avx2 fma\n")
    (tmp_path / "meminfo").write_text("MemTotal:  2097152 kB\n")
    [cpu] = probe(lambda words: None, {}, tmp_path / "cpuinfo").devices
    assert (cpu.probe, cpu.name, cpu.memory_gib, "fma" in cpu.flags) == ("cpu", "Xeon", 2.0, True)


def test_where_a_model_is_served() -> None:
    assert is_local("http://127.0.0.1:8080/v1")
    assert is_local("http://localhost")
    assert is_local("http://[::1]:80")
    assert not is_local("http://192.0.2.1/v1")


def test_a_remote_server_says_nothing_of_this_machine(tmp_path: Path) -> None:
    tree = plant(tmp_path, entry("metrics.score = { min = 0.5 }"))

    def devices() -> Devices:
        return Devices((gpu("NVIDIA GB10"),))

    assert hardware_of_run(tree, None, ["http://127.0.0.1:1"], devices) == "gb10"
    remote = hardware_of_run(tree, None, ["http://192.0.2.1/v1"], devices)
    assert isinstance(remote, Reason)
    assert remote.code == "hardware-remote"
    assert hardware_of_run(tree, "hopper", ["http://192.0.2.1/v1"], devices) == "hopper"
