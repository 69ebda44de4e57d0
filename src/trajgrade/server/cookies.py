"""Cookies: what a browser is to keep for us; no script reads it, no other site makes it be sent."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Scope

from trajgrade.server.settings import is_loopback

VISITOR = "trajgrade_visitor"  # from which the tokens of forms are made
SESSION = "trajgrade_session"  # of who has logged in


def is_secure(scope: Scope) -> bool:
    """Whether cookies are for HTTPS alone: all but those of this machine with itself."""
    host = Headers(scope=scope).get("host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return scope["scheme"] == "https" or not is_loopback(name)


def set_cookie(headers: MutableHeaders, scope: Scope, name: str, value: str) -> None:
    """Have the sender of a request keep a cookie; or forget it, where the value is empty."""
    secure = "; Secure" if is_secure(scope) else ""
    ends = "" if value else "; Max-Age=0"
    headers.append("set-cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{ends}")
