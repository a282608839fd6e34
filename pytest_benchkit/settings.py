"""Every engine setting, once: its type, default, option, environment variable, ini and profile name.

The class :class:`Settings` is the only table. Options, ini twins, ``BENCHKIT_*`` variables, profile keys
and the option reference are all derived from it. :func:`resolve` merges the layers and remembers where
each value came from. Every pytest run on the machine imports this file, so it generates no code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_benchkit.errors import UsageProblem

Parse = Callable[[object], Any]
"""Turns a raw value (text, or typed TOML) into the setting's; ``ValueError`` says what is allowed."""

LOOP_KILL = 1024
"""Words and marks for which a confirmed loop may go on."""
SECRET_NAME = re.compile(r"api[-_]?key|authorization|secret|passw|bearer|access[-_]?token", re.IGNORECASE)
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


def number(low: float, high: float = math.inf, what: str = "a number") -> Parse:
    def parse(raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
            raise ValueError(what)
        try:
            value = float(raw)
        except ValueError:
            raise ValueError(what) from None
        if not low <= value <= high:  # also refuses NaN
            raise ValueError(what)
        return value

    return parse


def whole(low: int, high: int = 2**31, what: str = "a whole number") -> Parse:
    def parse(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, (int, str)):
            raise ValueError(what)
        if isinstance(raw, str) and not re.fullmatch(r"\s*-?[0-9]+\s*", raw):
            raise ValueError(what)
        try:
            value = int(raw)
        except ValueError:
            raise ValueError(what) from None
        if not low <= value <= high:
            raise ValueError(what)
        return value

    return parse


def choice(*words: str) -> Parse:
    def parse(raw: object) -> str:
        value = {True: "on", False: "off"}.get(raw, raw) if isinstance(raw, bool) else raw
        if value not in words:
            raise ValueError("one of " + ", ".join(words))
        return str(value)

    return parse


def either(word: str, other: Parse, what: str) -> Parse:
    def parse(raw: object) -> Any:
        if raw == word:
            return word
        try:
            return other(raw)
        except ValueError:
            raise ValueError(what) from None

    return parse


def text(raw: object) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a text that is not empty")
    return raw


def json_object(raw: object) -> dict[str, Any]:
    if isinstance(raw, str):
        import json

        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise ValueError("a JSON object") from None
    if not isinstance(raw, dict):
        raise ValueError("a JSON object")
    for name in raw:
        if name in ("model", "messages", "stream"):
            raise ValueError(f"a JSON object without {name!r}, which is ours to set")
        if SECRET_NAME.search(str(name)):
            raise ValueError(f"a JSON object without {str(name)[:40]!r}: see api_key_env")
    import json

    try:
        json.dumps(raw, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise ValueError("a JSON object of plain JSON values") from None
    return raw


def header_table(raw: object) -> dict[str, str]:
    if not isinstance(raw, dict) or not all(isinstance(v, str) for v in raw.values()):
        raise ValueError("a table of texts")
    for name, value in raw.items():
        if SECRET_NAME.search(name):
            raise ValueError("headers without a key: name its environment variable with api_key_env")
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise ValueError("header names and values of printable ASCII")
        if name.lower() in ("content-length", "host", "transfer-encoding", "content-type"):
            raise ValueError(f"headers without {name}, which is ours to set")
    return {str(name): str(value) for name, value in raw.items()}


def tag_pairs(raw: object) -> str | list[tuple[str, str]]:
    if raw in ("auto", "none"):
        return str(raw)
    if isinstance(raw, list) and all(isinstance(p, list) and len(p) == 2 for p in raw):
        return [(str(p[0]), str(p[1])) for p in raw]
    raise ValueError("auto, none, or a list of [open, close] pairs")


def loop_limit(raw: object) -> int:
    """``on`` (1,024), ``off`` (0) or a number of symbols."""
    words = {True: LOOP_KILL, "on": LOOP_KILL, False: 0, "off": 0}
    if isinstance(raw, (bool, str)) and raw in words:
        return words[raw]
    limit: int = whole(1, what="on, off, or a number of words and marks from 1")(raw)
    return limit


def error_budget(raw: object) -> tuple[float, bool]:
    """``N`` tasks, or ``P%`` of the finished ones: (value, is it a share)."""
    value = str(raw).strip()
    try:
        if value.endswith("%"):
            share = float(value[:-1])
            if 0 <= share <= 100:
                return share / 100, True
        elif int(value) >= 0:
            return float(int(value)), False
    except ValueError:
        pass
    raise ValueError("a number of tasks, or a share such as 10%")


def price_table(raw: object) -> dict[str, float]:
    """USD per million tokens: ``input``, ``output`` and, if it differs, ``cached_input``."""
    what = "a table of input, output and, if it differs, cached_input, in USD per million tokens"
    if not isinstance(raw, dict) or not {"input", "output"} <= set(raw) <= {
        "input",
        "output",
        "cached_input",
    }:
        raise ValueError(what)
    if not all(type(v) in (int, float) and 0 <= v < math.inf for v in raw.values()):
        raise ValueError(what)
    return {name: float(value) for name, value in raw.items()}


class Definition:
    """One setting as a table row, for whoever makes options, docs or checks from it."""

    __slots__ = ("default", "help", "metavar", "name", "option", "parse", "profile")

    def __init__(
        self, default: Any, parse: Parse, metavar: str, about: str, profile: bool, option: bool
    ) -> None:
        self.name = ""
        self.default = default
        self.parse = parse
        self.metavar = metavar
        self.help = about
        self.profile = profile
        self.option = option

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def flag(self) -> str:
        return "--bench-" + self.name.replace("_", "-")

    @property
    def env(self) -> str:
        return "BENCHKIT_" + self.name.upper()

    @property
    def ini(self) -> str:
        return "bench_" + self.name


def _setting(
    default: Any, parse: Parse, metavar: str, about: str, *, profile: bool = True, option: bool = True
) -> Any:
    return Definition(default, parse, metavar, about, profile, option)


class Settings:
    """Resolved engine settings of one model. ``None`` = unset: the field is not sent, the suite decides.

    Takes values by keyword; a setting that is not given has its default.
    """

    def __init__(self, **values: Any) -> None:
        for definition in definitions():
            default = definition.default
            value = values.pop(definition.name, dict(default) if default == {} else default)
            setattr(self, definition.name, value)
        if values:
            raise TypeError(f"no setting {sorted(values)[0]!r}")

    base_url: str | None = _setting(
        None, text, "URL", "where the model is served; /v1 at the end is optional"
    )
    provider: str = _setting(
        "auto",
        choice("auto", "openai", "ollama", "llamacpp", "llama-swap", "vllm", "sglang", "lmstudio"),
        "NAME",
        "server family: auto (found out), openai, ollama, llamacpp, llama-swap, vllm, sglang, lmstudio",
    )
    api_key_env: str | None = _setting(
        None, text, "NAME", "environment variable that holds the key", option=False
    )
    timeout: float = _setting(
        600.0, number(0.001, what="seconds above 0"), "S", "deadline of one request, on the server's clock"
    )
    task_timeout: float | None = _setting(
        None, number(0.001, what="seconds above 0"), "S", "deadline of a whole task"
    )
    connect_timeout: float = _setting(
        5.0, number(0.001, 600, "seconds above 0"), "S", "one connection attempt"
    )
    wait: float = _setting(
        0.0, number(0, what="seconds"), "S", "how long to wait for a server that is starting", profile=False
    )
    inflight: int | str = _setting(
        "auto",
        either("auto", whole(1, 4096), "auto, or a number from 1 to 4096"),
        "N|auto",
        "requests in flight for one model, all processes together",
    )
    retries: int = _setting(3, whole(0, 100, "a number from 0 to 100"), "N", "extra tries when busy")
    connect_retries: int = _setting(
        3, whole(0, 100, "a number from 0 to 100"), "N", "extra tries when there is no connection"
    )
    retry_max_wait: float = _setting(
        60.0, number(0, what="seconds"), "S", "longest wait asked by a server that we follow", profile=False
    )
    max_errors: tuple[float, bool] = _setting(
        (0.1, True), error_budget, "N|P%", "errors of a model that end its part of the run", profile=False
    )
    temperature: float | None = _setting(0.0, number(0, 100), "T", "sampling temperature")
    top_p: float | None = _setting(None, number(0, 1, "a number from 0 to 1"), "P", "nucleus sampling")
    top_k: int | None = _setting(None, whole(0), "K", "top-k sampling")
    min_p: float | None = _setting(None, number(0, 1, "a number from 0 to 1"), "P", "min-p sampling")
    presence_penalty: float | None = _setting(None, number(-100, 100), "X", "presence penalty")
    frequency_penalty: float | None = _setting(None, number(-100, 100), "X", "frequency penalty")
    repetition_penalty: float | None = _setting(None, number(0, 100), "X", "repetition penalty")
    seed: int | None = _setting(0, whole(-(2**63), 2**63), "N", "sampling seed")
    max_tokens: int | None = _setting(None, whole(1), "N", "longest reply; default: the suite's, else 16384")
    thinking: str = _setting(
        "default",
        choice("default", "on", "off", "low", "medium", "high"),
        "MODE",
        "reasoning switch: default, on, off, low, medium, high",
    )
    system: str | None = _setting(None, text, "TEXT|@FILE", "system message before the suite's messages")
    context: int | None = _setting(None, whole(1), "N", "window per request, in tokens")
    extra_body: dict[str, Any] = _setting({}, json_object, "JSON", "merged last into each request")
    headers: dict[str, str] = _setting({}, header_table, "TABLE", "extra request headers", option=False)
    think_tags: str | list[tuple[str, str]] = _setting(
        "auto", tag_pairs, "PAIRS", "inline thinking tags: auto, none, or pairs", option=False
    )
    ca_file: str | None = _setting(None, text, "FILE", "certificate authority of the server", option=False)
    loop_kill: int = _setting(
        LOOP_KILL,
        loop_limit,
        "on|off|TOKENS",
        "end replies that go in circles: on, off, or how many words and marks a loop may last",
    )
    stream: str = _setting(
        "auto", choice("auto", "on", "off"), "MODE", "stream replies: on, off, auto (on up to 128 in flight)"
    )
    repair_attempts: int = _setting(
        0, whole(0, 10, "a number from 0 to 10"), "R", "rounds in which a missed task may be mended"
    )
    price: dict[str, float] = _setting(
        {}, price_table, "TABLE", "USD per million tokens: input, output, cached_input", option=False
    )
    budget_tokens: int | None = _setting(
        None, whole(1), "N", "tokens, read and written, after which nothing more is asked", profile=False
    )
    budget_usd: float | None = _setting(
        None,
        number(1e-9, what="a number above 0"),
        "USD",
        "money after which nothing more is asked",
        profile=False,
    )
    budget_seconds: float | None = _setting(
        None,
        number(0.001, what="seconds above 0"),
        "S",
        "wall time after which nothing more is asked",
        profile=False,
    )
    warmup: int = _setting(1, whole(0, 1, "0 or 1"), "0|1", "one tiny request before a model's first task")
    unload: str | None = _setting(
        None,
        choice("never", "between", "always"),
        "WHEN",
        "unload a model after its last task: never, between models, always; default: between for Ollama",
        profile=False,
    )
    store_prompts: str = _setting(
        "auto",
        choice("all", "auto", "none"),
        "MODE",
        "prompts in records: all, none, auto (up to 32 KiB)",
    )
    order: str = _setting(
        "expected",
        choice("expected", "collection"),
        "MODE",
        "order of asking: expected (longest first, where an earlier run tells), or collection",
        profile=False,
    )


SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
)


def definitions() -> Iterator[Definition]:
    """The rows of the table, in its order."""
    return (row for row in vars(Settings).values() if isinstance(row, Definition))


@dataclass(frozen=True, slots=True)
class Layer:
    """Raw values of one source. ``where(definition)`` names a value's place for messages and origins."""

    name: str
    values: Mapping[str, object]
    where: Callable[[Definition], str]


def resolve(layers: Sequence[Layer]) -> tuple[Settings, dict[str, str]]:
    """Merges layers, highest first, into (settings, origin of each value).

    A value ``None`` means that the layer does not speak of the setting. Every value of every layer is
    checked, also one that a higher layer hides. Raises :class:`UsageProblem` naming layer, key, value
    and what is allowed.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for definition in definitions():
        origins[definition.name] = "default"
        for layer in reversed(layers):
            raw = layer.values.get(definition.name)
            if raw is None:
                continue
            where = layer.where(definition)
            try:
                values[definition.name] = definition.parse(raw)
            except ValueError as error:
                # headers and bodies may hold what must not be shown
                value = "not usable" if definition.name in ("headers", "extra_body") else repr(raw)
                raise UsageProblem(f"{layer.name}: {where} is {value}; it takes {error}") from None
            origins[definition.name] = where
    return Settings(**values), origins


def check_profile_keys(name: str, table: Mapping[str, object]) -> None:
    """Refuses unknown and secret keys of ``[tool.pytest-benchkit.models.<name>]``."""
    known = [d.name for d in definitions() if d.profile] + ["model"]
    place = f"[tool.pytest-benchkit.models.{name}]"
    for key in table:
        if key in known:
            continue
        if key in ("api_key", "key", "token"):
            raise UsageProblem(
                f"{place} holds a secret under {key!r}: remove it and name an environment variable "
                "with api_key_env"
            )
        import difflib

        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "known keys: " + ", ".join(sorted(known))
        raise UsageProblem(f"{place} has the unknown key {key!r}; {hint}")
