"""Refusal: why a request is not done, as every door of the server says it.

{"error": {"kind": "too_large", "message": "…", "allowed": "up to 16777216 bytes"}}
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from starlette.responses import Response

from trajgrade.jsontext import dumps

Kind = Literal[
    "unreadable",
    "unknown_caller",
    "not_allowed",
    "not_found",
    "wrong_method",
    "too_slow",
    "conflict",
    "too_large",
    "unsupported",
    "invalid",
    "too_many",
    "broken",
    "unavailable",
]
STATUS: dict[Kind, int] = {
    "unreadable": 400,
    "unknown_caller": 401,
    "not_allowed": 403,
    "not_found": 404,
    "wrong_method": 405,
    "too_slow": 408,
    "conflict": 409,
    "too_large": 413,
    "unsupported": 415,
    "invalid": 422,
    "too_many": 429,
    "broken": 500,
    "unavailable": 503,
}
JSON = "application/json"
BROKEN = "this is a fault in trajgrade; the server's log says more"


class RefusedError(Exception):
    """A request that is not done.

    Args:
        kind: Why, in a word.
        message: Why, in a sentence.
        allowed: What would be done.
        retry_after: In how many seconds it may be asked again, None where that changes nothing.
    """

    def __init__(
        self, kind: Kind, message: str, allowed: Any = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.allowed = allowed
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The status code of the answer."""
        return STATUS[self.kind]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        found = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return found | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})

    def answer(self) -> Response:
        """Return the answer."""
        told = {"kind": self.kind, "message": self.message, "allowed": self.allowed}
        return answer({"error": told}, self.status, self.headers)


def answer(found: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return an answer in JSON; what is no number is null there."""
    try:
        text = msgspec.json.encode(found)
    except (UnicodeEncodeError, TypeError, OverflowError):
        text = dumps(found)
    return Response(text, status, headers, media_type=JSON)
