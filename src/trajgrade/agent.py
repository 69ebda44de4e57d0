"""Agent: something that answers, called once for each row, its time taken and its failures caught.

A function of the prompt, sync or async, an object with `query(input=…)`, or one with
`query_row(row)`, such as a program or an address (`trajgrade.program`, `trajgrade.remote`). A row
is what the agent may know of an example: its id, inputs and context, which trial it is, and the
seed; never what is expected. A function, or a `query`, that has a parameter `seed` gets the seed.

At most `max_concurrency` calls are under way at once, and a bounded number of rows is in memory.
What an agent raises is its row's failure and touches no other row; so is returning nothing, or
nothing in time. The latency is the time of the call alone.
"""

from __future__ import annotations

import inspect
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import msgspec

from trajgrade.calling import Called, Caller, Function, caller, is_async
from trajgrade.dataset.example import Example, Role
from trajgrade.errors import ConfigError, TraceError, shorten
from trajgrade.pace import MAX_CONCURRENCY, Transient, pace_of
from trajgrade.reply import RESPONSES, TRAJECTORY, Reply, calls_of, read_reply, said_in
from trajgrade.result import AgentError

_AHEAD = 4  # rows that may wait behind a slow one, as a multiple of the concurrency
_HOW = (
    "an agent is a function of the prompt, sync or async, or an object with query(input=…) or "
    "query_row(row); it returns {'response': …, 'predicted_trajectory': […]}, or any trace"
)


class Outcome(msgspec.Struct, frozen=True):
    """What came of calling the agent for one row.

    Attributes:
        latency_in_seconds: How long the call took, also where it failed; the last one, where it was
            made several times.
        error: None, or what the agent raised.
        attempts: How many times it was called.
        tokens: How many tokens it says it used; None where it says nothing.
        cost: What it says the answer cost; None where it says nothing.
    """

    latency_in_seconds: float
    error: AgentError | None = None
    attempts: int = 1
    tokens: int | None = None
    cost: float | None = None

    @property
    def failure(self) -> int:
        """1 where the agent failed, else 0."""
        return int(self.error is not None)


Answered = tuple[Example, Outcome]


class Agent:
    """Something that answers.

    Args:
        target: A function of the prompt, sync or async, or an object with `query(input=…)` or
            `query_row(row)`.
        max_concurrency: How many calls are under way at once, at most.
        traces: Whether it is asked for traces; else a row keeps the one that the dataset holds,
            where the reply has none.
        timeout: After how many seconds a call counts as failed; None waits for ever.
        retries: How many times a call is made again that failed in a way that is transient.
        retry_on: What is transient: names of exceptions, HTTP statuses, exit codes.
        backoff: How many seconds the first wait before a retry is at most; each next is doubled.
        rate_limit: How many calls begin in a time, at most: `60/minute`.
        seed: What an agent that asks for it is given for trial 0; one more for each next trial.

    Raises:
        ConfigError: It cannot be called, or an option is wrong; holds all faults.
    """

    def __init__(
        self,
        target: Any,
        *,
        max_concurrency: int = MAX_CONCURRENCY,
        traces: bool = True,
        timeout: float | None = None,
        retries: int = 0,
        retry_on: Iterable[Transient] = (),
        backoff: float = 1.0,
        rate_limit: str | None = None,
        seed: int = 0,
    ) -> None:
        self.pace = pace_of(
            max_concurrency=max_concurrency,
            timeout=timeout,
            retries=retries,
            retry_on=retry_on if isinstance(retry_on, str) else tuple(retry_on),
            backoff=backoff,
            rate_limit=rate_limit,
        )
        self.target = target
        self.traces = traces
        self.seed = seed
        self._asked = _asked(target, seed)

    @property
    def max_concurrency(self) -> int:
        """How many calls are under way at once, at most."""
        return self.pace.max_concurrency

    @property
    def reads(self) -> frozenset[Role]:
        """What it is told of an example, beside its id and which trial it is."""
        return frozenset({"inputs", "context"} if self._asked.whole else {"inputs"})

    @property
    def gives(self) -> frozenset[Role]:
        """What the dataset need not have, as the agent gives it."""
        return frozenset({"outputs", "response"} if self.traces else {"response"})

    @contextmanager
    def answering(self) -> Iterator[Answering]:
        """Let it answer in the block: examples in, in any number, and futures of answers out."""
        asked, awaited, _ = self._asked
        calls = caller(asked, self.max_concurrency, awaited=awaited, pace=self.pace)
        answering = Answering(self._finished, calls)
        try:
            yield answering
        finally:
            answering.close()

    def over(self, examples: Iterable[Example]) -> Generator[Answered, None, None]:
        """Answer every example, in order.

        Yields:
            The example with what the agent returned in place of its outputs and response, and what
            came of the call.
        """
        running: deque[Future[Answered]] = deque()
        with self.answering() as answering:
            for example in examples:
                running.append(answering.submit(example))
                if len(running) > self.max_concurrency * _AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()

    def _finished(self, example: Example, call: Called) -> Answered:
        """Put the reply into the example, and into its fields where they were asked for."""
        reply, outcome = _answer(call)
        outputs = reply.outputs
        if outputs is None and not self.traces:
            outputs = example.outputs
        fields = example.fields
        if fields:
            said = said_in(reply.outputs) if reply.response is None else reply.response
            fields = {
                **fields, RESPONSES[0]: said, TRAJECTORY: calls_of(outputs),
                "latency_in_seconds": outcome.latency_in_seconds, "failure": outcome.failure,
            }  # fmt: skip
        notes = example.notes
        if outcome.attempts > 1:
            notes = (*notes, f"the agent was called {outcome.attempts} times")
        answered = msgspec.structs.replace(
            example, outputs=outputs, response=reply.response, fields=fields, notes=notes
        )
        return answered, outcome


class Answering:
    """An agent at work.

    Args:
        finished: What makes an answer of a call.
        calls: What has the agent called.
    """

    def __init__(self, finished: Callable[[Example, Called], Answered], calls: Caller) -> None:
        self._finished = finished
        self._calls = calls
        self._open: dict[Future[Called], Future[Answered]] = {}

    def submit(self, example: Example) -> Future[Answered]:
        """Have an example answered, as soon as there is a free place.

        Returns:
            The answer to come; an agent that fails is in the outcome, and is never raised. It is
            cancelled where the block is left before.
        """
        answered: Future[Answered] = Future()
        call = self._calls.submit(example)
        self._open[call] = answered
        call.add_done_callback(partial(self._settle, example, answered))
        return answered

    def _settle(self, example: Example, answered: Future[Answered], call: Future[Called]) -> None:
        self._open.pop(call, None)
        if call.cancelled():
            answered.cancel()
        if not answered.set_running_or_notify_cancel():
            return
        try:
            answered.set_result(self._finished(example, call.result()))
        except BaseException as broken:  # noqa: BLE001 handed to whoever waits for the answer
            answered.set_exception(broken)

    def close(self) -> None:
        """Cancel what is not answered yet."""
        unanswered = dict(self._open)
        for call in unanswered:
            call.cancel()
        self._calls.close()
        for answered in unanswered.values():
            answered.cancel()


class _Asked(NamedTuple):
    """How an agent is asked.

    Attributes:
        ask: What an example is given to.
        awaited: Whether what that returns is awaited.
        whole: Whether the agent is told more of an example than its inputs.
    """

    ask: Function
    awaited: bool
    whole: bool = False


def row_of(example: Example, seed: int) -> dict[str, Any]:
    """Return what an agent may know of an example: never what is expected of it."""
    row = {"id": example.id, "inputs": example.inputs, "trial": example.trial or 0}
    if example.context is not None:
        row["context"] = example.context
    return row | {"seed": _seed_of(example, seed)}


def _seed_of(example: Example, seed: int) -> int:
    return seed + (example.trial or 0)


def _asked(target: Any, seed: int) -> _Asked:
    """Return how a target is asked.

    Raises:
        ConfigError: It cannot be.
    """
    by_row, query = (getattr(target, name, None) for name in ("query_row", "query"))
    if isinstance(target, type) or not any(map(callable, (by_row, query, target))):
        what = f"the class {target.__name__}" if isinstance(target, type) else shorten(target)
        raise ConfigError(f"{what} is no agent: {_HOW}")
    if callable(by_row):
        return _Asked(lambda example: by_row(row_of(example, seed)), is_async(by_row), whole=True)
    named = callable(query)
    function: Callable[..., Any] = query if callable(query) else target
    seeded = _takes_seed(target, function, named=named)

    def ask(example: Example) -> Any:
        given = {"seed": _seed_of(example, seed)} if seeded else {}
        if named:
            return function(input=example.inputs, **given)
        return function(example.inputs, **given)

    return _Asked(ask, is_async(function))


def _takes_seed(target: Any, function: Any, *, named: bool) -> bool:
    """Whether the function asks for a seed, beside the prompt that it must take.

    Raises:
        ConfigError: It cannot be called with a prompt.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False  # written in C, for example
    prompt: Any = {"input": None} if named else {}
    place = () if named else (None,)
    if "seed" in signature.parameters:
        try:
            signature.bind(*place, **prompt, seed=0)
        except TypeError:
            pass
        else:
            return True
    try:
        signature.bind(*place, **prompt)
    except TypeError as wrong:
        raise ConfigError(
            f"{shorten(target)} cannot be called with a prompt: {wrong}; {_HOW}"
        ) from None
    return False


def _answer(call: Called) -> tuple[Reply, Outcome]:
    """Return what was answered, and what came of the call."""
    if call.raised is not None:
        return Reply(), Outcome(call.seconds, _error_of(call.raised), call.attempts)
    try:
        reply = read_reply(call.returned)
    except TraceError:
        reply = Reply(outputs=call.returned)  # the metrics say what is wrong with the trace
    except Exception as broken:  # noqa: BLE001 what an agent returns may raise when it is looked at
        return Reply(), Outcome(call.seconds, _error_of(broken), call.attempts)
    nothing = AgentError("NothingReturned", "the agent returned nothing")
    error = nothing if reply.is_nothing else None
    return reply, Outcome(call.seconds, error, call.attempts, reply.tokens, reply.cost)


def _error_of(broken: BaseException) -> AgentError:
    try:
        message = str(broken)
    except Exception as unsaid:  # noqa: BLE001 an exception of an agent may raise when it is printed
        message = f"(its message raises {type(unsaid).__name__})"
    try:
        trace = "".join(traceback.format_exception(broken))
    except Exception:  # noqa: BLE001 as above
        trace = ""
    return AgentError(type(broken).__name__, message, trace)
