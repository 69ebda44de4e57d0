"""Run: what came of grading a dataset: every row's results, and what they come to.

Rows are kept on disk while the run grows and read back one at a time; of each row only ids and
scores stay in memory, and of the traces nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

import msgspec

from trajgrade.alignment import Alignment
from trajgrade.errors import MissingExtraError
from trajgrade.packing import pack, unpack
from trajgrade.registry import reports
from trajgrade.result import AgentError, EvaluationResult
from trajgrade.summary import MetricSummary, Summary
from trajgrade.thresholds import Outcome

if TYPE_CHECKING:
    from pandas import DataFrame

Explain = Literal["all", "worst", "none"]

_IN_MEMORY = 4 * 2**20
_AT_ONCE = 256


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of one row of the dataset.

    Attributes:
        id: The example.
        results: One result for each metric, by key.
        trial: Which repeat of the example it is, None where there is one only.
        row: Its place in the dataset, from 0.
        source: Where it stands, for messages.
        notes: What was unusual in the row's text.
        latency_in_seconds: How long the agent took, None where none was called.
        failure: 1 where the agent failed, 0 where it did not, None where none was called.
        agent_error: How the agent failed.
        origins: The evaluator that gave a result, where that has another key.
    """

    id: str
    results: dict[str, EvaluationResult]
    trial: int | None = None
    row: int = 0
    source: str = ""
    notes: tuple[str, ...] = ()
    latency_in_seconds: float | None = None
    failure: int | None = None
    agent_error: AgentError | None = None
    origins: dict[str, str] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain objects."""
        found: dict[str, Any] = {"id": self.id, "row": self.row}
        if self.trial is not None:
            found["trial"] = self.trial
        if self.source:
            found["source"] = self.source
        if self.notes:
            found["notes"] = list(self.notes)
        if self.failure is not None:
            found["latency_in_seconds"] = self.latency_in_seconds
            found["failure"] = self.failure
        if self.agent_error is not None:
            found["agent_error"] = msgspec.to_builtins(self.agent_error)
        return {**found, "results": {key: r.to_dict() for key, r in self.results.items()}}


class _Named(msgspec.Struct):
    id: str


class Rows(Sequence[Row]):
    """The rows of a run, packed on disk, and read back when they are asked for."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 closed with the rows
        finalize(self, self._file.close)
        self._ends = array("Q", [0])
        self._waiting: list[bytes] = []
        self.amended: dict[int, dict[str, dict[str, Any]]] = {}

    def append(self, row: Row, packed: bytes | None = None) -> None:
        """Keep one more row, packed where it is so already."""
        text = pack(row) if packed is None else packed
        self._waiting.append(text)
        self._ends.append(self._ends[-1] + len(text))
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def extend(self, packed: bytes, ends: Sequence[int]) -> None:
        """Keep more rows.

        Args:
            packed: The rows, packed, one behind the other.
            ends: Where in it each of them ends.
        """
        start = self._ends[-1]
        self._waiting.append(packed)
        self._write()
        self._ends.extend([start + end for end in ends])

    def packed(self) -> tuple[bytes, array[int]]:
        """Return the rows as `extend` takes them."""
        self._write()
        self._file.seek(0)
        return self._file.read(), self._ends[1:]

    def _write(self) -> None:
        self._file.seek(0, SEEK_END)
        self._file.write(b"".join(self._waiting))
        self._waiting.clear()

    def amend(self, row: int, key: str, metadata: Mapping[str, Any]) -> None:
        """Add metadata, known only later, to one result of one row."""
        self.amended.setdefault(row, {}).setdefault(key, {}).update(metadata)

    def unamend(self, row: int, key: str) -> None:
        """Take back what was added to one result of one row."""
        self.amended.get(row, {}).pop(key, None)

    def _packed(self, index: int) -> bytes:
        if self._waiting:
            self._write()
        self._file.seek(self._ends[index])
        return self._file.read(self._ends[index + 1] - self._ends[index])

    def _read(self, index: int) -> Row:
        row = unpack(self._packed(index), Row)
        for key, metadata in self.amended.get(index, {}).items():
            result = row.results[key]
            row.results[key] = msgspec.structs.replace(
                result, metadata={**result.metadata, **metadata}
            )
        return row

    def __getitem__(self, index: Any) -> Any:
        """Return one row, or a list of them for a slice."""
        if isinstance(index, slice):
            return [self._read(place) for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._read(place)

    def ids(self) -> Iterator[str]:
        """Yield the id of each row, reading no more of it."""
        for index in range(len(self)):
            yield unpack(self._packed(index), _Named).id

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[Row]:
        """Read the rows in the dataset's order."""
        return map(self._read, range(len(self)))


class Worst(msgspec.Struct, frozen=True):
    """A row that a metric scored low, or could not score."""

    metric: str
    row: int
    score: float | None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What came of grading a dataset.

    Attributes:
        rows: Every row with its results, read from disk when asked for.
        summary: What the results come to, by metric.
        agent: What latency and failure of the agent come to; empty where none was called.
        id: What names it in the store; empty where it is kept in none.
        name: What the run was called, if anything.
        dataset: The dataset's name.
        dataset_hash: The hash of what was in it; empty where that was not asked for.
        evaluators: Each metric's evaluator, as it was built.
        outcomes: Whether the thresholds are met.
        warnings: What should be looked at, one sentence each.
        worst: The lowest rows of each metric, and those that could not be scored.
        fail_on_error: Whether any row in error fails the run.
        interrupted: Whether it was stopped before its end.
        started_at: When it began.
        seconds: How long it took.
        seed: What an agent that asks for it was given for trial 0; None where none was called.
        judge_alignment: What was measured of the judges that were asked, by metric.
    """

    rows: Rows
    summary: Summary
    agent: Summary = msgspec.field(default_factory=lambda: Summary(()))
    id: str = ""
    name: str = ""
    dataset: str
    dataset_hash: str = ""
    evaluators: dict[str, str]
    outcomes: tuple[Outcome, ...] = ()
    warnings: tuple[str, ...] = ()
    worst: tuple[Worst, ...] = ()
    fail_on_error: bool = False
    interrupted: bool = False
    started_at: datetime
    seconds: float
    seed: int | None = None
    judge_alignment: tuple[Alignment, ...] = ()

    @property
    def n_examples(self) -> int:
        """The number of examples; trials of one are counted once."""
        metrics = (*self.summary.values(), *self.agent.values())
        return next((metric.groups.count for metric in metrics), 0)

    def __repr__(self) -> str:
        """Return the means, and what they are over."""
        means = [
            f"{key} {'–' if metric.mean is None else f'{metric.mean:.3f}'}"
            for key, metric in self.summary.items()
        ]
        return f"<Run of {self.dataset}: {len(self.rows)} rows; {', '.join(means)}>"

    @property
    def exit_code(self) -> int:
        """0: fine; 1: a threshold fails, or a row is in error where that should fail; 3: undecided.

        Without thresholds, 3 also says that some metric scored no row. 130: interrupted.
        """
        if self.interrupted:
            return 130
        verdicts = {outcome.verdict for outcome in self.outcomes}
        if "failed" in verdicts:
            return 1
        if self.fail_on_error and any(m.n_error for m in self.summary.values()):
            return 1
        nothing = not self.outcomes and any(not m.n_scored for m in self.summary.values())
        return 3 if "undecided" in verdicts or nothing else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the run without its rows, as plain objects."""
        from trajgrade import __version__

        return {
            "trajgrade": __version__,
            **({"id": self.id} if self.id else {}),
            "name": self.name,
            "dataset": self.dataset,
            **({"dataset_hash": self.dataset_hash} if self.dataset_hash else {}),
            "started_at": self.started_at.isoformat(),
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
            "n_rows": len(self.rows),
            "n_examples": self.n_examples,
            "evaluators": self.evaluators,
            "scales": {key: _scale(m) for key, m in self.summary.items()},
            "metrics": self.summary.to_dict(),
            **({"agent": self.agent.to_dict()} if self.agent else {}),
            **({} if self.seed is None else {"seed": self.seed}),
            **(
                {"judge_alignment": [one.to_dict() for one in self.judge_alignment]}
                if self.judge_alignment
                else {}
            ),
            "thresholds": [msgspec.to_builtins(outcome) for outcome in self.outcomes],
            "warnings": list(self.warnings),
            "exit_code": self.exit_code,
        }

    def to_pandas(self) -> DataFrame:
        """Return one line for each row: `id`, `trial`, `<metric>/score`, `<metric>/explanation`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Run.to_pandas()", "pandas", "pandas") from None
        return pd.DataFrame([flat(row) for row in self.rows])

    @classmethod
    def load(cls, source: str | Path, *, store: Any = None) -> Run:
        """Read a run back: a `.json` or `.jsonl` file that `save` wrote, or `run:ID` of a store.

        Args:
            source: The path, or `run:` and an id, or `run:latest`.
            store: The store, or its address; the default store where it is None.

        Raises:
            DatasetError: The file cannot be read, or holds no run.
            StoreError: The store cannot be read.
            UnknownNameError: The store has no such run.
        """
        loaded: Run = import_module("trajgrade.saved").load(source, store=store)
        return loaded

    def save(self, path: str | Path) -> None:
        """Write the run to a file; the suffix names the format.

        `.html`, `.md`, `.xml` (JUnit), `.json`, `.jsonl`, `.csv`, `.parquet`.

        Raises:
            UnknownNameError: There is no format of that suffix.
        """
        reports.find(Path(path).suffix.lower())(self, Path(path))


def _scale(metric: MetricSummary) -> dict[str, Any]:
    """Return what makes a metric's scores good or bad: what a saved run is read back with."""
    column = metric.column
    ends = None if column.bounds is None else list(column.bounds)
    known = {"range": ends, "direction": column.direction, "passes": metric.pass_at}
    return {name: value for name, value in known.items() if value is not None}


class InterruptedRunError(KeyboardInterrupt):
    """The run was interrupted; `run` holds what was done until then."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted after {len(run.rows)} rows")
        self.run = run


def flat(row: Row) -> dict[str, Any]:
    """Return one row as columns, with Vertex's names: `<metric>/score`, `<metric>/explanation`."""
    columns: dict[str, Any] = {"id": row.id}
    if row.trial is not None:
        columns["trial"] = row.trial
    if row.failure is not None:
        columns["latency_in_seconds"] = row.latency_in_seconds
        columns["failure"] = row.failure
    for key, result in row.results.items():
        columns[f"{key}/score"] = result.score
        columns[f"{key}/explanation"] = result.comment
        columns[f"{key}/error"] = result.error.kind if result.error else None
    return columns
