"""Saved: a run read back from what `Run.save` wrote, or from a store.

run.json     all of it
rows.jsonl   the rows; which scores are better is known of built-in evaluators only, by name
run:ID       a run of the store; `run:latest` the newest
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from trajgrade.alignment import alignments_in
from trajgrade.errors import DatasetError, UnknownNameError, unknown
from trajgrade.jsontext import read_back
from trajgrade.record import RUN
from trajgrade.registry import evaluators
from trajgrade.replay import is_run, run_of
from trajgrade.run import Row, Run
from trajgrade.tally import Graded, Metric, Tally
from trajgrade.thresholds import Outcome

SUFFIXES = (".json", ".jsonl")


def load(source: str | Path, *, store: Any = None) -> Run:
    """Read a run back; see `Run.load`."""
    if is_run(source):
        return _kept(str(source), store)
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = f" (a run of the store is named {RUN}ID)" if not suffix else ""
        raise DatasetError(f"{path}: {unknown('suffix of a saved run', suffix, SUFFIXES)}{hint}")
    try:
        text = path.read_bytes()
    except OSError as broken:
        raise DatasetError(f"{path}: cannot be read: {broken.strerror or broken}") from None
    return _whole(path, text) if suffix == ".json" else _lines(path, text)


def _kept(name: str, store: Any) -> Run:
    from trajgrade.stores import open_store  # SQLAlchemy, for runs of a store only

    where = store if hasattr(store, "rows") else open_store(store)
    record = where.run(name.removeprefix(RUN))
    return msgspec.structs.replace(run_of(where, record), dataset_hash=record.dataset_hash)


def _whole(path: Path, text: bytes) -> Run:
    found = _parsed(path, text)
    if not isinstance(found, dict) or not {"metrics", "rows", "evaluators"} <= found.keys():
        raise DatasetError(f"{path}: is no run saved by trajgrade: -o {path.name} writes one")
    known = found.get("scales") or {key: scale_of(key) for key in found["metrics"]}
    metrics = {key: Metric.of({"key": key, **scale}) for key, scale in known.items()}
    rows = (_row(path, f"row {at}", plain) for at, plain in enumerate(found["rows"]))
    run = _run(path, rows, metrics)
    return msgspec.structs.replace(
        run,
        id=str(found.get("id", "")),
        name=str(found.get("name", "")),
        dataset=str(found.get("dataset", path.name)),
        dataset_hash=str(found.get("dataset_hash", "")),
        evaluators=dict(found["evaluators"]),
        outcomes=tuple(msgspec.convert(one, Outcome) for one in found.get("thresholds", ())),
        warnings=tuple(found.get("warnings", ())),
        judge_alignment=alignments_in(found),
        interrupted=bool(found.get("interrupted")),
        started_at=datetime.fromisoformat(found["started_at"]),
        seconds=float(found.get("seconds", 0)),
    )


def _lines(path: Path, text: bytes) -> Run:
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [
        _row(path, f"line {at}", _parsed(path, line, f" line {at}"))
        for at, line in enumerate(lines, 1)
    ]
    keys = dict.fromkeys(key for row in rows for key in row.results)
    return _run(path, rows, {key: Metric.of({"key": key, **scale_of(key)}) for key in keys})


def _run(path: Path, rows: Iterable[Row], metrics: Mapping[str, Metric]) -> Run:
    tally: Tally | None = None
    for row in rows:
        if tally is None:
            tally = Tally(metrics, explain="all", agent=row.failure is not None)
        tally.add(Graded(row, {}))
    if tally is None:
        raise DatasetError(f"{path}: the run has no rows")
    return Run(
        rows=tally.rows,
        summary=tally.summary(),
        agent=tally.agent_summary(),
        dataset=path.name,
        evaluators={},
        worst=tally.worst(),
        started_at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
        seconds=0.0,
    )


def _parsed(path: Path, text: bytes, where: str = "") -> Any:
    try:
        return read_back(text)
    except ValueError as broken:
        raise DatasetError(f"{path}{where}: is no JSON: {broken}") from None


def _row(path: Path, where: str, plain: Any) -> Row:
    if not isinstance(plain, dict) or "results" not in plain:
        raise DatasetError(f"{path} {where}: is no row of a run: it has no results")
    try:
        return msgspec.convert(plain, Row)
    except msgspec.ValidationError as wrong:
        raise DatasetError(f"{path} {where}: is no row of a run: {wrong}") from None


def scale_of(key: str) -> dict[str, Any]:
    """Return the range and direction of the built-in evaluator of that name; nothing else's."""
    try:
        found = evaluators.find(key)
    except UnknownNameError:
        return {}
    known = {name: getattr(found, name, None) for name in ("range", "direction")}
    return {name: value for name, value in known.items() if isinstance(value, str | tuple)}
