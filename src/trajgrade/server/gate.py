"""Gate: what every request must pass, and what every answer bears.

- `Host` names this server: an address, `localhost`, or a name that the settings allow. So a name
  that someone else's DNS points here, to have a browser speak to it as its own, gets nothing.
- What changes something and comes from a browser comes from a page of ours: `Origin`, or
  `Sec-Fetch-Site` without one, says so. A program sends neither.
- Nobody asks more often than the settings allow.
- An answer carries no script of others, is in no frame, is no other type than it says, and tells no
  other site where its reader came from.

The log of requests has no query, which may hold what is nobody else's business.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
from time import perf_counter
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trajgrade.server.cookies import VISITOR, set_cookie
from trajgrade.server.limits import Rates
from trajgrade.server.refusal import BROKEN, RefusedError
from trajgrade.server.settings import ServerConfig

log = logging.getLogger("trajgrade.access")
faults = logging.getLogger("trajgrade.server")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_BORNE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": "80", "https": "443"}
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:/@\s]+)(?::(?P<port>\d{1,5}))?")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,100}")
_MACHINES = ("/api/", "/v1/", "/healthz")


class Called(NamedTuple):
    """What a `Host` header, or an origin behind its scheme, names."""

    name: str
    port: str


def called(host: str, scheme: str) -> Called | None:
    """Read a `Host` header; None where it is none."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    return Called(found["name"].lower().rstrip("."), found["port"] or _PORTS.get(scheme, ""))


class Gate:
    """The application, behind what every request must pass.

    Args:
        app: The application.
        config: The settings.
        rates: How often each caller asked.
    """

    def __init__(self, app: ASGIApp, config: ServerConfig, rates: Rates) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower().rstrip(".") for name in config.hosts)}
        self._names |= {config.host.lower()} - {"", "0.0.0.0", "::"}  # noqa: S104 that is no name
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        headers = Headers(scope=scope)
        host = called(headers.get("host", ""), scope["scheme"])
        fresh = _visitor(scope, headers)
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                borne = MutableHeaders(scope=message)
                for name, value in _BORNE.items():
                    borne.setdefault(name, value)
                if fresh and host is not None:
                    set_cookie(borne, scope, VISITOR, fresh)
            await send(message)

        try:
            self._check(scope, headers, host)
        except RefusedError as refused:
            await refused.answer()(scope, receive, sending)
        else:
            try:
                await self._app(scope, receive, sending)
            except Exception:  # whatever of ours breaks, the answer bears what protects its reader
                if status:
                    raise  # a half answer cannot be mended
                faults.exception("%s %r", scope["method"], scope["path"][:200])
                answer = RefusedError("broken", BROKEN).answer()
                await answer(scope, receive, sending)
        finally:
            if log.isEnabledFor(logging.INFO):
                _tell(scope, status, perf_counter() - began)

    def _check(self, scope: Scope, headers: Headers, host: Called | None) -> None:
        """Refuse what may not come in.

        Raises:
            RefusedError: It may not.
        """
        client = scope.get("client")
        self._rates.take(f"address {client[0] if client else '-'}")
        if host is None or not self._is_ours(host.name):
            raise RefusedError(
                "not_allowed",
                "the Host header does not name this server; a name must be allowed by "
                "`server: {hosts: [NAME]}` in the config",
                sorted(self._names),
            )
        if scope["method"] not in _READING:
            _check_origin(headers, host)

    def _is_ours(self, name: str) -> bool:
        if name in self._names:
            return True
        try:  # no DNS points from one address to another
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


def _check_origin(headers: Headers, host: Called) -> None:
    origin = headers.get("origin")
    if origin is None:
        if headers.get("sec-fetch-site", "none") in {"none", "same-origin"}:
            return
    else:
        scheme, _, rest = origin.partition("://")
        if scheme in _PORTS and called(rest, scheme) in {host, Called(host.name, _PORTS[scheme])}:
            return
    raise RefusedError(
        "not_allowed", "the request comes from a page of another site", "the same origin"
    )


def _visitor(scope: Scope, headers: Headers) -> str:
    """Note the visitor of a page; return what a new one is to be known by, else nothing."""
    if scope["path"].startswith(_MACHINES):
        scope["trajgrade.visitor"] = ""
        return ""
    known = cookie_parser(headers.get("cookie", "")).get(VISITOR, "")
    fresh = "" if _TOKEN.fullmatch(known) else secrets.token_urlsafe(24)
    scope["trajgrade.visitor"] = fresh or known
    return fresh


def _tell(scope: Scope, status: int, seconds: float) -> None:
    client = scope.get("client")
    who = scope.get("trajgrade.who")
    log.info(
        "%s %s %r %s %.1f ms%s",
        client[0] if client else "-",
        scope["method"],
        scope["path"][:200],
        status,
        seconds * 1000,
        f" {who.name}" if who is not None and who.name else "",
    )
