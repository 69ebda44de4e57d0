"""`POST /v1/traces`: spans, as any OpenTelemetry exporter sends them by OTLP/HTTP.

Protobuf or JSON, packed with gzip or not; what comes back is in the form of what came. Spans that
belong to no trace are rejected, and the others kept: then the answer says how many, and why. What
may be sent again later is refused with 429 or 503 and `Retry-After`; what will never be taken, with
400, 413 or 415.
"""

from __future__ import annotations

import asyncio
from time import time
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from trajgrade import jsontext
from trajgrade.errors import StoreError, TrajgradeError
from trajgrade.server import limits, spans
from trajgrade.server.guard import check
from trajgrade.server.refusal import JSON, RefusedError
from trajgrade.server.settings import ServerConfig
from trajgrade.server.spans import Parted

router = APIRouter()

PROTOBUF = "application/x-protobuf"
_LARGE = 2**18  # bytes, from which on reading would keep other requests waiting
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 413: 3, 415: 3, 429: 8, 503: 14}  # of gRPC
_UNKNOWN = 2
_BACK_SOON = 5  # seconds


@router.post("/v1/traces", include_in_schema=False)
async def export(request: Request) -> Response:
    """Take the spans of one export."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    form = JSON if kind == JSON else PROTOBUF
    try:
        await check(request, "ingest")
        _check_kind(kind)
        parted = await parted_of(request, form)
        new = await asyncio.wrap_future(request.app.state.writer.offer(parted.pieces))
    except RefusedError as refused:
        return _refused(refused, form)
    except StoreError as broken:
        return _refused(RefusedError("unavailable", str(broken), retry_after=_BACK_SOON), form)
    request.app.state.counters.count(exports=1, pieces=len(new), rejected_spans=parted.rejected)
    return _accepted(parted, form)


def _check_kind(kind: str) -> None:
    if kind not in {JSON, PROTOBUF, "application/protobuf"}:
        message = f"the Content-Type {kind[:80]!r} is not read here"
        raise RefusedError("unsupported", message, [PROTOBUF, JSON])


async def parted_of(request: Request, form: str) -> Parted:
    """Return what a request brings.

    Raises:
        RefusedError: It cannot be read, or is beyond a limit.
    """
    config: ServerConfig = request.app.state.config
    body = await limits.body_of(request, config.max_body, config.body_timeout)
    encoding = request.headers.get("content-encoding", "")
    if len(body) < _LARGE:
        return _read(body, encoding, form, config)
    return await run_in_threadpool(_read, body, encoding, form, config)


def _read(body: bytes, encoding: str, form: str, config: ServerConfig) -> Parted:
    body = limits.unpacked(body, encoding, config.max_unpacked)
    if form == PROTOBUF:
        try:
            return spans.of_message(body, time())
        except TrajgradeError as absent:
            raise RefusedError("unsupported", str(absent), [JSON]) from None
    limits.check_depth(body, config.max_depth)
    try:
        document = jsontext.loads(body)
    except ValueError as broken:
        raise RefusedError("unreadable", f"the body is no JSON: {broken}") from None
    return spans.of_document(document, time())


def _accepted(parted: Parted, form: str) -> Response:
    if form == JSON:
        told: dict[str, Any] = {}
        if parted.rejected:
            told["partialSuccess"] = {
                "rejectedSpans": str(parted.rejected), "errorMessage": parted.reason,
            }  # fmt: skip
        return Response(msgspec.json.encode(told), media_type=JSON)
    if not parted.rejected:
        return Response(b"", media_type=PROTOBUF)
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

    answer = service.ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = parted.rejected
    answer.partial_success.error_message = parted.reason
    return Response(answer.SerializeToString(), media_type=PROTOBUF)


def _refused(refused: RefusedError, form: str) -> Response:
    """Return a refusal as the protocol has it, a `google.rpc.Status`."""
    code = _CODES.get(refused.status, _UNKNOWN)
    if form == JSON:
        error = {"kind": refused.kind, "message": refused.message, "allowed": refused.allowed}
        body = msgspec.json.encode({"code": code, "message": refused.message, "error": error})
    else:
        said = refused.message.encode("utf-8", "replace")
        body = b"\x08" + _varint(code) + b"\x12" + _varint(len(said)) + said
    return Response(body, refused.status, refused.headers, media_type=form)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])
