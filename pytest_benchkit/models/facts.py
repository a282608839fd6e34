"""What is known about a model server: :class:`ServerFacts`, and the careful client that asks for it."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_benchkit.models import jsonlib, transport
from pytest_benchkit.models.faults import quote
from pytest_benchkit.models.figures import positive

if TYPE_CHECKING:
    import httpx

ANSWER_TIMEOUT_S = 5.0
ANSWER_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class ServerFacts:
    """The server's answers about itself and about one model. ``None`` is unknown, never a guess.

    ``root``: the address without ``/v1``. ``listing``: ids in the server's order, ``None`` when it has no
    listing. ``capacity``: parallel requests; ``window``: tokens of one request (of one slot);
    ``trained_window``: what the model was trained for, never used as the window. ``tokenize``,
    ``apply_template``, ``unload``: routes under ``root``. ``num_ctx``: the window that Ollama is asked for.
    ``sources`` says which answer a number came from; ``notes`` what went wrong on the way; ``requests``
    how many were sent.
    """

    root: str
    served_id: str
    flavour: str = "openai"
    listing: tuple[str, ...] | None = None
    loaded: bool | None = None
    capacity: int | None = None
    window: int | None = None
    num_ctx: int | None = None
    trained_window: int | None = None
    tokenize: str | None = None
    apply_template: str | None = None
    template_sha256: str | None = None
    build: str | None = None
    model_file: str | None = None
    quantization: str | None = None
    digest: str | None = None
    unload: str | None = None
    images: bool | None = None
    decision: bool | None = None
    sources: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    requests: int = 0

    def number(self, name: str, value: Any, source: str) -> None:
        """Sets a number that is not known yet; a value that is no positive integer is noted once (M-9)."""
        if value is None or getattr(self, name) is not None:
            return
        if (good := positive(value)) is None:
            self.note(f"{source} is {quote(repr(value), 40)}, not a positive whole number: ignored")
            return
        setattr(self, name, good)
        self.sources[name] = source

    def word(self, name: str, value: Any) -> None:
        """Sets a text that is not known yet, made safe to print."""
        if isinstance(value, str) and value and getattr(self, name) is None:
            setattr(self, name, quote(value, 200))

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a server. ``error`` is why there is none; ``connected`` whether a server was there."""

    status: int = 0
    value: Any = None
    error: str | None = None
    connected: bool = True

    @property
    def object(self) -> Mapping[str, Any]:
        """The JSON object of a successful answer, else an empty one."""
        return self.value if self.status == 200 and isinstance(self.value, Mapping) else {}

    @property
    def items(self) -> list[Any]:
        return self.value if self.status == 200 and isinstance(self.value, list) else []


class Prober:
    """Asks one server for small JSON documents; never raises for what it answers or does not."""

    def __init__(
        self, root: str, headers: Mapping[str, str], *, connect_timeout: float, verify: bool | str
    ) -> None:
        self.root = root
        self.count = 0
        self.tried: list[str] = []
        self._connect_timeout = connect_timeout
        self._client = _client(root, headers, connect_timeout, verify)

    async def get(self, path: str) -> Answer:
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Any) -> Answer:
        return await self._ask("POST", path, body)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _ask(self, method: str, path: str, body: Any) -> Answer:
        import httpx

        self.count += 1
        if path not in self.tried:
            self.tried.append(path)
        try:
            async with asyncio.timeout(self._connect_timeout + ANSWER_TIMEOUT_S):
                async with self._client.stream(method, self.root + path, json=body) as response:
                    data = bytearray()
                    async for piece in response.aiter_bytes():
                        data += piece
                        if len(data) > ANSWER_BYTES:
                            return Answer(response.status_code, error=f"{path} answers more than 4 MiB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return Answer(error=reason_of(error, self._connect_timeout), connected=False)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            return Answer(error=f"{path}: {type(error).__name__} {quote(str(error), 200)}".strip())
        try:
            return Answer(response.status_code, jsonlib.loads(bytes(data)))
        except ValueError:
            return Answer(response.status_code, error=f"{path} answers {response.status_code} without JSON")


def is_loopback(url: str) -> bool:
    """Whether the host of an address is this machine."""
    return transport.is_loopback(urlsplit(url).hostname or "")


def reason_of(error: BaseException, connect_timeout: float) -> str:
    """The operating system's reason for a connection that did not come about."""
    import ssl

    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {connect_timeout:g} s"
    todo: list[BaseException | None] = [error]
    while todo:
        current = todo.pop()
        if current is None:
            continue
        if isinstance(current, OSError) and current.errno is not None:
            # asyncio words the system's errors its own way; those of TLS and of names have no better text.
            if current.errno in errno.errorcode and not isinstance(current, ssl.SSLError):
                return os.strerror(current.errno)
            return quote(str(current.strerror), 200)
        todo += [current.__context__, current.__cause__]
        todo += getattr(current, "exceptions", ())
    return quote(str(error), 200) or type(error).__name__


def _client(
    root: str, headers: Mapping[str, str], connect_timeout: float, verify: bool | str
) -> httpx.AsyncClient:
    import httpx

    trust: Any = None  # no TLS context is made for plain http
    if root.startswith("https:"):
        import ssl

        trust = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else verify
    return httpx.AsyncClient(
        headers={"User-Agent": "pytest-benchkit", **headers, "Accept-Encoding": "identity"},
        timeout=httpx.Timeout(ANSWER_TIMEOUT_S, connect=connect_timeout),
        verify=trust,
        trust_env=not is_loopback(root),
    )
