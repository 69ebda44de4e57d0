"""Recording: the record that a run begins with: its settings, versions, machine and commit."""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from trajgrade.contracts import Store
from trajgrade.jsontext import dumps, read_back
from trajgrade.packing import pack
from trajgrade.record import MadeWith, RunRecord, StoredRow, hash_of, new_id
from trajgrade.run import Run
from trajgrade.tally import Metric

_PACKAGES = (
    "msgspec",
    "rapidfuzz",
    "jsonschema-rs",
    "regex",
    "numpy",
    "sacrebleu",
    "pydantic-ai-slim",
)


def begin_record(
    *,
    name: str,
    experiment: str,
    dataset: str,
    dataset_hash: str,
    settings: Mapping[str, Any],
    about: Mapping[str, Any],
    trials: int = 1,
    seed: int = 0,
) -> RunRecord:
    """Return the record of a run that begins now.

    Args:
        name: What reports call it.
        experiment: What groups runs.
        dataset: The dataset's name.
        dataset_hash: The hash of its content.
        settings: What makes two runs the same: their hash is what a resumed run is found by.
        about: What else is kept with the settings.
        trials: How often each example is repeated.
        seed: What random choices depend on.
    """
    return RunRecord(
        id=new_id(),
        name=name,
        experiment=experiment,
        config_hash=hash_of(settings),
        dataset=dataset,
        dataset_hash=dataset_hash,
        trials=trials,
        seed=seed,
        settings={**settings, **about, **_shown(settings)},
        made_with=made_with(),
        started_at=datetime.now(UTC),
    )


def _shown(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return who answered, as it may be kept: the words of a command may hold a key."""
    if "agent" not in settings:
        return {}
    from trajgrade.judging.redaction import Redaction

    return {"agent": Redaction(("key",))(str(settings["agent"]))}


def made_with() -> MadeWith:
    """Return versions, machine and commit."""
    from trajgrade import __version__

    packages = {}
    for package in _PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    return MadeWith(
        trajgrade=__version__,
        python=sys.version.split()[0],
        packages=packages,
        platform=platform.platform(),
        host=socket.gethostname(),
        commit=_commit(),
    )


def _commit() -> str:
    """Return the Git commit of the working directory, with + where files were changed since."""
    try:
        head, dirty = (
            subprocess.run(  # noqa: S603 the commands stand below
                ["git", *command],  # noqa: S607 whichever git the user has
                capture_output=True,
                text=True,
                timeout=5,
                check=True,
            ).stdout.strip()
            for command in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{head}{'+' if dirty else ''}"


def keep_whole(store: Store, run: Run, *, experiment: str) -> str:
    """Keep a run that is over; return its id.

    Args:
        store: Where it is kept.
        run: The run.
        experiment: What groups runs.
    """
    metrics = {
        key: Metric(key, m.column.bounds, m.column.direction, m.pass_at).to_dict()
        for key, m in run.summary.items()
    }
    record = begin_record(
        name=run.name,
        experiment=experiment,
        dataset=run.dataset,
        dataset_hash="",
        settings={"dataset": run.dataset, "evaluators": dict(run.evaluators)},
        about={"metrics": metrics},
    )
    with store.create(record) as writer:
        rows = [StoredRow(row.row, row.trial or 0, pack(row)) for row in run.rows]
        writer.append(rows)
        told = read_back(dumps(run.to_dict()))
        ended = msgspec.structs.replace(
            record,
            state="finished",
            finished_at=datetime.now(UTC),
            seconds=run.seconds,
            result=told,
        )
        writer.finish(ended)
    return record.id
