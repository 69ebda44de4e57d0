"""Spread: rows graded on an engine, slice by slice, in processes of their own.

What is to be done is told to each process once: the evaluators, and what the dataset's first rows
show. A job is then a file and a slice of it, with what an earlier run has of its rows; what comes
back are parcels. What cannot go to another process is refused by name before any row runs. Metrics
of recorded runs only: an agent is called in this process.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pickletools import genops
from typing import get_args

from trajgrade import sources
from trajgrade.contracts import Came, Engine, EvaluatorLike, PartWriter
from trajgrade.dataset import Dataset, Needs
from trajgrade.dataset.marks import Marks
from trajgrade.dataset.rows import Csv, Json, JsonLines, Parquet
from trajgrade.dataset.slices import BYTES, can_be_cut, sliced
from trajgrade.earlier import Retry
from trajgrade.errors import ConfigError, DatasetError, unknown
from trajgrade.parcels import Job, Parcel, Task, grade
from trajgrade.record import EngineName, StoredRow
from trajgrade.registry import engines
from trajgrade.run import Explain
from trajgrade.tally import Metric

_FILES = (JsonLines, Csv, Json, Parquet)
BIG = 32 * 2**20  # bytes from which several processes are worth their start
_MAIN = "__main__"


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
    metrics: Mapping[str, Metric],
    needs: Needs,
    explain: Explain,
    *,
    there: Callable[[int, int], Sequence[StoredRow]] | None = None,
    retry: Collection[Retry] = (),
    keep: Callable[[Parcel, bool], None] | None = None,
    parts: PartWriter | None = None,
    size: int = BYTES,
) -> Iterator[Parcel]:
    """Yield every row, those of a slice together, as slices are done.

    Where rows cannot be read, all that lie before the first of them are yielded, as they are by an
    engine that goes through them in order.

    Args:
        engine: Where the work runs.
        dataset: The dataset.
        evaluators: What grades.
        metrics: What is known of their metrics.
        needs: What is read of each row.
        explain: Which rows keep the alignment of their calls.
        there: Returns what an earlier run has of so many rows from a place on; it is asked in the
            order of the dataset.
        retry: What of that is done once more.
        keep: Called with rows as they come, and whether they may have come before: the worker that
            graded them then died.
        parts: What keeps rows where they are graded; `keep` is told what as.
        size: About how many bytes of a file make a job.

    Raises:
        DatasetError: A row cannot be read, or has the id and trial of another.
        EngineError: The work failed.
    """
    packed = pickle.dumps((list(evaluators), dict(metrics)))
    work = partial(grade, Task(dataset.outline, needs, packed, explain, frozenset(retry), parts))
    slices = _Slices(dataset, there, size)
    marks = Marks()
    try:
        for came in engine.map(work, slices.jobs()):
            parcel = slices.came(came)
            if parcel is not None and keep is not None:
                keep(parcel, came.number in slices.anew)
            for ended in slices.ended(came):
                if not all(map(marks.add, ended.marks)):
                    dataset.refuse_repeats()
                yield ended
    except KeyboardInterrupt:
        yield from slices.left()
        raise
    if slices.fault is not None:
        raise DatasetError(slices.fault)


class _Slices:
    """The slices that are under way, and what came of them so far.

    Attributes:
        fault: What is wrong with the first row that cannot be read, if one was met.
        anew: The slices that were begun again.
    """

    def __init__(
        self,
        dataset: Dataset,
        there: Callable[[int, int], Sequence[StoredRow]] | None,
        size: int,
    ) -> None:
        self.fault: str | None = None
        self.anew: set[int] = set()
        self._last = sys.maxsize
        self._files = dataset.files
        self._there = there
        self._size = size
        self._held: dict[int, list[Parcel]] = {}

    def jobs(self) -> Iterator[Job]:
        """Yield what is to be done, as long as all rows can be read."""
        bare = [rows.bare() for rows in self._files]
        for part in sliced(self._files, self._size):
            if self.fault is not None:
                return
            earlier = self._there(part.before, part.n_rows) if self._there is not None else ()
            yield Job(bare[part.file], part, earlier)

    def came(self, came: Came) -> Parcel | None:
        """Take in what came; return the rows that it is."""
        number, what, piece = came
        if what == "again":
            self._held.pop(number, None)
            self.anew.add(number)
        elif what == "piece" and number <= self._last:
            if isinstance(piece, Parcel):
                self._held.setdefault(number, []).append(piece)
                return piece
            self._last, self.fault = number, piece.said
        return None

    def ended(self, came: Came) -> Sequence[Parcel]:
        """Return the rows of a slice that has ended, unless one before it cannot be read."""
        if came.what != "ended":
            return ()
        rows = self._held.pop(came.number, ())
        return rows if came.number <= self._last else ()

    def left(self) -> Iterator[Parcel]:
        """Yield the rows that are there of slices that have not ended."""
        for number in sorted(self._held):
            yield from self._held[number]


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
