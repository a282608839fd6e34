"""The one place where values from users become plain JSON, before any channel or file (J-11)."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, TypeAlias

Json: TypeAlias = Any
DEEPEST = 50
LEAST, MOST = -(2**63), 2**64 - 1
"""Integers that every reader of JSON gives back as they are; others are kept as text."""


def plain(value: object, _depth: int = 0) -> Json:
    """``value`` as None, bool, int, float, str, list or dict with string keys, of exactly these types.

    Paths, enums, decimals, dates, data classes, bytes, sets and subclasses are taken to their nearest
    plain form; not-finite numbers, integers beyond 64 bits and anything unknown become text. Never raises.
    """
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        return value
    if kind is int:
        return value if LEAST <= value <= MOST else _digits(value)  # type: ignore[operator]
    if kind is float:
        return value if math.isfinite(value) else str(value)  # type: ignore[arg-type]
    if _depth >= DEEPEST:
        return _text(value)
    deeper = _depth + 1
    if isinstance(value, enum.Enum):
        return plain(value.value, deeper)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return plain(int(value), deeper)
    if isinstance(value, float):
        return plain(float(value), deeper)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item, deeper) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, deeper) for item in value]
    if isinstance(value, AbstractSet):
        return sorted((plain(item, deeper) for item in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), deeper) for f in dataclasses.fields(value)}
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    item = getattr(value, "item", None)  # numpy scalars
    if callable(item):
        try:
            return plain(item(), deeper)
        except Exception:
            return _text(value)
    return _text(value)


def _key(key: object) -> str:
    value = plain(key)
    return value if isinstance(value, str) else json.dumps(value)


def _digits(value: object) -> str:
    """Its digits; of a number with thousands of them, which Python refuses to write out, hexadecimal ones."""
    try:
        return str(value)
    except ValueError:
        return hex(value)  # type: ignore[arg-type]


def _text(value: object) -> str:
    try:
        return str.__str__(str(value))[:1000]
    except Exception:
        return f"<{type(value).__name__}>"


def line(value: object) -> bytes:
    """One JSON line ending in LF: UTF-8, lone surrogates as ``\\ud800`` escapes, no NaN or Infinity."""
    try:
        import orjson

        return orjson.dumps(value) + b"\n"
    except (ImportError, TypeError):  # TypeError: surrogates, integers beyond 64 bits
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Python's backslash escape of a surrogate is JSON's own
        return text.encode("utf-8", "backslashreplace") + b"\n"


def parse(data: bytes) -> Any:
    """JSON from bytes; ``ValueError`` when it is none. Escaped lone surrogates are kept."""
    try:
        import orjson

        return orjson.loads(data)
    except ImportError:
        return json.loads(data)
    except ValueError:
        return json.loads(data)
