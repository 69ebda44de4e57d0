"""Payload: what a route of the API is sent, as a record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import Depends, Request

from trajgrade.errors import unknown
from trajgrade.server import limits
from trajgrade.server.refusal import JSON, RefusedError

_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)


def payload_of(record: Any) -> Any:
    """Return a dependency that reads a request's body as a record.

    Args:
        record: The type of the record.
    """

    async def read(request: Request) -> Any:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise RefusedError("unsupported", f"JSON is needed, got {kind[:80]!r}", JSON)
        config = request.app.state.config
        body = await limits.body_of(request, config.max_body, config.body_timeout)
        limits.check_depth(body, config.max_depth)
        try:
            return msgspec.json.decode(body, type=record)
        except msgspec.ValidationError as wrong:
            fields = list(getattr(record, "__struct_fields__", ()))
            raise RefusedError("invalid", _fault(str(wrong), fields), fields or None) from None
        except (ValueError, RecursionError) as broken:
            raise RefusedError("unreadable", f"the body is no JSON: {broken}") from None

    return Depends(read)


def _fault(message: str, fields: Sequence[str]) -> str:
    """Return what is wrong with a body, with the field that was likely meant."""
    found = _UNKNOWN.fullmatch(message)
    return unknown("field", found[1][:200], fields) if found else message
