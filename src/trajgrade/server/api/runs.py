"""Runs that are kept, their rows, and two of them compared."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trajgrade.contracts import Store
from trajgrade.errors import ConfigError, DatasetError, StoreError
from trajgrade.packing import plain, unpack
from trajgrade.record import RUN, RunRecord, State, StoredRow
from trajgrade.run import Row
from trajgrade.server.api.paging import Limit, Offset, Page, cut
from trajgrade.server.documented import doc
from trajgrade.server.guard import needs
from trajgrade.server.refusal import RefusedError, answer

router = APIRouter(prefix="/api", dependencies=[needs("read")], tags=["runs"])

Experiment = Annotated[str | None, Query(max_length=200, description="Only those of that label.")]
Named = Annotated[str, Query(max_length=100, description="A run's id, or `latest`.")]


class ShownRun(msgspec.Struct, frozen=True):
    """A run.

    Attributes:
        run: Its record.
        rows: How many of its rows are there.
        is_written: Whether a process writes it now.
    """

    run: RunRecord
    rows: int
    is_written: bool


class ShownRow(msgspec.Struct, frozen=True):
    """A row of a run.

    Attributes:
        row: Its place in the dataset, from 0.
        trial: Which repeat of it, from 0.
        id: The example.
        graded: The results, and what else came of it.
        example: The example with what the agent answered; null where none was called.
    """

    row: int
    trial: int
    id: str
    graded: dict[str, Any]
    example: dict[str, Any] | None


class Deleted(msgspec.Struct, frozen=True):
    """A run that is no more.

    Attributes:
        deleted: Its id.
    """

    deleted: str


@router.get("/runs", summary="List runs", **doc(Page[RunRecord]))
def runs(
    request: Request,
    experiment: Experiment = None,
    state: State | None = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """Return the records of runs, the newest first."""
    store: Store = request.app.state.store
    most = min(offset + limit + 1, 2**31)
    found = store.runs(experiment=experiment, state=state, limit=most)
    return answer(cut(found, offset, limit))


@router.get("/runs/{name}", summary="Read a run", **doc(ShownRun, 404, 409))
def run(request: Request, name: str) -> Response:
    """Return one run, by its id, a unique beginning or end of it, or `latest`."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    return answer(ShownRun(record, store.count(record.id), store.holder(record.id) is not None))


def record_of(store: Store, name: str) -> RunRecord:
    """Return the record of a run that a request names.

    Raises:
        RefusedError: There is none of that name, or there are several.
    """
    try:
        return store.run(name)
    except (KeyError, ConfigError) as absent:
        raise RefusedError("not_found", str(absent)) from None
    except StoreError as several:
        raise RefusedError("conflict", str(several)) from None


@router.get("/runs/{name}/rows", summary="Read a run's rows", **doc(Page[ShownRow], 404, 409))
def rows(request: Request, name: str, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Return the rows of a run, in the order of the dataset."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    page = cut(store.rows(record.id), offset, limit)
    return answer(Page(tuple(map(_shown, page.items)), page.next))


def _shown(stored: StoredRow) -> ShownRow:
    row = unpack(stored.graded, Row)
    example = plain(stored.example) if stored.example is not None else None
    return ShownRow(stored.row, stored.trial, row.id, row.to_dict(), example)


@router.delete(
    "/runs/{name}",
    summary="Delete a run",
    dependencies=[needs("admin")],
    **doc(Deleted, 404, 409),
)
def delete(request: Request, name: str) -> Response:
    """Forget a run and its rows; its whole id must be given, and no process may write it."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    if name != record.id:
        raise RefusedError("not_found", f"{name!r} is not the whole id of a run", record.id)
    try:
        store.delete(record.id)
    except StoreError as held:
        raise RefusedError("conflict", str(held)) from None
    return answer(Deleted(record.id))


@router.get("/comparison", summary="Compare two runs", **doc(dict[str, Any], 404, 409))
def comparison(
    request: Request,
    base: Named,
    new: Named,
    no_regression: Annotated[list[str], Query(description="METRIC or METRIC:MARGIN")] = [],  # noqa: B006 FastAPI copies it
    level: Annotated[float, Query(ge=0.5, lt=1)] = 0.95,
    resamples: Annotated[int, Query(ge=100, le=100_000)] = 10_000,
    seed: Annotated[int, Query(ge=0, le=2**32 - 1)] = 0,
) -> Response:
    """Say whether the run `new` is better than `base`, as `trajgrade compare --json` does."""
    from trajgrade.comparison.comparing import compare

    store: Store = request.app.state.store
    names = [f"{RUN}{record_of(store, name).id}" for name in (base, new)]
    try:
        found = compare(
            *names,
            level=level,
            resamples=resamples,
            seed=seed,
            no_regression=[_gate(text) for text in no_regression],
            store=store,
        )
    except (ConfigError, DatasetError) as wrong:
        raise RefusedError("invalid", str(wrong)) from None
    return answer(found.to_dict())


def _gate(text: str) -> dict[str, Any]:
    """Read a gate, `METRIC` or `METRIC:MARGIN`; a metric may hold colons itself."""
    metric, colon, margin = text.rpartition(":")
    try:
        return {"metric": metric, "margin": float(margin)} if colon else {"metric": text}
    except ValueError:
        return {"metric": text}
