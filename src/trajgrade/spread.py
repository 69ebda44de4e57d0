"""Spread: rows graded on an engine, slice by slice, in processes of their own.

A job is plain data: where the dataset is, which slice of it, and the evaluators; its rows come back
packed. What cannot go to another process is refused by name before any row runs. Metrics of
recorded runs only: an agent is called in this process.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, get_args

from trajgrade.contracts import Engine, EvaluatorLike
from trajgrade.dataset import Dataset, Example, Needs
from trajgrade.dataset.marks import Marks
from trajgrade.dataset.rows import Csv, Json, JsonLines, Parquet
from trajgrade.dataset.slices import BYTES, Slice, examples_of, sliced
from trajgrade.errors import ConfigError, unknown
from trajgrade.flow import Done
from trajgrade.grading import Grader
from trajgrade.packing import pack, unpack
from trajgrade.record import EngineName
from trajgrade.registry import engines
from trajgrade.run import Explain, Row
from trajgrade.tally import Graded

AT_ONCE = 256
_KINDS: dict[type, str] = {JsonLines: "jsonl", Csv: "csv", Json: "json", Parquet: "parquet"}
_FILES = (JsonLines, Csv, Json, Parquet)
BIG = 32 * 2**20  # bytes from which several processes are worth their start


class Job(NamedTuple):
    """A slice to be graded.

    Attributes:
        paths: The dataset's files.
        kinds: How each is read.
        fields: Which field plays which role.
        part: The slice.
        needs: What is read of each row, packed.
        evaluators: What grades, pickled.
        explain: Which rows keep the alignment of their calls.
    """

    paths: tuple[str, ...]
    kinds: tuple[str, ...]
    fields: tuple[tuple[str, str | None], ...]
    part: Slice
    needs: Needs
    evaluators: bytes
    explain: Explain


def grade(job: Job) -> Iterator[list[tuple[bytes, bytes | None]]]:
    """Grade a slice, in whatever process this is; yield its rows, packed, some at a time."""
    dataset = _opened(job.paths, job.kinds, job.fields)
    evaluators = pickle.loads(job.evaluators)  # noqa: S301 pickled by the process that began this one
    grader = Grader(evaluators, apart=dataset.texts_apart, explain=job.explain)
    batch: list[tuple[bytes, bytes | None]] = []
    for place, example in enumerate(examples_of(dataset, job.part, job.needs)):
        row, alignments = grader.grade(place, example)
        batch.append((pack(row), pack(alignments) if alignments else None))
        if len(batch) >= AT_ONCE:
            yield batch
            batch = []
    yield batch


@lru_cache(maxsize=4)
def _opened(
    paths: tuple[str, ...], kinds: tuple[str, ...], fields: tuple[tuple[str, str | None], ...]
) -> Dataset:
    kind = kinds[0] if len(set(kinds)) == 1 else None
    return Dataset.load(list(paths), dict(fields), format=kind)


def refusal(dataset: Dataset, evaluators: Sequence[EvaluatorLike], *, waits: bool) -> str | None:
    """Return why a run cannot be spread; None where it can."""
    if waits:
        return "judges and other evaluators that wait are asked from this process"
    if not all(isinstance(rows, _FILES) for rows in dataset.files):
        return f"{dataset.name} is in memory; save it as JSON Lines"
    for evaluator in evaluators:
        try:
            pickle.dumps(evaluator)
        except Exception as wrong:  # noqa: BLE001 whatever an evaluator of the user's raises
            return f"{evaluator.key} cannot be sent to another process ({wrong})"
    return None


def is_big(dataset: Dataset) -> bool:
    """Whether a dataset is so big that several processes are worth their start."""
    paths = [rows.path for rows in dataset.files if isinstance(rows, _FILES)]
    return sum(path.stat().st_size for path in paths) >= BIG


def spread(
    engine: Engine,
    dataset: Dataset,
    evaluators: Sequence[EvaluatorLike],
    needs: Needs,
    explain: Explain,
    *,
    size: int = BYTES,
) -> Iterator[Done]:
    """Yield every row, as it is done.

    Args:
        engine: Where the work runs.
        dataset: The dataset.
        evaluators: What grades.
        needs: What is read of each row.
        explain: Which rows keep the alignment of their calls.
        size: About how many bytes of a file make a job.

    Raises:
        DatasetError: A row cannot be read, or has the id and trial of another.
        EngineError: The work failed.
    """
    parts = list(sliced(dataset.files, size))
    fields: Mapping[str, str | None] = dataset.fields
    common: dict[str, Any] = {
        "paths": tuple(str(rows.path) for rows in dataset.files),  # type: ignore[attr-defined]  # files
        "kinds": tuple(_KINDS[type(rows)] for rows in dataset.files),
        "fields": tuple(fields.items()),
        "needs": needs,
        "evaluators": pickle.dumps(evaluators),
        "explain": explain,
    }
    marks = Marks()
    for number, batches in engine.map(grade, (Job(part=part, **common) for part in parts)):
        place = parts[number].before
        for packed, explained in (one for batch in batches for one in batch):
            row = unpack(packed, Row)
            if not marks.add(hash((row.id, row.trial))):
                dataset.refuse_second(row.row)
            alignments = unpack(explained, dict[str, Any]) if explained else {}
            example = Example(id=row.id, trial=row.trial, row=row.row)
            yield Done(place, example, Graded(row, alignments))
            place += 1


def engine_of(
    name: str,
    workers: int | None,
    dataset: Dataset,
    evaluators: Sequence[EvaluatorLike],
    *,
    here: str | None,
) -> Engine | None:
    """Return the engine that a run is spread on; None where it runs in this process.

    Args:
        name: The engine's name, or `auto`: all cores for big files, else this process.
        workers: How many at once.
        dataset: The dataset.
        evaluators: What grades.
        here: Why the rows must be graded in this process, None where they need not be.

    Raises:
        ConfigError: There is no such engine, or it cannot do this run.
        MissingExtraError: The engine needs a package that is not installed.
    """
    if name not in get_args(EngineName):
        raise ConfigError(f"engine: {unknown('engine', name, get_args(EngineName))}")
    if name == "event_loop":
        return None
    why = here or refusal(dataset, evaluators, waits=False)
    if name == "auto":
        if why is not None or not is_big(dataset):
            return None
        pool: Engine = engines.build("process_pool", {"workers": workers})
        return pool if pool.workers > 1 else None
    if why is not None:
        raise ConfigError(f"engine: {name} cannot do this run: {why}; event_loop can")
    made: Engine = engines.build(name, {"workers": workers})
    return made
