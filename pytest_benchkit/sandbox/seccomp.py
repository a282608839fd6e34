"""A system-call filter for the sandbox, as classic BPF (seccomp_data, ``linux/seccomp.h``).

Namespaces and lost capabilities are the boundary; this takes away the parts of the kernel that a Python
program has no use for and that past escapes went through. A refused call fails with EPERM; ``clone3`` with
ENOSYS, so that the C library falls back to ``clone``, whose flags can be looked at.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
ERROR = 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
NUMBER, MACHINE, FIRST, SECOND = 0, 4, 16, 24
"""Offsets in ``seccomp_data``: call number, architecture, low half of the first and second argument."""
X32 = 0x40000000
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
FAMILIES = (1, 2, 10)
"""Socket families that stay: unix, and the Internet's, of which the sandbox has its own empty network."""
TERMINAL_INPUT = (0x5412, 0x541C)
"""ioctl requests that type into a terminal: TIOCSTI, TIOCLINUX."""

# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h (arm64)
REFUSED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "clock_settime": (227, 112),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "migrate_pages": (256, 238),
    "unshare": (272, 97),
    "move_pages": (279, 239),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "clock_adjtime": (305, 266),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "inotify_init": (253, 26),  # arm64 has the next one only
    "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
    "statmount": (457, 457),
    "listmount": (458, 458),
}
SPECIAL = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "socket": (41, 198),
    "ioctl": (16, 29),
    "prlimit64": (302, 261),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the tables and ``AUDIT_ARCH`` value of each machine with a filter."""


def program(machine: str | None = None) -> bytes | None:
    """The filter as an array of ``struct sock_filter``; ``None`` on machines without one."""
    found = MACHINES.get(machine or platform.machine())
    if found is None:
        return None
    column, audit = found
    lines = [
        *_line(LOAD, MACHINE),
        *_line(JUMP_EQUAL, audit, 1, 0),
        *_line(RETURN, KILL),
        *_line(LOAD, NUMBER),
    ]
    if column == 0:  # the x32 interface has other numbers for the same calls
        lines += [*_line(JUMP_AT_LEAST, X32, 0, 1), *_line(RETURN, ERROR | ENOSYS)]
    for numbers in REFUSED.values():
        lines += _refuse(numbers[column], [], EPERM)
    lines += _refuse(SPECIAL["clone3"][column], [], ENOSYS)
    lines += _refuse(
        SPECIAL["clone"][column], [*_line(LOAD, FIRST), *_line(JUMP_ANY_BIT, NEW_NAMESPACES, 0, 1)], EPERM
    )
    behind = range(len(FAMILIES), 0, -1)
    families = [_line(JUMP_EQUAL, family, jump)[0] for family, jump in zip(FAMILIES, behind, strict=True)]
    lines += _refuse(SPECIAL["socket"][column], [*_line(LOAD, FIRST), *families], EAFNOSUPPORT)
    typing = [*_line(JUMP_EQUAL, TERMINAL_INPUT[0], 1, 0), *_line(JUMP_EQUAL, TERMINAL_INPUT[1], 0, 1)]
    lines += _refuse(SPECIAL["ioctl"][column], [*_line(LOAD, SECOND), *typing], EPERM)
    another = [*_line(LOAD, FIRST), *_line(JUMP_EQUAL, 0, 1, 0)]  # its own limits, not another process's
    lines += _refuse(SPECIAL["prlimit64"][column], another, EPERM)
    lines += _line(RETURN, ALLOW)
    return b"".join(lines)


def _line(code: int, value: int, then: int = 0, otherwise: int = 0) -> list[bytes]:
    """One instruction; ``then`` and ``otherwise`` are jumps forward after a comparison."""
    return [struct.pack("<HBBI", code, then, otherwise, value)]


def _refuse(number: int, condition: Iterable[bytes], error: int) -> list[bytes]:
    """For this call: fails with ``error`` where the condition falls through; a condition that jumps lands
    behind the refusal, and loads the call number anew."""
    lines = list(condition)
    if not lines:
        return [*_line(JUMP_EQUAL, number, 0, 1), *_line(RETURN, ERROR | error)]
    lines += [*_line(RETURN, ERROR | error), *_line(LOAD, NUMBER)]
    return [*_line(JUMP_EQUAL, number, 0, len(lines)), *lines]
