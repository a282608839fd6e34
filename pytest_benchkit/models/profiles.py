"""From ``--bench-model NAME[@URL]`` to a :class:`ModelSpec`: profile, endpoint, key, settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.settings import HEADER_VALUE, Layer, Settings, check_profile_keys, resolve

DEFAULT_URL = "http://localhost:11434"
ADDRESS = re.compile(r"@((?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):\d+(?:/\S*)?)$")
"""``@host:port`` at the end: an address without its scheme."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model of a run, as asked for. ``kind``: ``http``, ``local``, ``demo``, or ``registered``."""

    name: str
    kind: str
    served_id: str
    settings: Settings
    origins: Mapping[str, str]
    base_url: str | None = None
    profile: str | None = None
    argument: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_origin: str | None = None

    @property
    def slug(self) -> str:
        """The name in node ids: ASCII, without characters that pytest or shells read specially."""
        return re.sub(r"[^A-Za-z0-9._]+", ".", self.name).strip(".") or "model"


def resolve_model(
    argument: str,
    *,
    command_line: Mapping[str, object],
    environ: Mapping[str, str],
    profiles: Mapping[str, object],
    ini: Mapping[str, object],
    registered: frozenset[str] = frozenset(),
) -> ModelSpec:
    """Resolves one ``--bench-model`` value through all layers (rules C-1 … C-7).

    Raises :class:`UsageProblem` for every malformed value, unknown profile key, key literal or URL.
    """
    name, url = _split(argument)
    table = profiles.get(name, {})
    place = f"[tool.pytest-benchkit.models.{name}]"
    if not isinstance(table, Mapping):
        raise UsageProblem(f"{place} must be a table")
    check_profile_keys(name, table)
    profile = {key: value for key, value in table.items() if key != "model"}
    served = table.get("model", name)
    if not isinstance(served, str) or not served:
        raise UsageProblem(f"{place} model is {served!r}; it takes the id that the server lists")
    settings, origins = resolve(
        [
            Layer("command line", {**command_line, **({"base_url": url} if url else {})}, lambda d: d.flag),
            Layer("environment", _from_environ(environ), lambda d: d.env),
            Layer("project file", profile, lambda d: f"{place} {d.name}"),
            Layer("ini file", ini, lambda d: d.ini),
        ]
    )
    word, _, rest = name.partition(":")
    common: dict[str, Any] = {"name": name, "settings": settings, "origins": origins}
    if table:
        common["profile"] = name
    elif name in registered:
        return ModelSpec(kind="registered", served_id=name, **common)
    elif word in ("demo", "local") and url is None:
        return ModelSpec(kind=word, served_id=name, argument=rest or None, **common)
    if settings.ca_file is not None and not Path(settings.ca_file).is_file():
        raise UsageProblem(f"{origins['ca_file']} names {settings.ca_file}, which is no file")
    base_url, from_openai = _base_url(settings, environ)
    key, key_origin = _api_key(settings, environ, base_url, from_openai)
    return ModelSpec(
        kind="http", served_id=served, base_url=base_url, api_key=key, key_origin=key_origin, **common
    )


def _split(argument: str) -> tuple[str, str | None]:
    name, at, url = argument.partition("@http")
    address = ("http" + url) if at else None
    if not at and "://" in argument:
        raise UsageProblem(f"--bench-model={argument!r}: an address must be http:// or https://")
    if not at and (found := ADDRESS.search(argument)):
        name, address = argument[: found.start()], f"http://{found.group(1)}"
    if not name.strip():
        raise UsageProblem(f"--bench-model={argument!r} names no model; write NAME or NAME@URL")
    return name.strip(), address


def _from_environ(environ: Mapping[str, str]) -> dict[str, object]:
    return {
        name[len("BENCHKIT_") :].lower(): value
        for name, value in environ.items()
        if name.startswith("BENCHKIT_") and value != ""
    }


def _base_url(settings: Settings, environ: Mapping[str, str]) -> tuple[str, bool]:
    """The endpoint's root without ``/v1``, and whether ``OPENAI_BASE_URL`` gave it."""
    given, from_openai = settings.base_url, False
    if given is None and (given := environ.get("OPENAI_BASE_URL")):
        from_openai = True
    if given is None and (host := environ.get("OLLAMA_HOST")):
        given = host if "://" in host else f"http://{host}"
    root = (given or DEFAULT_URL).rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(root)
        port_ok = parts.port is None or parts.port > 0
    except ValueError:
        raise UsageProblem("the base URL has a port that is not a number from 1 to 65535") from None
    if parts.username is not None or parts.password is not None:
        raise UsageProblem(
            "the base URL holds user info; remove it and name an environment variable with api_key_env"
        )
    if parts.query or parts.fragment:
        raise UsageProblem("the base URL has a query or a fragment; give the address alone")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_ok:
        raise UsageProblem(f"the base URL {root!r} is not an http(s) URL with a host")
    return root, from_openai


def _api_key(
    settings: Settings, environ: Mapping[str, str], base_url: str, from_openai: bool
) -> tuple[str | None, str | None]:
    """The key and the name of its variable. ``OPENAI_API_KEY`` goes to its own endpoint only (C-7)."""
    name: str | None = None
    if settings.api_key_env:
        name = settings.api_key_env
        if name not in environ:
            raise UsageProblem(f"api_key_env names {name}, which is not set in the environment")
    elif environ.get("BENCHKIT_API_KEY"):
        name = "BENCHKIT_API_KEY"
    elif environ.get("OPENAI_API_KEY") and (from_openai or urlsplit(base_url).hostname == "api.openai.com"):
        name = "OPENAI_API_KEY"
    if name is None:
        return None, None
    key = environ[name].strip()
    if not key or not HEADER_VALUE.fullmatch(key):
        raise UsageProblem(f"the environment variable {name} holds no usable key: printable ASCII is needed")
    return key, name
