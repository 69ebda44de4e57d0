"""Settings: what of the server may be set, and where its limits lie."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.evaluators.written import type_fault

MIB = 2**20

Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the server listens, and how much it takes.

    Attributes:
        host: The address that it binds to; any but a loopback one needs API keys.
        port: The port; 0 takes a free one.
        hosts: The names by which it may be called, beside addresses and `localhost`.
        max_body: Bytes of a request's body, as it comes.
        max_unpacked: Bytes of a body once it is unpacked.
        max_depth: How deep JSON may be nested.
        rate: Requests a second from one address, and with one key.
        backlog: Jobs that may wait before new traces are refused for a while.
        waiting: Pieces that may wait to be written before more are refused for a while.
        body_timeout: Seconds within which a body must have come.
        workers: How many work at the rules beside the server; 0 for none.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8000
    hosts: tuple[str, ...] = ()
    max_body: Count = 16 * MIB
    max_unpacked: Count = 64 * MIB
    max_depth: Count = 200
    rate: Seconds = 1000.0
    backlog: Count = 200_000
    waiting: Count = 5_000
    body_timeout: Seconds = 30.0
    workers: Annotated[int, msgspec.Meta(ge=0, le=64)] = 1

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


_TYPES = {field.name: field.type for field in msgspec.structs.fields(ServerConfig)}


def read_server(block: Any) -> ServerConfig:
    """Read the `server:` block of a config.

    Raises:
        ConfigError: Anything is wrong; holds all faults, each with its path.
    """
    if not isinstance(block, Mapping):
        raise ConfigError(f"server: an object is needed, got {shorten(block)}")
    faults = [
        f"server.{key}: {unknown('key', key, [*_TYPES])}" for key in block if key not in _TYPES
    ]
    found = [type_fault(key, _TYPES[key], block[key]) for key in block if key in _TYPES]
    faults += [f"server.{fault}" for fault in found if fault is not None]
    if faults:
        raise ConfigError(*faults)
    return msgspec.convert(dict(block), ServerConfig)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine as only itself can call it."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
