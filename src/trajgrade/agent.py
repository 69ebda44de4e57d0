"""Agent: something that answers, called once for each row, its time taken and its failures caught.

A function of the prompt, sync or async, or an object with `query(input=…)`. Rows come back in the
order in which they went in, whatever finishes first; at most `max_concurrency` calls are under way
at once, and a bounded number of rows is in memory.

What an agent raises is its row's failure and touches no other row; so is returning nothing. The
latency is the time of the call alone.
"""

from __future__ import annotations

import inspect
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec

from trajgrade.calling import Called, Caller, Function, caller
from trajgrade.dataset.example import Example, Role
from trajgrade.errors import ConfigError, TraceError, shorten
from trajgrade.reply import RESPONSES, TRAJECTORY, Reply, calls_of, read_reply, said_in
from trajgrade.result import AgentError

MAX_CONCURRENCY = 10
_AHEAD = 4  # rows that may wait behind a slow one, as a multiple of the concurrency
_HOW = (
    "an agent is a function of the prompt, sync or async, or an object with query(input=…); it "
    "returns {'response': …, 'predicted_trajectory': […]}, or any trace"
)


class Outcome(msgspec.Struct, frozen=True):
    """What came of calling the agent for one row.

    Attributes:
        latency_in_seconds: How long the call took, also where it failed.
        error: None, or what the agent raised.
    """

    latency_in_seconds: float
    error: AgentError | None = None

    @property
    def failure(self) -> int:
        """1 where the agent failed, else 0."""
        return int(self.error is not None)


Answered = tuple[Example, Outcome]


class Agent:
    """Something that answers.

    Args:
        target: A function of the prompt, sync or async, or an object with `query(input=…)`.
        max_concurrency: How many calls are under way at once, at most.
        traces: Whether it is asked for traces; else a row keeps the one that the dataset holds,
            where the reply has none.

    Raises:
        ConfigError: It cannot be called, or the concurrency is below 1.
    """

    def __init__(
        self, target: Any, *, max_concurrency: int = MAX_CONCURRENCY, traces: bool = True
    ) -> None:
        if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int):
            raise ConfigError(f"max_concurrency: a whole number is needed, got {max_concurrency!r}")
        if max_concurrency < 1:
            raise ConfigError(f"max_concurrency: at least 1 is needed, got {max_concurrency}")
        self.target = target
        self.max_concurrency = max_concurrency
        self.traces = traces
        self._function = _function_of(target)

    @property
    def gives(self) -> frozenset[Role]:
        """What the dataset need not have, as the agent gives it."""
        return frozenset({"outputs", "response"} if self.traces else {"response"})

    @contextmanager
    def answering(self) -> Iterator[Answering]:
        """Let it answer in the block: examples in, in any number, and futures of answers out."""
        answering = Answering(self._finished, caller(self._function, self.max_concurrency))
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
        answered = msgspec.structs.replace(
            example, outputs=outputs, response=reply.response, fields=fields
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
        self._open: set[Future[Called]] = set()

    def submit(self, example: Example) -> Future[Answered]:
        """Have an example answered, as soon as there is a free place.

        Returns:
            The answer to come; an agent that fails is in the outcome, and is never raised. It is
            cancelled where the block is left before.
        """
        answered: Future[Answered] = Future()
        call = self._calls.submit(example.inputs)
        self._open.add(call)
        call.add_done_callback(partial(self._settle, example, answered))
        return answered

    def _settle(self, example: Example, answered: Future[Answered], call: Future[Called]) -> None:
        self._open.discard(call)
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
        for call in tuple(self._open):
            call.cancel()
        self._calls.close()


def _function_of(target: Any) -> Function:
    query = getattr(target, "query", None)
    if isinstance(target, type) or not (callable(query) or callable(target)):
        what = f"the class {target.__name__}" if isinstance(target, type) else shorten(target)
        raise ConfigError(f"{what} is no agent: {_HOW}")
    function: Function = _querying(query) if callable(query) else target
    try:
        signature = inspect.signature(query if callable(query) else target)
    except (TypeError, ValueError):
        return function  # written in C, for example
    try:
        signature.bind(input=None) if callable(query) else signature.bind(None)
    except TypeError as wrong:
        raise ConfigError(
            f"{shorten(target)} cannot be called with a prompt: {wrong}; {_HOW}"
        ) from None
    return function


def _querying(query: Callable[..., Any]) -> Function:
    """Return an object's `query(input=…)` as a function of the prompt."""
    if inspect.iscoroutinefunction(query):

        async def asked(prompt: Any) -> Any:
            return await query(input=prompt)

        return asked
    return lambda prompt: query(input=prompt)


def _answer(call: Called) -> tuple[Reply, Outcome]:
    """Return what was answered, and what came of the call."""
    if call.raised is not None:
        return Reply(), Outcome(call.seconds, _error_of(call.raised))
    try:
        reply = read_reply(call.returned)
    except TraceError:
        reply = Reply(outputs=call.returned)  # the metrics say what is wrong with the trace
    except Exception as broken:  # noqa: BLE001 what an agent returns may raise when it is looked at
        return Reply(), Outcome(call.seconds, _error_of(broken))
    nothing = AgentError("NothingReturned", "the agent returned nothing")
    return reply, Outcome(call.seconds, nothing if reply.is_nothing else None)


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
