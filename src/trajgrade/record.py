"""Record: what a store keeps of a run, and of each of its rows.

A run is known by its id. Ids sort by the time at which the run began, and end in what makes them
unique: `20261201-134500123-k3x9q7ab`.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec

from trajgrade.jsontext import dumps

EngineName = Literal["auto", "event_loop", "process_pool", "ray"]
State = Literal["running", "interrupted", "stopped", "finished"]

RUN = "run:"  # begins the name of a kept run, where a dataset is asked for
DATASET = "store:"  # begins the address of a kept dataset

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # none that is taken for another
_TAIL = 8


class Key(NamedTuple):
    """Which row of a run: its place in the dataset, from 0, and which repeat of it, from 0."""

    row: int
    trial: int = 0


class MadeWith(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run was made with.

    Attributes:
        trajgrade: Its version.
        python: Python's version.
        packages: The versions of other packages that scores may depend on.
        platform: The machine and its system.
        host: The machine's name.
        commit: The Git commit of the working directory, with `+` where files were changed since;
            empty where there is none.
    """

    trajgrade: str
    python: str = ""
    packages: dict[str, str] = {}
    platform: str = ""
    host: str = ""
    commit: str = ""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run.

    Attributes:
        id: What names it.
        name: What reports call it, if anything.
        experiment: The label that groups runs, if any.
        state: `running` until it ends, also where its process died; `interrupted` by whoever
            watched it; `stopped` by a budget; or `finished`.
        config_hash: Equal for runs of equal settings.
        dataset: The dataset's name.
        dataset_hash: The hash of what is in it.
        expected: How many rows there are to be, None where that is not known.
        trials: How often each example is repeated.
        seed: What its random choices depend on.
        settings: What the run can be built from again, as plain objects.
        made_with: Versions, machine, commit.
        started_at: When it began.
        finished_at: When it ended, None where it has not.
        seconds: How long it took, all its parts together.
        result: What it came to, as plain objects; None until it is finished.
        cost: Dollars, None where nothing was asked for money.
    """

    id: str
    name: str = ""
    experiment: str = ""
    state: State = "running"
    config_hash: str = ""
    dataset: str = ""
    dataset_hash: str = ""
    expected: int | None = None
    trials: int = 1
    seed: int = 0
    settings: dict[str, Any] = {}
    made_with: MadeWith | None = None
    started_at: datetime
    finished_at: datetime | None = None
    seconds: float = 0.0
    result: dict[str, Any] | None = None
    cost: float | None = None


class StoredRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row of a run, as it is kept. The parts are packed (`trajgrade.packing`).

    Attributes:
        row: Its place in the dataset, from 0.
        trial: Which repeat of it, from 0.
        graded: The `trajgrade.run.Row`.
        example: The example with what the agent answered, where one was called; None else.
        explained: The alignments of its calls by metric, as they were found when it was graded.
        amended: Metadata that was known at the end of the run only, by metric.
    """

    row: int
    trial: int
    graded: bytes
    example: bytes | None = None
    explained: bytes | None = None
    amended: bytes | None = None

    @property
    def key(self) -> Key:
        """Which row of the run it is."""
        return Key(self.row, self.trial)


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """The process that writes a run.

    Attributes:
        pid: Its number.
        host: The machine it runs on.
        since: When it began to.
    """

    pid: int
    host: str
    since: datetime

    def __str__(self) -> str:
        """Say who and since when."""
        return f"process {self.pid} on {self.host}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def new_id(at: datetime | None = None) -> str:
    """Return an id for a run that begins now, or at that time."""
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    tail = "".join(secrets.choice(_LETTERS) for _ in range(_TAIL))
    return f"{moment:%Y%m%d-%H%M%S}{moment.microsecond // 1000:03}-{tail}"


def hash_of(settings: Any) -> str:
    """Return the hash of settings, the same whatever the order of their keys."""
    return hashlib.sha256(dumps(_sorted(settings))).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
