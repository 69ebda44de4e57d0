"""Guard: who may do what, and forms that only our own pages can send.

A page's form carries a token that is made from the visitor's cookie; another site can read neither.
In a route:

    @router.get("/runs", dependencies=[needs("read")])
    def runs(request: Request) -> Response: ...

    @router.post("/reviews/{number}", dependencies=[needs("admin")])
    def label(form: Annotated[dict[str, str], Depends(checked_form)]) -> Response: ...
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from trajgrade.inbox import Scope
from trajgrade.server.cookies import SESSION, set_cookie
from trajgrade.server.keys import Keyring, Who
from trajgrade.server.limits import body_of
from trajgrade.server.refusal import RefusedError

FIELD = "csrf_token"
FORM = "application/x-www-form-urlencoded"

_MOST_BYTES = 2 * 2**20
_MOST_FIELDS = 200


def key_in(request: Request) -> str | None:
    """Return the key that a request shows; None where it shows none."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and given.strip():
        return given.strip()
    return request.headers.get("x-api-key") or None


async def caller(request: Request) -> Who | None:
    """Return who sends a request; None where that is nobody known."""
    ring: Keyring = request.app.state.keys
    if not ring.is_fresh:
        await run_in_threadpool(ring.refresh)
    return ring.who(key_in(request), request.cookies.get(SESSION))


async def check(request: Request, scope: Scope) -> Who:
    """Return who sends a request, if they may do what the scope stands for.

    Raises:
        RefusedError: Nobody known, or they may not.
    """
    who = await caller(request)
    if who is None:
        shown = "the key is not known here" if key_in(request) else "no API key was given"
        allowed = "a header `Authorization: Bearer KEY`, or `X-API-Key: KEY`"
        raise RefusedError("unknown_caller", shown, allowed)
    if not who.may(scope):
        has = ", ".join(sorted(who.scopes))
        raise RefusedError(
            "not_allowed", f"the key {who.name!r} has the scope {has}", f"a key with {scope}"
        )
    if who.name:
        request.app.state.rates.take(f"key {who.name}")
    request.scope["trajgrade.who"] = who
    return who


def needs(scope: Scope) -> Any:
    """Return a dependency: only who may do what the scope stands for gets on."""

    async def allowed(request: Request) -> Who:
        return await check(request, scope)

    return Depends(allowed)


def enter(request: Request, response: Response, key: str) -> bool:
    """Log in who shows a key; return whether it is one."""
    ring: Keyring = request.app.state.keys
    session = ring.log_in(key)
    if session is not None:
        set_cookie(response.headers, request.scope, SESSION, session)
    return session is not None


def leave(request: Request, response: Response) -> None:
    """Log out whoever sends a request."""
    ring: Keyring = request.app.state.keys
    if (session := request.cookies.get(SESSION)) is not None:
        ring.log_out(session)
    set_cookie(response.headers, request.scope, SESSION, "")


def csrf_token(request: Request) -> str:
    """Return the token that a form on this page must carry, as the field `csrf_token`."""
    visitor: str = request.scope["trajgrade.visitor"]
    secret: bytes = request.app.state.secret
    return hmac.new(secret, visitor.encode(), hashlib.sha256).hexdigest()


async def checked_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that one of our pages sent, without the token.

    Raises:
        RefusedError: It is too large, no form, or without the page's token.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise RefusedError("unsupported", f"a form is needed, got {kind[:80]!r}", FORM)
    body = await body_of(request, _MOST_BYTES, request.app.state.config.body_timeout)
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError as broken:
        raise RefusedError("unreadable", f"the form cannot be read: {broken}") from None
    fields = dict(pairs)
    token = fields.pop(FIELD, "")
    if not hmac.compare_digest(token.encode(), csrf_token(request).encode()):
        raise RefusedError(
            "not_allowed", "the form was not sent by a page of this server, or by an old one",
            "load the page again, and send the form from there",
        )  # fmt: skip
    return fields
