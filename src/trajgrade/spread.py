"""Spread: rows graded on an engine, slice by slice, in processes of their own.

What is to be done is told to each process once: the evaluators, and what the dataset's first rows
show. A job is then a file and a slice of it, and its rows come back packed. What cannot go to
another process is refused by name before any row runs. Metrics of recorded runs only: an agent is
called in this process.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pickletools import genops
from typing import Any, NamedTuple, get_args

from trajgrade import sources
from trajgrade.contracts import Engine, EvaluatorLike
from trajgrade.dataset import Dataset, Example, Needs
from trajgrade.dataset.marks import Marks
from trajgrade.dataset.reader import Outline
from trajgrade.dataset.rows import Csv, Json, JsonLines, Parquet, Rows
from trajgrade.dataset.slices import BYTES, Slice, can_be_cut, examples_of, sliced
from trajgrade.errors import ConfigError, DatasetError, unknown
from trajgrade.flow import Done
from trajgrade.grading import Grader
from trajgrade.packing import pack, unpack
from trajgrade.record import EngineName
from trajgrade.registry import engines
from trajgrade.run import Explain, Row
from trajgrade.tally import Graded

AT_ONCE = 256
_FILES = (JsonLines, Csv, Json, Parquet)
BIG = 32 * 2**20  # bytes from which several processes are worth their start
_MAIN = "__main__"


class Task(NamedTuple):
    """How slices are graded.

    Attributes:
        outline: What the first rows of the dataset show.
        needs: What is read of each row.
        evaluators: What grades, pickled.
        explain: Which rows keep the alignment of their calls.
    """

    outline: Outline
    needs: Needs
    evaluators: bytes
    explain: Explain


class Job(NamedTuple):
    """What is graded at once: a file, and which slice of it."""

    rows: Rows
    part: Slice


class Fault(NamedTuple):
    """Why a slice could be graded no further."""

    said: str


def grade(task: Task, job: Job) -> Iterator[list[tuple[bytes, bytes | None]] | Fault]:
    """Grade a slice, in whatever process this is; yield its rows, packed, some at a time."""
    evaluators = pickle.loads(task.evaluators)  # noqa: S301 pickled by the process that began this
    grader = Grader(evaluators, apart=task.outline.texts_apart, explain=task.explain)
    batch: list[tuple[bytes, bytes | None]] = []
    examples = examples_of(task.outline, job.rows, job.part, task.needs)
    try:
        for place, example in enumerate(examples, start=job.part.before):
            row, alignments = grader.grade(place, example)
            batch.append((pack(row), pack(alignments) if alignments else None))
            if len(batch) >= AT_ONCE:
                yield batch
                batch = []
    except DatasetError as wrong:
        yield batch
        yield Fault(str(wrong))
        return
    yield batch


def refusal(dataset: Dataset, evaluators: Sequence[EvaluatorLike], engine: str) -> str | None:
    """Return why a run cannot be spread over other processes; None where it can.

    Args:
        dataset: The dataset.
        evaluators: What grades.
        engine: The engine's name. Only processes of this machine find what the script that runs
            defines, and only if it is a file.
    """
    if not all(isinstance(rows, _FILES) for rows in dataset.files):
        return f"{dataset.name} is in memory; save it as JSON Lines"
    here = engine != "process_pool" or not hasattr(sys.modules[_MAIN], "__file__")
    for evaluator in evaluators:
        try:
            packed = pickle.dumps(evaluator)
            pickle.loads(packed)  # noqa: S301 packed in the line above
        except Exception as wrong:  # noqa: BLE001 whatever an evaluator of the user's raises
            return f"{evaluator.key} cannot be sent to another process ({wrong})"
        if here and any(said == _MAIN for _, said, _ in genops(packed)):
            return f"{evaluator.key} is defined in what runs; put it into a module of its own"
    return None


def is_big(dataset: Dataset) -> bool:
    """Whether a dataset is so big, and in so many parts, that processes are worth their start."""
    files = [rows for rows in dataset.files if isinstance(rows, _FILES)]
    if sum(sources.size(rows.path) for rows in files) < BIG:
        return False
    return len(files) > 1 or any(map(can_be_cut, files))


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

    Where rows cannot be read, all that lie before the first of them are yielded, as they are by an
    engine that goes through them in order.

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
    bare = [rows.bare() for rows in dataset.files]
    drawn: dict[int, int] = {}
    first: tuple[int, Fault] | None = None

    def jobs() -> Iterator[Job]:
        for number, part in enumerate(sliced(dataset.files, size)):
            if first is not None:
                return
            drawn[number] = part.before
            yield Job(bare[part.file], part)

    work = partial(grade, Task(dataset.outline, needs, pickle.dumps(evaluators), explain))
    marks = Marks()
    for number, batches in engine.map(work, jobs()):
        place = drawn.pop(number)
        if first is not None and number > first[0]:
            continue
        for batch in batches:
            if isinstance(batch, Fault):
                first = number, batch
                break
            for packed, explained in batch:
                done = _unpacked(place, packed, explained)
                if not marks.add(hash((done.graded.row.id, done.graded.row.trial))):
                    dataset.refuse_repeats()
                yield done
                place += 1
    if first is not None:
        raise DatasetError(first[1].said)


def _unpacked(place: int, packed: bytes, explained: bytes | None) -> Done:
    row = unpack(packed, Row)
    alignments = unpack(explained, dict[str, Any]) if explained else {}
    return Done(place, Example(id=row.id, trial=row.trial, row=row.row), Graded(row, alignments))


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
    why = here or refusal(dataset, evaluators, "process_pool" if name == "auto" else name)
    if name == "auto":
        if why is not None or not is_big(dataset):
            return None
        pool: Engine = engines.build("process_pool", {"workers": workers})
        return pool if pool.workers > 1 else None
    if why is not None:
        raise ConfigError(f"engine: {name} cannot do this run: {why}; event_loop can")
    made: Engine = engines.build(name, {"workers": workers})
    return made
