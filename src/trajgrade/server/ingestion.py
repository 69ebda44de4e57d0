"""`POST /api/traces`, and Potato's `POST /api/traces/webhook`: traces of any format.

Answered is once everything is in the store: for each trace whether it was accepted, is a repeat,
or is refused, and why. Some may be refused and others kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time
from typing import Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from trajgrade import jsontext
from trajgrade.server import limits, webhook
from trajgrade.server.documented import body, doc
from trajgrade.server.guard import needs
from trajgrade.server.incoming import Item, State, items_of
from trajgrade.server.refusal import RefusedError, answer
from trajgrade.server.settings import ServerConfig

router = APIRouter(dependencies=[needs("ingest")], tags=["ingestion"])

_TOLD = 1000  # characters of a reason


class Taken(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one trace of a request.

    Attributes:
        place: Its place in the request, from 0.
        state: Whether it was accepted, is a repeat, or is refused.
        ids: What names it, or the traces in it.
        why: Why it is refused, or a part of it.
    """

    place: int
    state: State
    ids: tuple[str, ...] = ()
    why: str = ""


class Receipt(msgspec.Struct, frozen=True):
    """What became of the traces of a request.

    Attributes:
        accepted: How many were accepted.
        repeated: How many had come before.
        refused: How many cannot be read.
        items: Each of them.
    """

    accepted: int
    repeated: int
    refused: int
    items: tuple[Taken, ...]


class Hooked(msgspec.Struct, frozen=True):
    """What Potato answers to a trace.

    Attributes:
        status: Always `accepted`.
        trace_id: What names the trace.
        steps: How many steps it has.
    """

    status: Literal["accepted"]
    trace_id: str
    steps: int


@router.post(
    "/api/traces",
    summary="Send traces of any format",
    **doc(Receipt, 400, 408, 413, 415, 422, 429, 503, sends=body("One trace, a list, JSON Lines")),
)
async def traces(request: Request) -> Response:
    """Keep traces: one, a list of such, or one on each line; in any format that trajgrade reads."""
    text = await _text(request)
    items = await run_in_threadpool(items_of, text, time())
    receipt = await _kept(request, items)
    if receipt.refused == len(items):
        told = {"kind": "invalid", "message": receipt.items[0].why, "allowed": None}
        return answer({"error": told, **msgspec.to_builtins(receipt)}, 422)
    return answer(receipt)


@router.post(
    "/api/traces/webhook",
    summary="Send one trace as Potato's webhook takes it",
    **doc(Hooked, 400, 408, 413, 415, 422, 429, 503, sends=body("Potato's trace, or any other")),
)
async def hook(request: Request) -> Response:
    """Keep one trace, in Potato's shape, LangSmith's runs, or any format that trajgrade reads."""
    text = await _text(request)
    try:
        payload = jsontext.read_back(text)
    except ValueError as broken:
        raise RefusedError("unreadable", f"the body is no JSON: {broken}") from None
    piece, steps = await run_in_threadpool(webhook.piece_of, payload, time())
    await _kept(request, [Item(0, (piece,))])
    return answer(Hooked("accepted", piece.trace_id, steps))


async def _text(request: Request) -> bytes:
    config: ServerConfig = request.app.state.config
    packed = await limits.body_of(request, config.max_body, config.body_timeout)
    encoding = request.headers.get("content-encoding", "")
    return await run_in_threadpool(_read, packed, encoding, config)


def _read(packed: bytes, encoding: str, config: ServerConfig) -> bytes:
    text = limits.unpacked(packed, encoding, config.max_unpacked)
    limits.check_depth(text, config.max_depth)
    return text


async def _kept(request: Request, items: Sequence[Item]) -> Receipt:
    pieces = [piece for item in items for piece in item.pieces]
    new = iter(await asyncio.wrap_future(request.app.state.writer.offer(pieces)))
    found = tuple(_taken(item, [next(new) for _ in item.pieces]) for item in items)
    counts = {state: sum(one.state == state for one in found) for state in _STATES}
    request.app.state.counters.count(requests=1, pieces=len(pieces), refused=counts["refused"])
    return Receipt(**counts, items=found)


_STATES: tuple[State, ...] = ("accepted", "repeated", "refused")


def _taken(item: Item, new: list[bool]) -> Taken:
    why = item.why[:_TOLD]
    if not item.pieces:
        return Taken(item.place, "refused", why=why)
    ids = tuple(dict.fromkeys(piece.trace_id for piece in item.pieces))
    if item.rejected:
        why = f"{item.rejected} spans belong to no trace"
    return Taken(item.place, "accepted" if any(new) else "repeated", ids, why)
