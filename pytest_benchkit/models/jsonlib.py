"""JSON: orjson where it is installed, the standard library elsewhere, one behaviour for both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_fast_loads: Callable[[bytes], Any] | None
_fast_dumps: Callable[[Any], bytes] | None
try:
    from orjson import dumps as _fast_dumps
    from orjson import loads as _fast_loads
except ImportError:
    _fast_loads = _fast_dumps = None


def loads(data: bytes) -> Any:
    """The value of a JSON text in UTF-8.

    orjson is stricter than the standard library (lone surrogates, huge integers), so what it refuses gets
    a second reading: the same bytes give the same value on every machine. Raises ValueError only.
    """
    if _fast_loads is not None:
        try:
            return _fast_loads(data)
        except ValueError:
            pass
    try:
        return json.loads(data.decode())
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8 of plain values. Raises TypeError or ValueError for what is not plain."""
    if _fast_dumps is not None:
        try:
            return _fast_dumps(value)
        except TypeError:
            pass  # integers above 64 bits, lone surrogates: the standard library knows what to do
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def mend(text: str) -> str:
    """Joins surrogates that two JSON strings tore apart; a single one is no text and becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
