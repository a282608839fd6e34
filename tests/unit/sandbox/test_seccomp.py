"""The system-call filter, run by an interpreter of its own language."""

from __future__ import annotations

import struct

import pytest

from pytest_benchkit.sandbox import seccomp

ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x50001, 0x50000 | 38, 0x50000 | 97
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the filter says to one call."""
    code = seccomp.program(machine)
    assert code is not None
    lines = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, MACHINES[machine][1] if audit is None else audit, 0, *padded)
    at, value = 0, 0
    while True:
        operation, then, otherwise, constant = lines[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif operation == 0x06:
            return int(constant)
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[
                operation
            ]
            at += then if holds else otherwise


@pytest.mark.parametrize("machine", MACHINES)
def test_listed_calls_are_refused_and_no_others(machine: str) -> None:
    column = MACHINES[machine][0]
    refused = {numbers[column] for numbers in seccomp.REFUSED.values()}
    special = {name: numbers[column] for name, numbers in seccomp.SPECIAL.items()}
    for number in range(470):
        if number not in special.values():
            assert verdict(machine, number) == (EPERM if number in refused else ALLOW)
    assert verdict(machine, special["clone3"]) == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_processes_yes_namespaces_no(machine: str) -> None:
    clone = seccomp.SPECIAL["clone"][MACHINES[machine][0]]
    threads, child = 0x3D0F00, 17
    assert verdict(machine, clone, threads) == verdict(machine, clone, child) == ALLOW
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, clone, bit | child) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_families_of_sockets_and_typing_into_terminals(machine: str) -> None:
    socket, ioctl = (seccomp.SPECIAL[name][MACHINES[machine][0]] for name in ("socket", "ioctl"))
    for family in range(46):
        assert verdict(machine, socket, family, 1) == (ALLOW if family in (1, 2, 10) else EAFNOSUPPORT)
    assert verdict(machine, ioctl, 0, 0x5412) == verdict(machine, ioctl, 0, 0x541C) == EPERM
    assert verdict(machine, ioctl, 0, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_a_process_sets_its_own_limits_only(machine: str) -> None:
    prlimit = seccomp.SPECIAL["prlimit64"][MACHINES[machine][0]]
    assert verdict(machine, prlimit, 0, 7) == ALLOW
    assert verdict(machine, prlimit, 2, 7) == EPERM


def test_calls_of_another_architecture_end_the_process() -> None:
    assert verdict("x86_64", 1, audit=0x40000003) == KILL
    assert verdict("x86_64", 0x40000000 + 59) == ENOSYS


def test_a_machine_without_a_table_has_no_filter() -> None:
    assert seccomp.program("riscv64") is None
