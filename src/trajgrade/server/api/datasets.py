"""Datasets that are kept, their versions and their rows."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trajgrade.errors import DatasetError
from trajgrade.jsontext import read_back
from trajgrade.server.api.paging import Limit, Offset, Page, cut
from trajgrade.server.documented import doc
from trajgrade.server.guard import needs
from trajgrade.server.refusal import RefusedError, answer
from trajgrade.versions import LATEST, DatasetVersion, check_name

router = APIRouter(prefix="/api/datasets", dependencies=[needs("read")], tags=["datasets"])

AsOf = Annotated[str, Query(max_length=100, description="A tag, a number, or `latest`.")]


class NamedDataset(msgspec.Struct, frozen=True):
    """A dataset.

    Attributes:
        name: Its name.
        versions: How many versions it has.
        latest: The newest.
    """

    name: str
    versions: int
    latest: DatasetVersion | None


class DatasetRow(msgspec.Struct, frozen=True):
    """A row of a dataset.

    Attributes:
        id: What names it, with its trial.
        split: Its split, empty where it has none.
        row: The row.
    """

    id: str
    split: str
    row: dict[str, Any]


@router.get("", summary="List datasets", **doc(Page[NamedDataset]))
def datasets(request: Request, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Return the datasets by name, each with its newest version."""
    kept = request.app.state.store.datasets
    names = cut(kept.names(), offset, limit)
    found = tuple(_named(name, kept.versions(name)) for name in names.items)
    return answer(Page(found, names.next))


def _named(name: str, versions: list[DatasetVersion]) -> NamedDataset:
    return NamedDataset(name, len(versions), versions[0] if versions else None)


@router.get(
    "/{name}/versions", summary="List a dataset's versions", **doc(Page[DatasetVersion], 404)
)
def versions(request: Request, name: str, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Return the versions of a dataset, the newest first."""
    found = _versions(request, name)
    return answer(cut(found, offset, limit))


def _versions(request: Request, name: str) -> list[DatasetVersion]:
    try:
        check_name(name)
    except DatasetError as wrong:
        raise RefusedError("not_found", str(wrong)) from None
    found: list[DatasetVersion] = request.app.state.store.datasets.versions(name)
    if not found:
        raise RefusedError("not_found", f"there is no dataset {name!r}")
    return found


@router.get("/{name}/rows", summary="Read a dataset's rows", **doc(Page[DatasetRow], 404))
def rows(
    request: Request,
    name: str,
    as_of: AsOf = LATEST,
    split: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """Return the rows of a version of a dataset, in their order."""
    _versions(request, name)
    try:
        page = cut(request.app.state.store.datasets.kept(name, as_of, split), offset, limit)
    except DatasetError as wrong:
        raise RefusedError("not_found", str(wrong)) from None
    found = (DatasetRow(one.id, one.split, read_back(one.text)) for one in page.items)
    return answer(Page(tuple(found), page.next))
