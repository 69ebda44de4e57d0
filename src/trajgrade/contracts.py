"""The seams, as protocols: what a format, an evaluator, a judge and a store must be.

An evaluator is anything with `key` and `evaluate`. `trajgrade.evaluators.Evaluator` is a
convenience, not a requirement; a plain function with any of the parameter names `outputs`,
`reference_outputs`, `inputs` is wrapped by the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

import msgspec

from trajgrade.glimpse import Glimpse
from trajgrade.production import Inbox
from trajgrade.record import Holder, Key, RunRecord, State, StoredRow
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory
from trajgrade.versions import DatasetVersion, Kept

Reads = Literal["trajectory", "response", "raw"]


class Format(Protocol):
    """Raw trace → Trajectory. Its docstring shows the raw shape.

    `recognises` answers from evidence that only the origin has. `[]` is zero calls in every format
    and so recognised by one only, `chat`.

    A format may have `keys`: it recognises only data in which the outermost object, or an item of
    the outermost list or of the one under `messages`, has one of these keys; about other data it
    is not asked. It may also have `wire`, a type for msgspec so strict that whatever decodes to it
    is of this format and no other, and `read_wire`, which reads what was decoded. Such data is
    recognised by decoding it. Both ways read equal trajectories.

    It may also have `measure`, which reads from the same data what it records of each trajectory
    beside its steps (`telemetry`): models, tokens, costs, times. It is asked only when that is
    needed, and must not raise, whatever the data.

    A format of long logs may have `read_lines`, which reads the lines of one run without what tools
    gave back, and `read_steps`, which yields its steps as they are done and keeps none.
    """

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data bears this origin's mark. Must not raise, whatever the data."""
        ...

    def read(self, data: Any) -> Iterable[Trajectory]:
        """Read the trajectories that the data holds. Never changes the data.

        Raises:
            TraceError: The data breaks the format's rules.
        """
        ...


@runtime_checkable
class EvaluatorLike(Protocol):
    """Outputs and reference → EvaluationResult."""

    key: str

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Grade one example."""
        ...


class JudgeTurn(msgspec.Struct, frozen=True):
    """One message of what is said to a judge."""

    role: Literal["system", "user", "assistant"]
    text: str


class JudgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a judge.

    Attributes:
        turns: What is said to it, in order.
        schema: The JSON Schema of the reply; None where the reply is text.
        identity: What the question is, whatever the random delimiters in its turns: two requests
            of one identity may be answered by one reply.
        sample: Which of several independent answers to the same question is asked for.
    """

    turns: tuple[JudgeTurn, ...]
    schema: dict[str, Any] | None = None
    identity: str = ""
    sample: int = 0


class JudgeReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said, and what it took.

    Attributes:
        text: The reply as it came, whole; arguments of a tool call are its JSON text.
        model: Which model answered, as the provider names it.
        tokens_in: How many tokens were read; None where that is not known.
        tokens_out: How many tokens were written; None where that is not known.
        cost: US dollars; None where the price is not known.
        seconds: How long the answer took, without waiting for a place or for a retry.
        truncated: Whether the reply was cut off at the token limit.
        refused: Why the judge would not answer; empty where it answered.
        cached: Whether the reply was that of an earlier or an equal request, and took nothing.
    """

    text: str
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    truncated: bool = False
    refused: str = ""
    cached: bool = False


@runtime_checkable
class Judge(Protocol):
    """Prompt → reply. What the reply means is read elsewhere, by one reader for all judges."""

    name: str

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Answer one question.

        Raises:
            JudgeError: The judge cannot be reached, or its provider refuses the request.
        """
        ...


class Came(NamedTuple):
    """What an engine tells of a job.

    Attributes:
        number: The job's number, from 0.
        what: `piece`: the next piece of what the work makes of it; `ended`: there are no more;
            `again`: its worker died, the pieces so far do not count, and it is begun anew.
        piece: The piece.
    """

    number: int
    what: Literal["piece", "ended", "again"]
    piece: Any = None


class Engine(Protocol):
    """Where the work runs. It knows nothing of what the work is."""

    workers: int

    def map(self, work: Callable[[Any], Iterable[Any]], jobs: Iterable[Any]) -> Iterator[Came]:
        """Yield what the work makes of each job, piece by piece, as it comes.

        Args:
            work: A function of a module, or a `partial` of one, from a job to what it makes of it,
                piece by piece. It is sent to each process once.
            jobs: Plain data, drawn as there is room for them.

        Raises:
            EngineError: The work raised, or a job could not be done.
        """
        ...


class PartWriter(Protocol):
    """Writes rows in another process, apart from the run that they are of."""

    def write(self, rows: Sequence[StoredRow]) -> str:
        """Write rows; return the name by which whoever holds the run makes them a part of it."""
        ...


@runtime_checkable
class Adopting(Protocol):
    """A `RunWriter` whose rows may be written by other processes.

    Attributes:
        parts: What writes them, as plain data.
    """

    parts: PartWriter

    def adopt(self, name: str, keys: Iterable[Key]) -> None:
        """Keep rows that `parts` wrote, also in place of those that are there with their keys."""
        ...


class RunWriter(Protocol):
    """One run, held by this process while it grows. Closed at the end of a `with` block."""

    run_id: str

    def append(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows, in any order. They are there once this returns, whatever happens next.

        A row that is there already, by its key, stays as it is.

        Raises:
            StoreError: They cannot be written; none of them is kept.
        """
        ...

    def rewrite(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows in place of those that are there with their keys, in one step."""
        ...

    def finish(self, record: RunRecord, amended: Mapping[Key, bytes] | None = None) -> None:
        """Keep what became of the run, whatever its state, and what its end says of its rows.

        Args:
            record: The run's record from now on.
            amended: Metadata by metric, packed, for the rows that get any; in place of what an
                earlier end of the run said.
        """
        ...

    def close(self) -> None:
        """Let go of the run, so that others can write it."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: object) -> None: ...


class Datasets(Protocol):
    """Datasets that are kept: a version never changes, and each change is a new one."""

    def put(
        self, name: str, rows: Iterable[Mapping[str, Any]], *, note: str = ""
    ) -> DatasetVersion:
        """Keep rows as the newest version; where they are the newest already, that is returned."""
        ...

    def add(
        self, name: str, rows: Iterable[Mapping[str, Any]], *, note: str = ""
    ) -> DatasetVersion:
        """Keep the newest version with these rows, which replace those of their ids."""
        ...

    def tag(self, name: str, tag: str, as_of: str | int = "latest") -> DatasetVersion:
        """Have a tag name a version, and no other."""
        ...

    def names(self) -> list[str]:
        """Return the names of all datasets, in order."""
        ...

    def versions(self, name: str) -> list[DatasetVersion]:
        """Return the versions of a dataset, the newest first; none where there is no dataset."""
        ...

    def version(self, name: str, as_of: str | int = "latest") -> DatasetVersion:
        """Return the version that a tag, a number or `latest` means.

        Raises:
            DatasetError: It means none.
        """
        ...

    def kept(self, name: str, as_of: str | int = "latest", split: str = "") -> Iterator[Kept]:
        """Yield a version's rows as they are kept."""
        ...

    def rows(self, name: str, as_of: str | int = "latest", split: str = "") -> Iterator[Any]:
        """Yield a version's rows."""
        ...


class Store(Protocol):
    """Where runs are kept. Every method raises `StoreError` where it cannot do what it says.

    A store may be read by any number of processes while runs are written; each run is written by
    one at a time.
    """

    url: str

    @property
    def datasets(self) -> Datasets:
        """The datasets that are kept here."""
        ...

    @property
    def inbox(self) -> Inbox:
        """What production sends, and what is done with it.

        Raises:
            StoreError: The store is no database.
        """
        ...

    def create(self, record: RunRecord) -> RunWriter:
        """Begin a run, and hold it."""
        ...

    def reopen(self, run_id: str) -> RunWriter:
        """Hold a run that exists, to go on with it.

        Raises:
            StoreError: Another process holds it; the message says which one, and since when. That
                of a process that has died is taken over.
        """
        ...

    def runs(
        self,
        *,
        experiment: str | None = None,
        config_hash: str | None = None,
        state: State | None = None,
        limit: int | None = None,
    ) -> list[RunRecord]:
        """Return the records of runs, the newest first."""
        ...

    def run(self, name: str) -> RunRecord:
        """Return one run's record by its id, by a unique beginning or end of it, or `latest`.

        Raises:
            UnknownNameError: There is none of that name.
            StoreError: There are several.
        """
        ...

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        ...

    def rows(self, run_id: str) -> Iterator[StoredRow]:
        """Yield a run's rows in the order of their keys, few of them in memory at a time."""
        ...

    def row(self, run_id: str, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        ...

    def done(self, run_id: str) -> Iterator[Key]:
        """Yield the keys of a run's rows, in order."""
        ...

    def count(self, run_id: str) -> int:
        """Return how many rows of a run are there."""
        ...

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows, unless a process holds it."""
        ...

    def close(self) -> None:
        """Let go of files and connections. Readers end; writers are closed apart."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: object) -> None: ...
