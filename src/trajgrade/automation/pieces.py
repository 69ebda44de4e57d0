"""Pieces: what came of a trace, in the order in which it came → the trace.

Of a trace that comes whole the last one counts: it replaces those before. Spans are taken together
as one OTLP document, each once, however often it was sent; a span that was sent again otherwise is
the one that came last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajgrade.inbox import Piece
from trajgrade.jsontext import read_back

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans")
_SPAN = ("spanId", "span_id")


def trace_of(pieces: Sequence[Piece]) -> Any:
    """Return a trace.

    Args:
        pieces: What came of it, in the order in which it came; at least one.
    """
    if not pieces[-1].is_spans:
        return read_back(pieces[-1].body)
    documents = [one for piece in pieces if piece.is_spans for one in _documents(piece.body)]
    if len(documents) == 1:
        return documents[0]
    seen: set[Any] = set()
    found: list[dict[str, Any]] = []
    for document in reversed(documents):
        resources = [_without(resource, seen) for resource in _first(document, _RESOURCES)]
        found[:0] = [resource for resource in resources if resource["scopeSpans"]]
    return {"resourceSpans": found}


def _documents(body: bytes) -> list[Any]:
    """Return an export as OTLP JSON has it."""
    if body.startswith(b"{"):
        return [read_back(body)]
    from trajgrade.formats.otlp_bytes import objects_in

    return objects_in(body)


def _without(resource: dict[str, Any], seen: set[Any]) -> dict[str, Any]:
    """Return a resource without spans that were seen, and note those that it has."""
    scopes = []
    for scope in _first(resource, _SCOPES):
        spans = [span for span in scope.get("spans", ()) if _id(span) not in seen]
        if spans:
            scopes.append({**scope, "spans": spans})
    seen.update(_id(span) for scope in scopes for span in scope["spans"])
    bare = {key: value for key, value in resource.items() if key not in _SCOPES}
    return {**bare, "scopeSpans": scopes}


def _first(held: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if name in held), ())


def _id(span: dict[str, Any]) -> Any:
    return next((span[name] for name in _SPAN if name in span), None)
