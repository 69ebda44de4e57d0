"""Serving: the application behind sockets, with its workers, until it is told to stop.

Told to stop, it takes no more requests, ends those that it has begun, and then its workers. What
was accepted is in the store by then, and is done by whoever works next.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import uvicorn
from fastapi import FastAPI

from trajgrade.automation.rules import Rules
from trajgrade.contracts import Store
from trajgrade.errors import ConfigError
from trajgrade.production import Inbox
from trajgrade.server.app import create_app
from trajgrade.server.settings import ServerConfig

_BACKLOG = 1024  # connections that wait for the server to take them
_AT_ONCE = 1000  # connections, beyond which 503 is answered
_IDLE = 30  # seconds for which a connection is kept that asks for nothing
_LAST = 30  # seconds within which requests that are begun must end


def serve(
    config: ServerConfig,
    store: Store,
    *,
    rules: Rules | None = None,
    workers: AbstractContextManager[Any] | None = None,
    told: Callable[[str], None] = lambda _: None,
    certificate: tuple[str, str] | None = None,
) -> None:
    """Serve until told to stop.

    Args:
        config: The settings.
        store: Where everything is kept.
        rules: What is done with what comes.
        workers: Who do it, while the context lasts.
        told: Called with the address once connections are taken.
        certificate: The files of a certificate and of its private key, for HTTPS.

    Raises:
        ConfigError: The address cannot be bound to, or needs API keys that do not exist.
    """
    if not config.is_local and not is_live(store.inbox):
        raise ConfigError(
            f"--host {config.host}: others could reach the server, and there is no API key: make "
            "one with `trajgrade serve keys add NAME --scope ingest`, or leave the host as it is"
        )
    app = create_app(config, store, rules=rules)
    listening = bound(config)
    settings = settings_of(app, certificate)
    server = uvicorn.Server(settings)
    with listening, workers or nullcontext():
        told(address_of(listening, is_https=certificate is not None))
        with _signals_ended_with():
            server.run(sockets=[listening])


@contextmanager
def _signals_ended_with() -> Iterator[None]:
    """Have a signal end the server alone: what is raised again after that ends not the process.

    So workers are told to stop, and waited for; a second signal then ends that, too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    former = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def settings_of(app: FastAPI, certificate: tuple[str, str] | None = None) -> uvicorn.Config:
    """Return how an application is served."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        limit_concurrency=_AT_ONCE,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_LAST,
        lifespan="on",
        ws="none",
        ssl_certfile=certificate[0] if certificate else None,
        ssl_keyfile=certificate[1] if certificate else None,
    )


def is_live(inbox: Inbox) -> bool:
    """Whether there is an API key that is good for something."""
    records = inbox.keys()
    return any(record.revoked_at is None for record in records)


def bound(config: ServerConfig) -> socket.socket:
    """Return a socket that is bound to the address of the settings.

    Raises:
        ConfigError: It cannot be.
    """
    try:
        found = socket.getaddrinfo(
            config.host or None, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)  # who connects from now on waits for the server to begin
        except OSError:
            listening.close()
            raise
    except OSError as broken:
        raise ConfigError(
            f"--host {config.host} --port {config.port}: {broken.strerror or broken}"
        ) from None
    return listening


def address_of(listening: socket.socket, *, is_https: bool = False) -> str:
    """Return the address under which a socket is to be called."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    return f"{'https' if is_https else 'http'}://{shown}:{port}"
