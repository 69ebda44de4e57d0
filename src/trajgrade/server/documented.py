"""Documented: what the OpenAPI document says of each route, from the records that it answers with.

The schemas are those of msgspec, which also writes the answers, so that the two cannot part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from trajgrade.server.refusal import JSON, Kind

_REF = "#/components/schemas/{name}"


class Error(msgspec.Struct, frozen=True):
    """Why a request is not done.

    Attributes:
        kind: Why, in a word.
        message: Why, in a sentence.
        allowed: What would be done.
    """

    kind: Kind
    message: str
    allowed: Any


class Problem(msgspec.Struct, frozen=True):
    """A request that is not done.

    Attributes:
        error: Why.
    """

    error: Error


def schema_of(record: Any) -> dict[str, Any]:
    """Return where the OpenAPI document has the schema of a record."""
    (found,), _ = msgspec.json.schema_components([record], ref_template=_REF)
    return found


def doc(record: Any, *refusals: int, sends: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what FastAPI is to be told of a route.

    Args:
        record: What it answers with; None for nothing.
        refusals: The status codes with which it may refuse, beside those of every route.
        sends: What it is sent.
    """
    good: dict[str, Any] = {"description": "Done."}
    if record is not None:
        good["content"] = {JSON: {"schema": schema_of(record)}}
    failed = {
        "description": "Not done.",
        "content": {JSON: {"schema": schema_of(Problem)}},
    }
    codes = sorted({401, 403, 422, 429, 500, 503, *refusals})
    told: dict[str, Any] = {
        "response_model": None,
        "responses": {200: good, **dict.fromkeys(codes, failed)},
    }
    if sends is not None:
        told["openapi_extra"] = {"requestBody": sends}
    return told


def body(description: str, record: Any = None) -> dict[str, Any]:
    """Return what the OpenAPI document says of what a route is sent."""
    schema = schema_of(record) if record is not None else {}
    return {"description": description, "required": True, "content": {JSON: {"schema": schema}}}


def document_of(app: FastAPI, records: Iterable[Any]) -> dict[str, Any]:
    """Return the OpenAPI document of an application, with the schemas of the records it names."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title,
            version=app.version,
            description="What is kept and done with the traces of agents, and how to send them.",
            routes=app.routes,
        )
        _, schemas = msgspec.json.schema_components([Problem, *records], ref_template=_REF)
        parts = found.setdefault("components", {})
        parts["schemas"] = schemas
        parts["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        found["security"] = [{}, {"key": []}, {"header": []}]
        app.openapi_schema = found
    return app.openapi_schema
