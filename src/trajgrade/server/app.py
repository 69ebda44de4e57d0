"""App: the application, put together.

On `app.state` routes find the `config`, the `store`, its `inbox`, the `rules`, the `keys`, the
`rates`, the `secret` that tokens of forms are made from, the `writer` that accepts traces, and the
`counters` of the server.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from trajgrade import __version__
from trajgrade.automation.rules import Rules
from trajgrade.contracts import Store
from trajgrade.errors import StoreError
from trajgrade.server import ingestion, otlp
from trajgrade.server.api.document import add_api
from trajgrade.server.counters import Counters
from trajgrade.server.gate import Gate
from trajgrade.server.keys import Keyring
from trajgrade.server.limits import Rates
from trajgrade.server.refusal import STATUS, Kind, RefusedError, answer
from trajgrade.server.settings import ServerConfig
from trajgrade.server.writing import Writer

_PAGES = "trajgrade.server.pages.routes"
_BACK_SOON = 5  # seconds
_KINDS: dict[int, Kind] = {status: kind for kind, status in STATUS.items()}


def create_app(
    config: ServerConfig, store: Store, *, rules: Rules | None = None, pages: bool = True
) -> FastAPI:
    """Return the application.

    Args:
        config: The settings.
        store: Where everything is kept; a database.
        rules: What is done with what comes; none by default.
        pages: Whether there are pages for people, beside the API.

    Raises:
        StoreError: The store is no database.
    """
    app = FastAPI(
        title="trajgrade",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=_writing,
    )
    app.state.config = config
    app.state.store = store
    app.state.inbox = store.inbox
    app.state.rules = rules if rules is not None else Rules(())
    app.state.keys = Keyring(store.inbox, is_local=config.is_local)
    app.state.rates = Rates(config.rate)
    app.state.secret = secrets.token_bytes(32)
    app.state.counters = Counters()
    app.state.writer = Writer(store.inbox, waiting=config.waiting, backlog=config.backlog)
    app.add_middleware(Gate, config=config, rates=app.state.rates)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(StoreError, _of_store)
    app.include_router(otlp.router)
    app.include_router(ingestion.router)
    add_api(app)
    app.add_api_route("/healthz", healthz, methods=["GET"], include_in_schema=False)
    if pages:
        app.include_router(import_module(_PAGES).router, include_in_schema=False)
    return app


@asynccontextmanager
async def _writing(app: FastAPI) -> AsyncIterator[None]:
    """Write what comes, from the first request to the last."""
    app.state.writer.start()
    try:
        yield
    finally:
        await run_in_threadpool(app.state.writer.stop)


async def healthz() -> Response:
    """Say that the server runs."""
    return answer({"status": "ok"})


async def _refused(request: Request, refused: Exception) -> Response:
    """Answer a request that is not done; who has not logged in may do so where people read."""
    if not isinstance(refused, RefusedError):
        raise refused
    if refused.kind == "unknown_caller" and _is_page(request):
        return RedirectResponse("/login", 303)
    return refused.answer()


def _is_page(request: Request) -> bool:
    path = request.url.path
    return not path.startswith(("/api/", "/v1/", "/login")) and "text/html" in request.headers.get(
        "accept", ""
    )


async def _invalid(_: Request, wrong: Exception) -> Response:
    found: Iterable[Any] = wrong.errors() if isinstance(wrong, RequestValidationError) else ()
    faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found]
    return RefusedError("invalid", "; ".join(faults)[:2000]).answer()


async def _of_http(_: Request, wrong: Exception) -> Response:
    status = getattr(wrong, "status_code", 500)
    said = str(getattr(wrong, "detail", wrong))
    refused = RefusedError(_KINDS.get(status, "unreadable"), said).answer()
    refused.status_code = status
    for name, value in (getattr(wrong, "headers", None) or {}).items():
        refused.headers[name] = value
    return refused


async def _of_store(_: Request, wrong: Exception) -> Response:
    return RefusedError("unavailable", str(wrong), retry_after=_BACK_SOON).answer()
