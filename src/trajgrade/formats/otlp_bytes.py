"""OTLP as bytes, the protobuf message `ExportTraceServiceRequest` → the objects of OTLP JSON.

That bytes are such a message is told from their outline: fields of number 1, one after the other,
to the last byte, which begin with a field of number 1 or 2 themselves.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, MissingExtraError

_FIELD = 0x0A  # number 1, of a length that follows
_INNER = frozenset({0x0A, 0x12, 0x1A})
_VARINT = 10


def are_spans(data: Any) -> bool:
    """Whether the bytes have the outline of resources with spans."""
    if not isinstance(data, bytes) or not data:
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


def objects_in(data: bytes) -> dict[str, Any]:
    """Return the message as OTLP JSON has it.

    Raises:
        MissingExtraError: The package that knows the message is not installed.
        MalformedTraceError: The bytes are no such message.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
    except ImportError:
        raise MissingExtraError("OTLP as protobuf", "opentelemetry-proto", "server") from None
    request = service.ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
        found: dict[str, Any] = MessageToDict(request)
    except (DecodeError, ValueError, RecursionError) as broken:
        raise MalformedTraceError(f"no OTLP message: {broken}") from None
    return found
