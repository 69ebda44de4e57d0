"""Flow: examples in → graded rows out, each as soon as it is done.

Where nothing waits, one row follows the other. Where an agent answers, or an evaluator waits, many
rows are under way at once: what does not wait is graded here as soon as the agent has answered, and
never behind something slow. A row knows its place, so that whoever needs their order can restore it
(`InOrder`); as many rows as may then wait for a slow one before them are bounded.

Once the budget is spent no more rows begin; those that are left are not run, which is no failure.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from trajgrade.agent import Agent, Outcome
from trajgrade.budget import Budget, Spending
from trajgrade.calling import Called, caller
from trajgrade.dataset import Example
from trajgrade.earlier import Earlier
from trajgrade.grading import Begun, Grader
from trajgrade.pace import MAX_CONCURRENCY
from trajgrade.result import not_evaluated
from trajgrade.run import Row
from trajgrade.tally import Graded, Tally

WINDOW = 256  # rows from the first that is not done to the last that is begun
_AHEAD = 4  # the same, as a multiple of the agent's concurrency


class Done(NamedTuple):
    """One row that is done.

    Attributes:
        place: Its place in the run, from 0.
        example: The example, with what the agent answered.
        graded: Its row.
        kept: Whether it was graded by an earlier run, and is here as it was kept.
        run: Whether it was run; else the budget was spent before it began.
        packed: The row packed, where it is so already.
    """

    place: int
    example: Example
    graded: Graded
    kept: bool = False
    run: bool = True
    packed: bytes | None = None

    @property
    def n_rows(self) -> int:
        """How many rows it is."""
        return 1

    def added_to(self, tally: Tally) -> None:
        """Have it tallied."""
        tally.add(self.graded, self.packed)

    def told(self) -> Iterator[tuple[Example, Row]]:
        """Yield the row, with its example, if it was run."""
        if self.run:
            yield self.example, self.graded.row


Keeper = Callable[[Example], Earlier | None]


def flow(
    examples: Iterable[Example],
    grader: Grader,
    agent: Agent | None = None,
    keeper: Keeper | None = None,
    spending: Spending | None = None,
) -> Iterator[Done]:
    """Yield every example's row, as it is done.

    Args:
        examples: What is graded.
        grader: What grades it.
        agent: What answers each example first.
        keeper: Returns what an earlier run has of an example, None where it has nothing.
        spending: What may be spent; None is without limit.
    """
    spending = spending or Spending(Budget())
    if agent is None and not grader.waits:
        return _one_by_one(examples, grader, keeper, spending)
    return _Waiting(examples, grader, agent, keeper, spending).rows()


def _not_run(place: int, example: Example, grader: Grader, spending: Spending) -> Done:
    """Return the row of an example that is not begun."""
    results = {
        evaluator.key: not_evaluated(evaluator.key, "not_run", f"not run: {spending.reason}")
        for evaluator in grader.evaluators
    }
    row = Row(example.id, results, example.trial, example.row, example.source, example.notes)
    return Done(place, example, Graded(row, {}), run=False)


def _one_by_one(
    examples: Iterable[Example], grader: Grader, keeper: Keeper | None, spending: Spending
) -> Iterator[Done]:
    for place, example in enumerate(examples):
        earlier = keeper(example) if keeper is not None else None
        if earlier is None and not spending.allows():
            yield _not_run(place, example, grader, spending)
        elif earlier is None:
            yield Done(place, example, grader.grade(place, example))
        elif earlier.kept is None:
            yield Done(place, example, earlier.graded, kept=True)
        else:
            answered = earlier.example or example
            begun = grader.begin(place, answered, earlier.outcome, earlier.kept)
            yield Done(place, answered, grader.ended(begun))


class _Waiting:
    """Rows of which many are under way at once."""

    def __init__(
        self,
        examples: Iterable[Example],
        grader: Grader,
        agent: Agent | None,
        keeper: Keeper | None,
        spending: Spending,
    ) -> None:
        self._spending = spending
        self._most = agent.max_concurrency if agent else MAX_CONCURRENCY
        self._asked = 0
        self._examples = enumerate(examples)
        self._grader = grader
        self._agent = agent
        self._keeper = keeper
        self._window = max(WINDOW, _AHEAD * (agent.max_concurrency if agent else 0))
        self._open: dict[int, None] = {}  # in order, so that the first is the lowest
        self._come: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()
        self._exhausted = False

    def rows(self) -> Iterator[Done]:
        """Begin rows as far as the window reaches, and yield each that is done."""
        with ExitStack() as stack:
            self._answering = stack.enter_context(self._agent.answering()) if self._agent else None
            judging = caller(self._grader.rest, self._window)
            stack.callback(judging.close)
            self._judging = judging
            while True:
                yield from self._begun()
                if not self._open:
                    return
                place, future = self._come.get()
                done = self._advanced(place, future.result())
                if done is not None:
                    self._open.pop(place, None)
                    yield done

    def _begun(self) -> Iterator[Done]:
        """Begin as many rows as may be under way; yield those that are done at once."""
        while not self._exhausted and not self._has_enough():
            drawn = next(self._examples, None)
            if drawn is None:
                self._exhausted = True
                return
            place, example = drawn
            earlier = self._keeper(example) if self._keeper is not None else None
            if earlier is not None and earlier.kept is None:
                yield Done(place, example, earlier.graded, kept=True)
                continue
            if earlier is None and not self._spending.allows():
                yield _not_run(place, example, self._grader, self._spending)
                continue
            self._open[place] = None
            if earlier is not None:
                self._again(place, earlier.example or example, earlier)
            elif self._answering is not None:
                self._asked += 1
                self._awaits(place, self._answering.submit(example))
            else:
                self._judge(self._grader.begin(place, example))
            if place - next(iter(self._open)) >= self._window:
                return

    def _has_enough(self) -> bool:
        """Whether a row begun now would only wait, and might be beyond the budget by then."""
        under_way = self._asked if self._answering is not None else len(self._open)
        return self._spending.is_bounded and under_way >= self._most

    def _again(self, place: int, example: Example, earlier: Earlier) -> None:
        """Ask the evaluators once more whose results do not stay; the agent is not called."""
        self._judge(self._grader.begin(place, example, earlier.outcome, earlier.kept))

    def _awaits(self, place: int, future: Future[Any]) -> None:
        future.add_done_callback(lambda done: self._come.put((place, done)))

    def _judge(self, begun: Begun) -> None:
        self._awaits(begun.place, self._judging.submit(begun))

    def _advanced(self, place: int, came: Called | tuple[Example, Outcome]) -> Done | None:
        """Take a row one step further; return it when it is done."""
        if isinstance(came, Called):
            if came.raised is not None:
                raise came.raised
            return self._ended(came.returned)
        self._asked -= 1
        self._spending.spent(came[1], came[0].outputs)
        begun = self._grader.begin(place, *came)
        if None not in begun.results:
            return self._ended(begun)
        self._judge(begun)
        return None

    def _ended(self, begun: Begun) -> Done:
        return Done(begun.place, begun.view.example, self._grader.ended(begun))


class Turn(Protocol):
    """Rows that are done: one, or some that lie behind each other."""

    @property
    def place(self) -> int:
        """The place of the first, from 0."""
        ...

    @property
    def n_rows(self) -> int:
        """How many they are."""
        ...

    def added_to(self, tally: Tally) -> None:
        """Have them tallied."""
        ...

    def told(self) -> Iterator[tuple[Example, Row]]:
        """Yield each of them that was run, with its example."""
        ...


Ended = TypeVar("Ended", bound=Turn)


class InOrder(Generic[Ended]):
    """Rows as they come, yielded in the order of their places.

    Args:
        first: The place of the first.
    """

    def __init__(self, first: int = 0) -> None:
        self._next = first
        self._behind: list[tuple[int, int, Ended]] = []
        self._ties = count()

    def add(self, done: Ended) -> Iterator[Ended]:
        """Yield the rows whose turn it is, now that more are done."""
        if done.place == self._next and not self._behind:
            self._next += done.n_rows
            yield done
            return
        heapq.heappush(self._behind, (done.place, next(self._ties), done))
        while self._behind and self._behind[0][0] == self._next:
            self._next += self._behind[0][2].n_rows
            yield heapq.heappop(self._behind)[2]

    def rest(self) -> Iterator[Ended]:
        """Yield what is left, in order, with gaps where a row was never done."""
        while self._behind:
            yield heapq.heappop(self._behind)[2]
