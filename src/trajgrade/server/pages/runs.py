"""Runs: the runs of the store, one run, one of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from trajgrade.contracts import Store
from trajgrade.dataset import Example
from trajgrade.earlier import example_of
from trajgrade.errors import DatasetError, StoreError, unknown
from trajgrade.jsontext import read_back
from trajgrade.record import DATASET, Key, RunRecord, State, StoredRow
from trajgrade.report import digest
from trajgrade.report.beside import turns_of
from trajgrade.report.page import evidence_of, said_of, told_of
from trajgrade.report.plain import number, printable
from trajgrade.run import Row
from trajgrade.server.guard import needs
from trajgrade.server.pages.asked import Paged, choice, paged
from trajgrade.server.pages.held import KINDS, Held, Runs, Wanted
from trajgrade.server.pages.layout import render, segment, text_page, with_query
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.shown import dollars, pretty, seconds, shown
from trajgrade.server.refusal import RefusedError
from trajgrade.versions import address_of

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

STATES: tuple[State, ...] = ("running", "finished", "interrupted", "stopped")
PARTS = ("inputs", "outputs", "reference_outputs", "response", "reference", "context", "results")
_MEANS = 3
_KEY = re.compile(r"(\d{1,9})-(\d{1,6})")


def runs_of(request: Request) -> Runs:
    """Return the runs of the application's store, of which some were read lately."""
    state = request.app.state
    if not hasattr(state, "pages_runs"):
        state.pages_runs = Runs(state.store)
    found: Runs = state.pages_runs
    return found


def record_of(store: Store, name: str) -> RunRecord:
    """Return one run's record.

    Raises:
        RefusedError: There are several of that name.
        UnknownNameError: There is none.
    """
    try:
        return store.run(name)
    except StoreError as several:
        raise RefusedError("not_found", str(several)) from None


@router.get("/runs")
def runs(request: Request) -> Response:
    """List the runs."""
    query = request.query_params
    store: Store = request.app.state.store
    state: Any = choice(query, "state", STATES) or None
    everything = store.runs()
    experiments = sorted({record.experiment for record in everything if record.experiment})
    experiment = choice(query, "experiment", experiments)
    text = query.get("q", "")[:200]
    found = [
        record
        for record in everything
        if (not state or record.state == state)
        and (not experiment or record.experiment == experiment)
        and _has(record, text)
    ]
    page = paged(found, "/runs", query)
    return render(
        request,
        "runs.html",
        page=page._replace(items=[line_of(store, record) for record in page.items]),
        total=len(everything),
        experiments=experiments,
        states=STATES,
        asked={"q": text, "experiment": experiment, "state": state or ""},
    )


def _has(record: RunRecord, text: str) -> bool:
    named = f"{record.id}\n{record.name}\n{record.dataset}".casefold()
    return text.casefold() in named


def line_of(store: Store, record: RunRecord) -> dict[str, Any]:
    """Return what a list says of a run."""
    result = record.result or {}
    metrics = result.get("metrics") or {}
    means = [(printable(key)[:60], number(one.get("mean"))) for key, one in metrics.items()]
    verdicts = {one.get("verdict") for one in result.get("thresholds") or ()}
    growing = record.state == "running"
    return {
        "id": record.id,
        "href": f"/runs/{segment(record.id)}",
        "name": printable(record.name or record.dataset)[:200],
        "experiment": printable(record.experiment)[:100],
        "dataset": printable(record.dataset)[:200],
        "state": record.state,
        "alive": not growing or store.holder(record.id) is not None,
        "rows": f"{store.count(record.id) if growing else result.get('n_rows', '-'):,}"
        if growing or "n_rows" in result
        else "-",
        "expected": record.expected,
        "means": means[:_MEANS],
        "more": max(0, len(means) - _MEANS),
        "verdict": next((v for v in ("failed", "undecided", "passed") if v in verdicts), ""),
        "started_at": record.started_at,
        "seconds": seconds(record.seconds) if record.seconds else "-",
        "cost": dollars(record.cost),
    }


@router.get("/runs/{name}")
def run(request: Request, name: str) -> Response:
    """Show one run: the report, with its rows page by page."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    held = runs_of(request).held(record)
    asked = wanted_of(request, held)
    query = request.query_params
    path = f"/runs/{segment(record.id)}"
    page = paged(held.places(asked), path, query)
    metrics = [*digest.metrics_of(held.run)]
    told = {**held.told, "rows": (), "hidden": 0}
    rest = _rest(query)
    return render(
        request,
        "run.html",
        **told,
        record=line_of(store, record),
        path_of=path,
        done=len(held),
        counts=held.counts,
        page=page._replace(items=[*_lines(held, page, path, rest)]),
        keys_of=[(key, printable(key)[:80]) for key in metrics],
        asked=asked,
        settings=pretty({"settings": record.settings, "made with": record.made_with}),
    )


def wanted_of(request: Request, held: Held) -> Wanted:
    """Return which rows an address asks for.

    Raises:
        RefusedError: It asks for what there is not.
    """
    query = request.query_params
    metrics = digest.metrics_of(held.run)
    return Wanted(
        query.get("q", "")[:200],
        choice(query, "kind", KINDS),
        choice(query, "sort", metrics),
        choice(query, "order", ("rising", "falling")) == "falling",
    )


def _rest(query: Any) -> str:
    """Return what of a query the address of a row carries on."""
    kept = {name: query.get(name, "") for name in ("q", "kind", "sort", "order")}
    return with_query("", kept)


def _lines(held: Held, page: Paged, path: str, rest: str) -> Iterator[dict[str, Any]]:
    for place, row in zip(page.items, held.rows(page.items), strict=True):
        key = held.key(place)
        yield {
            "title": digest.title_of(row)[:300],
            "href": f"{path}/rows/{key.row}-{key.trial}{rest}",
            "kind": held.kind(place),
            "by_key": {key: told_of(result) for key, result in row.results.items()}
            | _measured(row),
            "said": _said(row, held),
            "failed": "" if row.agent_error is None else printable(str(row.agent_error))[:300],
        }


def _measured(row: Row) -> dict[str, dict[str, str]]:
    """Return what was measured of the agent, as results are shown."""
    if row.failure is None:
        return {}
    failed = {"score": number(float(row.failure)), "tone": "bad" if row.failure else "dim"}
    return {
        "latency_in_seconds": {"score": seconds(row.latency_in_seconds), "tone": "dim"},
        "failure": failed,
    }


def _said(row: Row, held: Held) -> str:
    """Return what the first result that is short of the best says."""
    summary = held.run.summary
    short = (r for key, r in row.results.items() if digest.is_short_of(r, summary[key].column))
    found = next(short, None)
    return "" if found is None else digest.comment_of(found)[:300]


@router.get("/runs/{name}/rows/{key}")
def row(request: Request, name: str, key: str) -> Response:
    """Show one row of a run: what was expected, what was done, what was said of it."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    held = runs_of(request).held(record)
    place = _place(held, record, key)
    graded: Row = held.rows([place])[0]
    known = _key(key)
    stored = store.row(record.id, known)
    example, missing = _example(store, record, stored, graded)
    path = f"/runs/{segment(record.id)}"
    before, after = _neighbours(request, held, place, path)
    return render(
        request,
        "row.html",
        title=digest.title_of(graded)[:300],
        run=line_of(store, record),
        back=f"{path}{_rest(request.query_params)}",
        before=before,
        after=after,
        kind=held.kind(place),
        results=[told_of(result) for result in graded.results.values()],
        turns=turns_of(graded),
        judged=[*said_of(graded)],
        sides=_sides(example, f"{path}/rows/{known.row}-{known.trial}/whole"),
        missing=missing,
        latency=seconds(graded.latency_in_seconds),
        failed="" if graded.agent_error is None else printable(str(graded.agent_error))[:2000],
        evidence=evidence_of(graded),
        source=printable(graded.source)[:300],
        notes=[printable(note)[:500] for note in graded.notes],
        whole=f"{path}/rows/{known.row}-{known.trial}/whole",
    )


def _place(held: Held, record: RunRecord, key: str) -> int:
    place = held.place(_key(key))
    if place is None:
        raise RefusedError("not_found", f"run:{record.id} has no row {key[:40]}")
    return place


def _key(text: str) -> Key:
    found = _KEY.fullmatch(text)
    if found is None:
        raise RefusedError("not_found", f"{text[:40]!r} names no row", "ROW-TRIAL, as in 12-0")
    return Key(int(found[1]), int(found[2]))


def _neighbours(request: Request, held: Held, place: int, path: str) -> tuple[str, str]:
    """Return the addresses of the rows beside one, in the order that is asked for."""
    places = held.places(wanted_of(request, held))
    if place not in places:
        return "", ""
    at = places.index(place)
    rest = _rest(request.query_params)

    def address(number: int) -> str:
        if not 0 <= number < len(places):
            return ""
        key = held.key(places[number])
        return f"{path}/rows/{key.row}-{key.trial}{rest}"

    return address(at - 1), address(at + 1)


def _example(
    store: Store, record: RunRecord, stored: StoredRow | None, graded: Row
) -> tuple[dict[str, Any], str]:
    """Return what was asked, expected and answered; or where it is, where the run has it not."""
    if stored is not None and stored.example is not None:
        return _fields(example_of(stored.example)), ""
    if record.dataset.startswith(DATASET):
        try:
            address = address_of(record.dataset)
            rows = store.datasets.kept(*address)
            text = next((kept.text for kept in rows if kept.id == graded.id), None)
        except (DatasetError, StoreError):
            text = None
        if text is not None:
            return dict(read_back(text)), ""
    return {}, (
        f"No agent was called in this run. What it graded stands in {printable(record.dataset)}"
        f"{f', {printable(graded.source)}' if graded.source else ''}."
    )[:500]


def _fields(example: Example) -> dict[str, Any]:
    return {name: getattr(example, name) for name in PARTS if hasattr(example, name)}


def _sides(example: dict[str, Any], whole: str) -> list[dict[str, Any]]:
    """Return what is shown of an example: what was asked, then expected and actual."""
    headings = {
        "inputs": ("asked", "inputs", "input", "prompt", "question"),
        "context": ("context", "context"),
        "expected": ("expected", "reference_outputs", "reference_trajectory", "expected", "target"),
        "actual": ("actual", "outputs", "predicted_trajectory", "output"),
        "expected text": ("expected text", "reference"),
        "actual text": ("actual text", "response"),
    }
    found = []
    for heading, *names in headings.values():
        name = next((name for name in names if example.get(name) is not None), None)
        if name is not None:
            told = shown(example[name])
            found.append({"heading": heading, "shown": told, "whole": f"{whole}?part={name}"})
    return found


@router.get("/runs/{name}/rows/{key}/whole")
def whole(request: Request, name: str, key: str) -> Response:
    """Return one part of a row, as a text, whole."""
    store: Store = request.app.state.store
    record = record_of(store, name)
    held = runs_of(request).held(record)
    graded = held.rows([_place(held, record, key)])[0]
    part = request.query_params.get("part", "results")
    if part == "results":
        return text_page(pretty(graded.to_dict()))
    example, missing = _example(store, record, store.row(record.id, _key(key)), graded)
    if part not in example:
        raise RefusedError("not_found", missing or unknown("part", part[:40], [*example]))
    return text_page(pretty(example[part]))
