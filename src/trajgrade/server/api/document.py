"""Document: the OpenAPI document, at `/api/openapi.json`."""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI

from trajgrade.inbox import Job, Outcome, Review, TraceRecord
from trajgrade.record import RunRecord
from trajgrade.server.api import automation, datasets, reviews, runs, traces
from trajgrade.server.api.paging import Page
from trajgrade.server.documented import document_of
from trajgrade.server.ingestion import Hooked, Receipt
from trajgrade.versions import DatasetVersion

RECORDS = (
    Hooked,
    reviews.Said,
    Receipt,
    Review,
    automation.Revival,
    automation.Revived,
    automation.ShownRules,
    automation.Status,
    runs.Deleted,
    runs.ShownRun,
    traces.ShownTrace,
    Page[datasets.DatasetRow],
    Page[datasets.NamedDataset],
    Page[DatasetVersion],
    Page[Job],
    Page[Outcome],
    Page[Review],
    Page[runs.ShownRow],
    Page[RunRecord],
    Page[TraceRecord],
)
ROUTERS = (datasets.router, runs.router, reviews.router, automation.router, traces.router)


def add_api(app: FastAPI) -> None:
    """Give an application the routes of the API, and their document."""
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = partial(document_of, app, RECORDS)  # type: ignore[method-assign] # as FastAPI says
