"""Packing: records as bytes, and back, for places that nobody reads by eye.

MessagePack, because it has NaN and is written faster than JSON; what it has no place for (an
integer beyond 64 bits, a lone surrogate, an object of a foreign type) is packed as JSON text
instead. No record begins with the byte of `{`, so that the two are never mixed up.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from trajgrade.jsontext import dumps, read_back

Packed = TypeVar("Packed")

_TEXT = b"{"
_encode = msgspec.msgpack.Encoder().encode


def pack(record: Any) -> bytes:
    """Return a record, or a dict, as bytes."""
    try:
        return _encode(record)
    except (UnicodeEncodeError, TypeError, OverflowError):
        return dumps(record)


def unpack(packed: bytes, kind: type[Packed]) -> Packed:
    """Read what `pack` wrote.

    Raises:
        msgspec.ValidationError: It is not of that kind.
        ValueError: Nothing of what `pack` writes.
    """
    if packed.startswith(_TEXT):
        return msgspec.convert(read_back(packed), kind)
    return msgspec.msgpack.decode(packed, type=kind)


def plain(packed: bytes) -> Any:
    """Read what `pack` wrote as plain objects."""
    return unpack(packed, dict[str, Any])
