"""Datasets: their versions, tags and splits, their rows, and what changed between two versions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from trajgrade.contracts import Store
from trajgrade.errors import unknown
from trajgrade.jsontext import read_back
from trajgrade.report.plain import printable
from trajgrade.server.guard import needs
from trajgrade.server.pages.asked import PER_PAGE, Paged, choice, paged
from trajgrade.server.pages.layout import render, segment, text_page, with_query
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.shown import differences, lines, pretty, shown
from trajgrade.server.refusal import RefusedError
from trajgrade.versions import LATEST, DatasetVersion, Kept, changes

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

_BRIEF = 200


def datasets_of(request: Request) -> Any:
    """Return the datasets of the application's store."""
    store: Store = request.app.state.store
    return store.datasets


@router.get("/datasets")
def datasets(request: Request) -> Response:
    """List the datasets."""
    kept = datasets_of(request)
    text = request.query_params.get("q", "")[:200]
    names = [name for name in kept.names() if text.casefold() in name.casefold()]
    page = paged(names, "/datasets", request.query_params)
    found = [(name, kept.version(name)) for name in page.items]
    return render(request, "datasets.html", page=page._replace(items=found), text=text)


def versions_of(request: Request, name: str) -> list[DatasetVersion]:
    """Return the versions of a dataset.

    Raises:
        RefusedError: There is no such dataset.
    """
    kept = datasets_of(request)
    found: list[DatasetVersion] = kept.versions(name)
    if not found:
        raise RefusedError("not_found", unknown("dataset", name[:100], kept.names()))
    return found


@router.get("/datasets/{name}")
def dataset(request: Request, name: str) -> Response:
    """Show one version of a dataset, page by page."""
    query = request.query_params
    versions = versions_of(request, name)
    version: DatasetVersion = datasets_of(request).version(name, query.get("as_of") or LATEST)
    split = choice(query, "split", version.splits)
    text = query.get("q", "")[:200]
    path = f"/datasets/{segment(name)}"
    page = _page(request, version, split, text, path)
    rows = [_line(kept, f"{path}/rows", version) for kept in page.items]
    return render(
        request,
        "dataset.html",
        name=name,
        path_of=path,
        version=version,
        versions=versions,
        page=page._replace(items=rows),
        asked={"split": split, "q": text},
    )


def _page(request: Request, version: DatasetVersion, split: str, text: str, path: str) -> Paged:
    """Return the rows of a page; of a list that is not searched only those are read."""
    query = request.query_params
    found = datasets_of(request).kept(version.name, version.version, split)
    if text:
        folded = text.casefold()
        fits = [
            kept
            for kept in found
            if folded in f"{kept.id}\n{kept.text.decode('utf-8', 'replace')}".casefold()
        ]
        return paged(fits, path, query)
    total = version.splits[split] if split else version.n_rows
    page = paged(range(total), path, query)
    first = (page.number - 1) * PER_PAGE
    return page._replace(items=[*islice(found, first, first + PER_PAGE)])


def _line(kept: Kept, path: str, version: DatasetVersion) -> dict[str, Any]:
    row = read_back(kept.text)
    fields = {key: value for key, value in row.items() if key not in {"id", "split", "trial"}}
    return {
        "id": printable(kept.id)[:300],
        "href": with_query(path, {"id": kept.id, "as_of": version.version}),
        "split": printable(kept.split)[:100],
        "brief": [(printable(str(key))[:60], _brief(value)) for key, value in fields.items()],
    }


def _brief(value: Any) -> str:
    text = printable(pretty(value)) if isinstance(value, str) else _compact(value)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def _compact(value: Any) -> str:
    """Return a value in a line; calls by their names."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        names = [one.get("name") or one.get("tool_name") or one.get("role") for one in value]
        if all(isinstance(name, str) for name in names):
            return printable(" → ".join(names[:20]))
    return printable(" ".join(pretty(value).split()))


@router.get("/datasets/{name}/rows")
def row(request: Request, name: str) -> Response:
    """Show one row of a dataset."""
    query = request.query_params
    versions_of(request, name)
    version: DatasetVersion = datasets_of(request).version(name, query.get("as_of") or LATEST)
    kept = _row(request, version, query.get("id", ""))
    found = read_back(kept.text)
    field = query.get("field", "")
    if field:
        if field not in found:
            raise RefusedError("not_found", unknown("field", field[:40], [*found]))
        return text_page(pretty(found[field]))
    asked = {"id": kept.id, "as_of": version.version}
    path = f"/datasets/{segment(name)}"
    return render(
        request,
        "dataset_row.html",
        name=name,
        path_of=path,
        version=version,
        id=printable(kept.id)[:300],
        fields=[
            {
                "heading": printable(str(key))[:100],
                "shown": shown(value),
                "whole": with_query(f"{path}/rows", {**asked, "field": key}),
            }
            for key, value in found.items()
            if key != "id"
        ],
    )


def _row(request: Request, version: DatasetVersion, wanted: str) -> Kept:
    rows: Iterator[Kept] = datasets_of(request).kept(version.name, version.version)
    for kept in rows:
        if kept.id == wanted:
            return kept
    where = f"{version.name} v{version.version}"
    raise RefusedError("not_found", f"dataset {where} has no row {wanted[:100]!r}")


@router.get("/datasets/{name}/changes")
def changed(request: Request, name: str) -> Response:
    """Show what is different between two versions."""
    query = request.query_params
    versions = versions_of(request, name)
    kept = datasets_of(request)
    newest = versions[0].version
    new: DatasetVersion = kept.version(name, query.get("new") or newest)
    old: DatasetVersion = kept.version(name, query.get("old") or max(1, new.version - 1))
    found = changes(kept.kept(name, old.version), kept.kept(name, new.version))
    names = [
        *((what, one) for what in ("changed", "added", "removed") for one in getattr(found, what))
    ]
    page = paged(names, f"/datasets/{segment(name)}/changes", query)
    both = [_texts(kept.kept(name, v.version), {one for _, one in page.items}) for v in (old, new)]
    return render(
        request,
        "changes.html",
        name=name,
        path_of=f"/datasets/{segment(name)}",
        old=old,
        new=new,
        versions=versions,
        found=found,
        page=page._replace(items=[*_changed(page.items, *both)]),
    )


def _texts(rows: Iterator[Kept], wanted: set[str]) -> dict[str, dict[str, Any]]:
    return {kept.id: read_back(kept.text) for kept in rows if kept.id in wanted}


def _changed(
    names: list[tuple[str, str]], old: dict[str, Any], new: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for what, name in names:
        before, after = old.get(name, {}), new.get(name, {})
        keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        yield {
            "what": what,
            "id": printable(name)[:300],
            "fields": [
                {
                    "name": printable(str(key))[:100],
                    "sides": differences(
                        lines(pretty(before[key])) if key in before else "not there",
                        lines(pretty(after[key])) if key in after else "not there",
                    ),
                }
                for key in keys
            ],
        }
