"""Plain data as bytes: what may cross the border between a candidate and its judge (PG-2).

One tag byte a value, little-endian lengths. Written in Python on both sides: ``pickle`` runs code and
``marshal`` trusts its input, and here the input is hostile. Types are looked up by ``type(value)`` and read
through the base type's own methods, so that no override of a subclass has a say.
"""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False  # typing costs more to import than all the rest of a worker's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST_BYTES = 8 << 20
"""Bytes of one value."""
MOST_DEPTH = 100
COUNT = struct.Struct("<I")
FLOAT = struct.Struct("<d")
COMPLEX = struct.Struct("<dd")
CONSTANTS = {b"N": None, b"T": True, b"F": False}
BASES = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
SERIES: dict[type, tuple[bytes, Callable[[Any], Any], Callable[[Any], int]]] = {
    list: (b"l", list.__iter__, list.__len__),
    tuple: (b"t", tuple.__iter__, tuple.__len__),
    set: (b"S", set.__iter__, set.__len__),
    frozenset: (b"Z", frozenset.__iter__, frozenset.__len__),
}
MAKERS: dict[bytes, Callable[[list[Any]], Any]] = {b"l": list, b"t": tuple, b"S": set, b"Z": frozenset}


class NotPlain(Exception):
    """A value that is no plain data, too deep or too large; the text says which."""


class Damaged(Exception):
    """Bytes that are no encoding of a value."""


def encode(value: object, most: int = MOST_BYTES) -> bytes:
    """The value as bytes. Subclasses of plain types are sent as their base value, numpy scalars as
    Python's. Raises :class:`NotPlain`."""
    out = bytearray()
    _write(value, out, 0, most)
    if len(out) > most:
        raise NotPlain("too large")
    return bytes(out)


def _write(value: Any, out: bytearray, depth: int, most: int) -> None:
    if depth > MOST_DEPTH:
        raise NotPlain("too deep")
    if len(out) > most:
        raise NotPlain("too large")
    kind = _base(type(value))
    if kind is type(None):
        out += b"N"
    elif kind is bool:
        out += b"T" if value else b"F"
    elif kind is int:
        _write_bytes(b"i", int.to_bytes(value, int.bit_length(value) // 8 + 1, "little", signed=True), out)
    elif kind is float:
        out += b"f" + FLOAT.pack(value)
    elif kind is complex:
        out += b"c" + COMPLEX.pack(*_parts(value))
    elif kind is str:
        _write_bytes(b"s", str.encode(value, "utf-8", "surrogatepass"), out)
    elif kind is bytes:
        _write_bytes(b"b", bytes.__getitem__(value, slice(None)), out)
    elif kind is dict:
        out += b"d" + COUNT.pack(dict.__len__(value))
        for key, item in dict.items(value):
            _write(key, out, depth + 1, most)
            _write(item, out, depth + 1, most)
    elif kind in SERIES:
        tag, items, length = SERIES[kind]
        out += tag + COUNT.pack(length(value))
        for item in items(value):
            _write(item, out, depth + 1, most)
    else:
        _write(_numpy_scalar(value), out, depth + 1, most)


def _parts(value: complex) -> tuple[float, float]:
    base = complex.__add__(value, 0j) if type(value) is not complex else value
    return base.real, base.imag


def _base(kind: type) -> type:
    """The plain type that a type is or inherits from; the type itself when there is none."""
    if kind is type(None) or kind in BASES:
        return kind
    return next((base for base in type.mro(kind) if base in BASES), kind)


def _numpy_scalar(value: Any) -> object:
    numpy = sys.modules.get("numpy")
    generic = getattr(numpy, "generic", None)
    if isinstance(generic, type) and generic in type.mro(type(value)):
        item: object = value.item()
        if type(item) is not type(value):
            return item
    raise NotPlain("not plain data")


def _write_bytes(tag: bytes, data: bytes, out: bytearray) -> None:
    out += tag + COUNT.pack(len(data)) + data


def decode(data: bytes) -> Any:
    """The value that was encoded. Raises :class:`Damaged` for anything else; runs nothing."""
    try:
        value, end = _read(data, 0, 0)
    except (struct.error, UnicodeDecodeError, TypeError) as error:  # short, no text, unhashable
        raise Damaged(str(error)) from None
    if end != len(data):
        raise Damaged("bytes left over")
    return value


def _read(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    if depth > MOST_DEPTH + 1:
        raise Damaged("too deep")
    tag = data[at : at + 1]
    at += 1
    if tag in CONSTANTS:
        return CONSTANTS[tag], at
    if tag == b"f":
        return FLOAT.unpack_from(data, at)[0], at + 8
    if tag == b"c":
        return complex(*COMPLEX.unpack_from(data, at)), at + 16
    (count,) = COUNT.unpack_from(data, at)
    at += 4
    if count > len(data) - at:  # every item takes a byte at least
        raise Damaged("short")
    if tag in b"isb":
        return _read_bytes(tag, data[at : at + count]), at + count
    if tag == b"d":
        pairs: dict[Any, Any] = {}
        for _ in range(count):
            key, at = _read(data, at, depth + 1)
            pairs[key], at = _read(data, at, depth + 1)
        return pairs, at
    if tag not in MAKERS:
        raise Damaged("unknown tag")
    items = []
    for _ in range(count):
        item, at = _read(data, at, depth + 1)
        items.append(item)
    return MAKERS[tag](items), at


def _read_bytes(tag: bytes, data: bytes) -> int | str | bytes:
    if tag == b"i":
        return int.from_bytes(data, "little", signed=True)
    if tag == b"s":
        return data.decode("utf-8", "surrogatepass")
    return data
