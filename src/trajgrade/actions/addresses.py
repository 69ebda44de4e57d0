"""Addresses: where a webhook may go.

A rule's webhook carries what an agent said, and its target may be written by someone who may not
reach what this machine can. So nothing goes to a loopback, private, link-local or otherwise special
address, unless the host is allowed by name. A name is resolved once, every address that it has is
looked at, and the connection goes to the very address that was: a second answer of the name server
changes nothing. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from trajgrade.errors import ConfigError, shorten

_SCHEMES = {"http": 80, "https": 443}
_HEAD = 64 * 1024


class Target(NamedTuple):
    """Where a URL leads.

    Attributes:
        scheme: `http` or `https`.
        host: The host, as it is written.
        port: The port.
        path: Path and query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host and, where it is not the scheme's own, the port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _SCHEMES[self.scheme] else f"{host}:{self.port}"


class ForbiddenAddressError(OSError):
    """The target is an address that nothing may be sent to."""


def target_of(url: object) -> Target:
    """Read a URL.

    Raises:
        ConfigError: It is no http or https URL, or it holds a user name, or control characters.
    """
    fault = f"an http or https URL is needed, got {shorten(url)}"
    if not isinstance(url, str) or any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise ConfigError(fault)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(fault) from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ConfigError(fault)
    if parts.username is not None or parts.password is not None:
        raise ConfigError("a URL with a user name or password: put credentials into headers")
    path = parts.path or "/"
    return Target(
        parts.scheme,
        parts.hostname,
        port or _SCHEMES[parts.scheme],
        f"{path}?{parts.query}" if parts.query else path,
    )


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if inner is not None:
        return is_public(str(inner))
    teredo = getattr(found, "teredo", None)
    if teredo is not None:
        return False
    return found.is_global and not found.is_multicast


def address_of(target: Target, allowed: Collection[str] = ()) -> str:
    """Resolve a target's host, and return the address to connect to.

    Args:
        target: The target.
        allowed: Hosts that may have any address.

    Raises:
        ForbiddenAddressError: One of its addresses is not public.
        OSError: The host has no address.
    """
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if target.host.casefold() not in {host.casefold() for host in allowed}:
        special = [address for address in addresses if not is_public(address)]
        if special:
            raise ForbiddenAddressError(
                f"{target.host} is {special[0]}, which is no public address; name the host in "
                "allow_hosts if it is meant"
            )
    return addresses[0]


class Answered(NamedTuple):
    """What a target answered.

    Attributes:
        status: The HTTP status.
        headers: The headers, by lower-case name.
        body: The beginning of the body.
    """

    status: int
    headers: dict[str, str]
    body: bytes


def post(
    target: Target,
    body: bytes,
    headers: dict[str, str],
    *,
    allowed: Collection[str] = (),
    timeout: float = 10.0,
) -> Answered:
    """Send a body to a target.

    Args:
        target: Where it goes.
        body: What is sent.
        headers: The headers beside `Host` and `Content-Length`.
        allowed: Hosts that may have any address.
        timeout: How long each step may take, in seconds.

    Raises:
        ForbiddenAddressError: The target is no public address.
        OSError: It cannot be reached, or does not speak HTTP.
    """
    address = address_of(target, allowed)
    sock = socket.create_connection((address, target.port), timeout)
    connection = http.client.HTTPConnection(target.host, target.port, timeout=timeout)
    try:
        connection.sock = sock
        if target.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(sock, server_hostname=target.host)
        connection.request("POST", target.path, body, {"Host": target.authority, **headers})
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answered(response.status, found, response.read(_HEAD))
    except http.client.HTTPException as broken:
        raise OSError(f"no HTTP: {type(broken).__name__} {broken}") from None
    finally:
        connection.close()
        sock.close()
