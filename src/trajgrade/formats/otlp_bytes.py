"""OTLP as bytes, protobuf messages `ExportTraceServiceRequest` → the objects of OTLP JSON.

That bytes are such a message is told from their outline: fields of number 1, one after the other,
to the last byte, which begin with a field of number 1 or 2 themselves. Messages in a row have their
length before each: in four bytes, the highest first (the file exporter of the OpenTelemetry
Collector with `format: proto`), or as a varint (what protobuf libraries call delimited).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trajgrade.errors import MalformedTraceError, MissingExtraError
from trajgrade.formats.otlp_message import object_of

_FIELD = 0x0A  # number 1, of a length that follows
_INNER = frozenset({0x0A, 0x12, 0x1A})
_VARINT = 10
_SIZE = 4

# What stands at a place: a length, and where that which is so long begins.
Length = Callable[[bytes, int], "tuple[int, int] | None"]


def are_spans(data: Any) -> bool:
    """Whether the bytes have the outline of resources with spans, in one message or several."""
    return isinstance(data, bytes) and bool(_messages(data))


def _messages(data: bytes) -> list[bytes]:
    """Return the messages that the bytes are; none where they are no such messages."""
    if _is_message(data):
        return [data]
    for length in (_size, _length):
        messages = _framed(data, length)
        if messages and all(map(_is_message, filter(None, messages))):
            return [message for message in messages if message]
    return []


def _framed(data: bytes, length: Length) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    while at < len(data):
        frame = length(data, at)
        if frame is None or sum(frame) > len(data):
            return []
        size, begin = frame
        at = begin + size
        found.append(data[begin:at])
        if len(found) == 1 and not _is_message(found[0]):
            return []  # soon told, for the many bytes that are something else
    return found


def _size(data: bytes, at: int) -> tuple[int, int] | None:
    begin = at + _SIZE
    return (int.from_bytes(data[at:begin]), begin) if begin <= len(data) else None


def _is_message(data: bytes) -> bool:
    if not data:
        return False
    at = 0
    while at < len(data):
        found = _length(data, at + 1) if data[at] == _FIELD else None
        if found is None:
            return False
        length, begin = found
        if length == 0 or begin + length > len(data) or data[begin] not in _INNER:
            return False
        at = begin + length
    return True


def _length(data: bytes, at: int) -> tuple[int, int] | None:
    value = 0
    for number, byte in enumerate(data[at : at + _VARINT]):
        value |= (byte & 0x7F) << (7 * number)
        if not byte & 0x80:
            return value, at + number + 1
    return None


def objects_in(data: bytes) -> list[dict[str, Any]]:
    """Return each message as OTLP JSON has it.

    Raises:
        MissingExtraError: The package that knows the message is not installed.
        MalformedTraceError: The bytes are no such message.
    """
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
    except ImportError:
        raise MissingExtraError("OTLP as protobuf", "opentelemetry-proto", "server") from None
    found: list[dict[str, Any]] = []
    for message in _messages(data) or [data]:
        request = service.ExportTraceServiceRequest()
        try:
            request.ParseFromString(message)
            found.append(object_of(request))
        except (DecodeError, ValueError, RecursionError) as broken:
            raise MalformedTraceError(f"no OTLP message: {broken}") from None
    return found
