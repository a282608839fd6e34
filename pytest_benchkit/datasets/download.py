"""Files over HTTP: resumed, retried, hashed while they stream, renamed only when they are right.

Imported only when something must be downloaded, because it loads the HTTP library.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx

from pytest_benchkit.datasets.cache import CHUNK, locked, replacing, sha256_file, unwritable
from pytest_benchkit.datasets.wheels import Say, by_hand
from pytest_benchkit.errors import DataDamaged, DataMissing

if TYPE_CHECKING:
    from pytest_benchkit.datasets.files import HubFile, WebFile, ZippedFile

TRIES = 5
FIRST_WAIT_S = 1.0
"""Wait before the second try; doubled each time, replaced by what the server asks for up to a minute."""
MAX_WAIT_S = 60.0
HOPS = 5
TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class _AgainError(Exception):
    """A try that may be repeated: why, and how long the server asked to wait."""

    def __init__(self, why: str, wait: float | None = None, lasting: bool = False) -> None:
        super().__init__(why)
        self.wait = wait
        self.lasting = lasting


def web_file(file: WebFile, target: Path, say: Say) -> str:
    """Puts a pinned file at ``target``; gives the word for how it was verified (see :func:`hub_file`). Raises
    :class:`DataMissing` or :class:`DataDamaged`."""
    with locked(target):
        if file.sha256 is None:
            return _put_there(file, target, say)
        if target.is_file() and sha256_file(target) == file.sha256:
            say(f"{target.name}: already there")
        else:
            _Transfer(file.url, target, say, file.sha256, file.bytes).run(file.sha256)
        return "pinned"


def _put_there(file: WebFile, target: Path, say: Say) -> str:
    """A file that has no pinned hash: as a person put it, or not at all."""
    if not target.is_file():
        raise DataMissing(
            f"{target.name} has no pinned hash yet, so it is not downloaded: look at {file.url}, and put the "
            f"file at {target} by hand if you trust it"
        )
    if file.bytes is not None and target.stat().st_size != file.bytes:
        raise DataDamaged(f"{target} does not have the {file.bytes:,} bytes that {file.url} has")
    say(f"{target.name}: put there by hand, no hash is pinned; rows are checked")
    return "by-hand"


def hub_file(file: HubFile, target: Path, say: Say) -> str:
    """Puts a hub file at ``target``; gives the word for how it was verified.

    ``pinned``: by the catalog's hash; ``declared``: by the hash that the hub declares for the file at
    that commit; ``by-hand``: it lay there, and the hub could not be asked. ``HF_TOKEN`` is sent to the
    hub's own host only, never to where it redirects. Raises :class:`DataMissing`, :class:`DataDamaged`.
    """
    with locked(target):
        if target.is_file() and file.sha256 is not None and sha256_file(target) == file.sha256:
            say(f"{target.name}: already there")
            return "pinned"
        transfer = _Transfer(file.url, target, say, file.sha256, file.bytes, os.environ.get("HF_TOKEN"))
        if target.is_file() and file.sha256 is None:
            return _kept(file, target, transfer, say)
        transfer.run(file.sha256)
        return "pinned" if file.sha256 is not None else "declared"


def unzipped(file: ZippedFile, archive: Path) -> Path:
    """The member of a verified archive, unpacked beside it. Raises :class:`DataDamaged`."""
    target = archive.with_name(archive.name + ".d") / PurePosixPath(file.member).name
    try:
        with (
            zipfile.ZipFile(archive) as zipped,
            zipped.open(file.member) as source,
            replacing(target) as partial,
            partial.open("wb") as out,
        ):
            while block := source.read(CHUNK):
                out.write(block)
    except KeyError:
        raise DataDamaged(f"{file.archive.url} has no member {file.member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataDamaged(f"{file.archive.url} is not a readable archive: {error}") from error
    return target


def _kept(file: HubFile, target: Path, transfer: _Transfer, say: Say) -> str:
    """What a file that lies in place without a pinned hash is worth."""
    try:
        declared = transfer.ask()
    except DataMissing:
        say(f"{target.name}: put there by hand and the hub cannot be asked for its hash; rows are checked")
        return "by-hand"
    if declared is not None and _matches(target, declared):
        say(f"{target.name}: already there")
        return "declared"
    transfer.run(None)
    return "declared"


class _Transfer:
    """One file on its way: address, partial file, and what the server declared about it."""

    def __init__(
        self, url: str, target: Path, say: Say, sha256: str | None, size: int | None, token: str | None = None
    ) -> None:
        self.url = url
        self.target = target
        self.say = say
        self.sha256 = sha256
        self.size = size
        self.token = token
        self.partial = target.with_name(target.name + ".part")
        self.declared: str | None = None

    def run(self, pinned: str | None) -> None:
        """Downloads, checks and renames."""
        size = f", {self.size:,} bytes" if self.size else ""
        self.say(f"downloading {self.target.name} from {urlsplit(self.url).hostname}{size}")
        with httpx.Client(timeout=TIMEOUT, headers={"accept-encoding": "identity"}) as client:
            self._persist(client)
        wanted = pinned or self.declared
        if wanted is None:
            self.partial.unlink()
            raise DataDamaged(
                f"{self.url} is not pinned, and the server declares no hash of it: not installed"
            )
        if not _matches(self.partial, wanted):
            found = sha256_file(self.partial)
            self.partial.unlink()
            raise DataDamaged(f"{self.url} has sha256 {found}, not the expected {wanted}: not installed")
        try:
            self.partial.replace(self.target)
        except OSError as error:
            raise unwritable(self.target, error) from error
        self.say(f"{self.target.name}: {self.target.stat().st_size:,} bytes, hash verified")

    def ask(self) -> str | None:
        """The hash that the server declares for the file, without its content."""
        with httpx.Client(timeout=TIMEOUT) as client:
            try:
                response = client.head(self.url, headers=self._headers(self.url, 0))
            except httpx.HTTPError as error:
                raise self._missing(_told(error)) from error
            if response.status_code >= 400:
                raise self._missing(f"HTTP {response.status_code}")
            return _declared(response)

    def _persist(self, client: httpx.Client) -> None:
        wait = FIRST_WAIT_S
        for tried in range(1, TRIES + 1):
            try:
                self._attempt(client)
                return
            except _AgainError as again:
                # A host that cannot be reached at all is tried twice, so that offline is told soon.
                if tried == TRIES or (again.lasting and tried == 2):
                    raise self._missing(str(again)) from again
                pause = min(again.wait if again.wait is not None else wait, MAX_WAIT_S)
                self.say(f"{self.target.name}: {again}; trying again in {pause:g} s")
                time.sleep(pause)
                wait *= 2
            except OSError as error:
                raise unwritable(self.partial, error) from error

    def _attempt(self, client: httpx.Client) -> None:
        url = self.url
        have = self.partial.stat().st_size if self.partial.is_file() else 0
        for _ in range(HOPS):
            try:
                with client.stream("GET", url, headers=self._headers(url, have)) as response:
                    if urlsplit(url).netloc == urlsplit(self.url).netloc:
                        self.declared = _declared(response) or self.declared
                    if response.is_redirect:
                        url = self._next(url, response.headers.get("location", ""))
                        continue
                    self._judge(response)
                    self._receive(response, have)
                    return
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                raise _AgainError(_told(error), lasting=True) from error
            except httpx.HTTPError as error:
                raise _AgainError(_told(error)) from error
        raise self._missing(f"it redirects more than {HOPS} times")

    def _headers(self, url: str, have: int) -> dict[str, str]:
        headers = {"range": f"bytes={have}-"} if have else {}
        if self.token and urlsplit(url).netloc == urlsplit(self.url).netloc:
            headers["authorization"] = f"Bearer {self.token}"
        return headers

    def _next(self, url: str, location: str) -> str:
        found = urljoin(url, location)
        if urlsplit(self.url).scheme == "https" and urlsplit(found).scheme != "https":
            raise self._missing("it redirects to an address without TLS")
        return found

    def _judge(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        if status == 416:
            # The partial file is as long as the whole or longer: it is not ours.
            self.partial.unlink(missing_ok=True)
            raise _AgainError("the partial file did not fit", wait=0.0)
        if status in (408, 429) or status >= 500:
            told = response.headers.get("retry-after", "")
            raise _AgainError(f"HTTP {status}", float(told) if re.fullmatch(r"[0-9]{1,6}", told) else None)
        if status in (401, 403):
            raise self._missing(
                f"HTTP {status}: accept the terms of the data set on its page and set HF_TOKEN to your token"
            )
        raise self._missing(f"HTTP {status}")

    def _receive(self, response: httpx.Response, have: int) -> None:
        resumed = response.status_code == 206
        if resumed and not response.headers.get("content-range", "").startswith(f"bytes {have}-"):
            self.partial.unlink(missing_ok=True)
            raise _AgainError("the server sent another part than asked for", wait=0.0)
        limit = self.size
        written = have if resumed else 0
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        with self.partial.open("ab" if resumed else "wb") as out:
            for block in response.iter_bytes(CHUNK):
                out.write(block)
                written += len(block)
                if limit is not None and written > limit:
                    break
            out.flush()
            os.fsync(out.fileno())
        if limit is not None and written != limit:
            self.partial.unlink()
            raise DataDamaged(f"{self.url} does not have the pinned {limit:,} bytes: not installed")

    def _missing(self, why: str) -> DataMissing:
        hand = by_hand(self.target.name, self.url, self.sha256, self.target)
        return DataMissing(f"cannot get {self.target.name} from {self.url} ({why}); {hand}")


def _declared(response: httpx.Response) -> str | None:
    """The content hash in the hub's headers: sha256 of a large file, or the git hash of a small one."""
    for name in ("x-linked-etag", "etag"):
        value = response.headers.get(name, "").removeprefix("W/").strip('"')
        if re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", value):
            return str(value)
    return None


def _matches(path: Path, wanted: str) -> bool:
    if len(wanted) == 64:
        return sha256_file(path) == wanted
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size)  # git's own hash of a file, not ours to choose
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest() == wanted


def _told(error: httpx.HTTPError) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
