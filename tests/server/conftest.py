"""Real servers on loopback, each with a store of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import uvicorn

from trajgrade.automation.rules import Rules
from trajgrade.contracts import Store
from trajgrade.inbox import Scope
from trajgrade.server.app import create_app
from trajgrade.server.keys import new_key
from trajgrade.server.serving import bound, settings_of
from trajgrade.server.settings import ServerConfig
from trajgrade.stores import open_store


class Served:
    """A server that runs.

    Attributes:
        url: Its address.
        store: Its store.
        app: The application.
        client: Who asks it.
    """

    def __init__(self, url: str, store: Store, app: Any) -> None:
        self.url = url
        self.store = store
        self.app = app
        self.client = httpx.Client(base_url=url, timeout=30)

    def key(self, name: str, *scopes: Scope) -> str:
        """Make an API key, which the server knows at once."""
        key, record = new_key(name, scopes, 0.0)
        self.store.inbox.add_key(record)
        self.app.state.keys._read_at = None
        return key


@contextmanager
def running(
    folder: Path,
    *,
    rules: Rules | None = None,
    store: str | None = None,
    pages: bool = False,
    **settings: Any,
) -> Iterator[Served]:
    """Run a server in a thread of its own, on a free port."""
    config = msgspec.structs.replace(ServerConfig(port=0, workers=0), **settings)
    with open_store(store or folder / "server.db") as opened:
        app = create_app(config, opened, rules=rules, pages=pages)
        listening = bound(msgspec.structs.replace(config, host="127.0.0.1"))
        server = uvicorn.Server(settings_of(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        served = Served(f"http://127.0.0.1:{listening.getsockname()[1]}", opened, app)
        try:
            with served.client:
                yield served
        finally:
            server.should_exit = True
            thread.join()
            listening.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server with the settings that it has by itself."""
    with running(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for tests that change nothing."""
    with running(tmp_path_factory.mktemp("lasting")) as found:
        yield found
