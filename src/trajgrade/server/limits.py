"""Limits: how much a request may hold, how deep it may be nested, how often one may ask."""

from __future__ import annotations

import asyncio
import math
import re
import threading
import zlib
from collections.abc import Callable
from time import monotonic

from fastapi import Request
from starlette.requests import ClientDisconnect

from trajgrade.server.refusal import RefusedError

_MOST_CALLERS = 10_000
# A string, whole; or what is neither a bracket nor the beginning of one.
_BESIDE_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^\[\]{}"]++', re.DOTALL)


class Rates:
    """How often each caller may ask: so many times a second, and as many at once.

    Args:
        rate: Requests a second.
        clock: Seconds, from any beginning.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._clock = clock
        self._lock = threading.Lock()
        self._left: dict[str, tuple[float, float]] = {}  # what is left, and when that was so

    def take(self, caller: str) -> None:
        """Count one request of a caller.

        Raises:
            RefusedError: There were too many; says in how many seconds to come back.
        """
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(caller, (self._most, now))
            left = min(self._most, left + (now - at) * self._rate)
            if len(self._left) >= _MOST_CALLERS:
                del self._left[next(iter(self._left))]  # asked longest ago
            self._left[caller] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            wait = max(1, math.ceil((1 - left) / self._rate))
            message = f"more than {self._rate:g} requests a second"
            raise RefusedError("too_many", message, f"{self._rate:g} a second", wait)


async def body_of(request: Request, most: int, seconds: float) -> bytes:
    """Return a request's body, as it comes.

    Args:
        request: The request.
        most: How many bytes it may have.
        seconds: Within which time it must be there.

    Raises:
        RefusedError: It has more, or is too slow.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise too_large(f"a body of {declared} bytes", most)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large("the body", most)
                parts.append(part)
    except TimeoutError:
        raise RefusedError("too_slow", f"the body did not come within {seconds:g} s") from None
    except ClientDisconnect:
        raise RefusedError("unreadable", "the sender left before the body was there") from None
    return b"".join(parts)


def too_large(what: str, most: int) -> RefusedError:
    """Return the refusal of what has too many bytes."""
    return RefusedError("too_large", f"{what} is too large", f"up to {most} bytes")


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """Return a body as it was before it was packed.

    Args:
        body: The body.
        encoding: The header `Content-Encoding`.
        most: How many bytes may come out.

    Raises:
        RefusedError: It is packed in another way, is broken, or would be too large.
    """
    named = encoding.strip().lower()
    if named in {"", "identity"}:
        return body
    if named not in {"gzip", "x-gzip", "deflate"}:
        raise RefusedError(
            "unsupported", f"the Content-Encoding {named[:40]!r} is not read here",
            ["gzip", "deflate", "identity"],
        )  # fmt: skip
    parts: list[bytes] = []
    size = 0
    rest = body
    try:
        while rest:  # of gzip, there may be several one after the other
            stream = zlib.decompressobj(zlib.MAX_WBITS | 32)
            while rest and not stream.eof:
                part = stream.decompress(rest, most - size + 1)
                rest = stream.unconsumed_tail
                size += len(part)
                if size > most:
                    raise too_large("the unpacked body", most)
                parts.append(part)
            if not stream.eof:
                raise RefusedError("unreadable", f"the body is cut-off {named}")
            rest = stream.unused_data
    except zlib.error as broken:
        raise RefusedError("unreadable", f"the body is no {named}: {broken}") from None
    return b"".join(parts)


def check_depth(body: bytes, most: int) -> None:
    """Refuse JSON that is nested too deeply, before it is read.

    Brackets inside texts count for nothing.

    Raises:
        RefusedError: It is.
    """
    if body.count(b"{") + body.count(b"[") <= most:
        return
    depth = 0
    for byte in _BESIDE_BRACKETS.sub(b"", body):
        if byte in b"{[":
            depth += 1
            if depth > most:
                raise RefusedError("too_large", "the JSON is nested too deeply", f"{most} levels")
        elif byte in b"}]":
            depth -= 1
