"""JSON text in and out, so that what was written comes back as it was.

In: msgspec's strict reading first. What it refuses but other programs write (NaN, 1e400, a
byte-order mark, lone surrogates) is read once more by the standard library, bounded in depth and
digits, and noted. A number beyond the largest float is the integer that it is: 1e400 and 1e500
differ.

Out: non-finite numbers and lone surrogates, which JSON has no place for, are written as text that
begins with `trajgrade:`; an object that JSON has no place for is written as its type and repr.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import msgspec

from trajgrade.errors import shorten

MAX_DIGITS = 4000

_TAG = "trajgrade:"
_FLOAT = _TAG + "float:"
_TEXT = _TAG + "text:"
_TAGGED = _TAG.encode()
_FINITE = frozenset({str, int, bool, type(None)})
_PLAIN = frozenset({str, int, bool, type(None), float, dict, list})
_decode = msgspec.json.Decoder().decode


def loads(text: str | bytes, notes: list[str] | None = None) -> Any:
    """Parse one JSON text.

    Args:
        text: The whole text.
        notes: Gets a sentence where the text is not RFC 8259 but was read all the same.

    Raises:
        ValueError: It is not JSON, is nested too deeply, or holds an integer of more than
            `MAX_DIGITS` digits.
    """
    try:
        return _decode(text)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    except ValueError as strict:
        value = _lenient(text)
        if notes is not None:
            notes.append(f"not strict JSON ({strict}); read leniently")
        return value


def _lenient(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", errors="surrogatepass")
    try:
        return json.loads(
            text.removeprefix("\ufeff"), parse_int=_bounded_int, parse_float=_exact_float
        )
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def _bounded_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits (at most {MAX_DIGITS} are read)")
    return int(digits)


def _exact_float(digits: str) -> float | int:
    """Return a number; one that a float would make infinite as the integer that it is."""
    value = float(digits)
    if math.isfinite(value):
        return value
    exact = Decimal(digits)
    if exact.adjusted() >= MAX_DIGITS or exact != exact.to_integral_value():
        raise ValueError(
            f"the number {shorten(digits, 40)}, too large to be read (at most {MAX_DIGITS} digits "
            "before the point, and none after it)"
        )
    return int(exact)


def dumps(value: Any, *, indent: int | None = None) -> bytes:
    """Write a value as JSON text that `read_back` returns equal.

    msgspec writes NaN as null and refuses lone surrogates; only a text that could hold either is
    walked and written again.
    """
    try:
        text = _encode(value)
    except (UnicodeEncodeError, TypeError, OverflowError):
        text = msgspec.json.encode(_tagged(value))
    else:
        if _TAGGED in text or (b"null" in text and not _is_finite(value)):
            text = msgspec.json.encode(_tagged(value))
    return msgspec.json.format(text, indent=indent) if indent is not None else text


def _is_finite(value: Any) -> bool:
    """Whether a null stands for a null only: there is no NaN, and nothing that could hold one."""
    stack = [value]
    while stack:
        item = stack.pop()
        members = item.values() if type(item) is dict else item if type(item) is list else None
        if members is None:
            if type(item) not in _PLAIN or (type(item) is float and not math.isfinite(item)):
                return False
        elif not _FINITE.issuperset(map(type, members)):
            stack.extend(members)
    return True


def read_back(text: str | bytes) -> Any:
    """Read what `dumps` wrote."""
    value = loads(text)
    marked = _TAGGED in text if isinstance(text, bytes) else _TAG in text
    return _untagged(value) if marked else value


def _stand_in(value: Any) -> Any:
    if isinstance(value, (frozenset, tuple)):
        return list(value)
    return shorten(value, 200)


_encode = msgspec.json.Encoder(enc_hook=_stand_in).encode


def _tagged(value: Any) -> Any:
    match value:
        case str():
            if value.startswith(_TAG) or not _encodable(value):
                return _TEXT + value.encode("unicode_escape").decode("ascii")
            return value
        case float() if not math.isfinite(value):
            return f"{_FLOAT}{value}"
        case None | bool() | int() | float():
            return value
        case dict():
            return {_tagged_key(key): _tagged(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_tagged(item) for item in value]
        case msgspec.Struct():
            return _tagged(msgspec.to_builtins(value, builtin_types=(), enc_hook=_stand_in))
        case _:
            return _tagged(_stand_in(value))


def _tagged_key(key: Any) -> str:
    tagged = _tagged(key if isinstance(key, str) else str(key))
    return str(tagged)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _untagged(value: Any) -> Any:
    match value:
        case str() if value.startswith(_FLOAT):
            return float(value.removeprefix(_FLOAT))
        case str() if value.startswith(_TEXT):
            return value.removeprefix(_TEXT).encode("ascii").decode("unicode_escape")
        case dict():
            return {_untagged(key): _untagged(item) for key, item in value.items()}
        case list():
            return [_untagged(item) for item in value]
        case _:
            return value
