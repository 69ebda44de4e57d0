"""Agent: something that answers, called once for each row, its time taken and its failures caught.

A function of the prompt, sync or async, or an object with `query(input=…)`. Rows come back in the
order in which they went in, whatever finishes first; at most `max_concurrency` calls are under way
at once, and a bounded number of rows is in memory. Sync agents are called in threads, async ones in
an event loop of their own, so that both also work where a loop is running already.

What an agent raises is its row's failure and touches no other row; so is returning nothing. The
latency is the time of the call alone, by a monotonic clock: no waiting for a free place.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any

import msgspec

from trajgrade.dataset.example import Example
from trajgrade.errors import ConfigError, TraceError, shorten
from trajgrade.reply import Reply, read_reply
from trajgrade.result import AgentError

Call = Callable[[Any], Any]

MAX_CONCURRENCY = 10
# What ends a call. In a thread, neither an exit nor an interrupt is the program's.
_FAILURES = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
_THREAD = "trajgrade-agent"
_PATIENCE = 5.0
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

    Raises:
        ConfigError: It cannot be called, or the concurrency is below 1.
    """

    def __init__(self, target: Any, *, max_concurrency: int = MAX_CONCURRENCY) -> None:
        if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int):
            raise ConfigError(f"max_concurrency: a whole number is needed, got {max_concurrency!r}")
        if max_concurrency < 1:
            raise ConfigError(f"max_concurrency: at least 1 is needed, got {max_concurrency}")
        self.target = target
        self.max_concurrency = max_concurrency
        self._call = _callable(target)

    def over(self, examples: Iterable[Example]) -> Generator[Answered, None, None]:
        """Answer every example, in order.

        Yields:
            The example with what the agent returned in place of its outputs and response, and what
            came of the call.
        """
        running: deque[Future[Answered]] = deque()
        kind = _InLoop if _is_async(self._call) else _InThreads
        workers = kind(self._call, self.max_concurrency)
        try:
            for example in examples:
                running.append(workers.submit(example))
                if len(running) > self.max_concurrency * _AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for unanswered in running:
                unanswered.cancel()
            workers.close()


def _callable(target: Any) -> Call:
    query = getattr(target, "query", None)
    if isinstance(target, type) or not (callable(query) or callable(target)):
        what = f"the class {target.__name__}" if isinstance(target, type) else shorten(target)
        raise ConfigError(f"{what} is no agent: {_HOW}")
    call: Call = _Query(query) if callable(query) else target
    try:
        signature = inspect.signature(query if callable(query) else target)
    except (TypeError, ValueError):
        return call  # written in C, for example
    try:
        signature.bind(input=None) if callable(query) else signature.bind(None)
    except TypeError as wrong:
        raise ConfigError(
            f"{shorten(target)} cannot be called with a prompt: {wrong}; {_HOW}"
        ) from None
    return call


class _Query:
    """An object's `query(input=…)` as a function of the prompt."""

    def __init__(self, query: Callable[..., Any]) -> None:
        self.query = query

    def __call__(self, prompt: Any) -> Any:
        return self.query(input=prompt)


def _is_async(call: Call) -> bool:
    if isinstance(call, _Query):
        return inspect.iscoroutinefunction(call.query)
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


class _Loop:
    """An event loop in a thread of its own, started when it is first needed.

    The thread is a daemon, as all threads here: a call that never returns keeps no program from
    ending.
    """

    def __init__(self) -> None:
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, waiting: Awaitable[Any]) -> Future[Any]:
        """Begin to wait for something in the loop."""
        with self._lock:
            if self._thread is None:
                started: Future[asyncio.AbstractEventLoop] = Future()
                self._thread = threading.Thread(
                    target=asyncio.run, args=(self._serve(started),), daemon=True, name=_THREAD
                )
                self._thread.start()
                self._loop = started.result()
        return asyncio.run_coroutine_threadsafe(_awaited(waiting), self._loop)

    async def _serve(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        self._stop = asyncio.Event()
        started.set_result(asyncio.get_running_loop())
        await self._stop.wait()

    def close(self) -> None:
        """Cancel what is under way, and end the loop."""
        if self._thread is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=_PATIENCE)


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting


class _InLoop:
    """Has examples answered by an async function, all in one event loop."""

    def __init__(self, call: Call, most: int) -> None:
        self._call = call
        self._places = asyncio.Semaphore(most)
        self._loop = _Loop()
        self.close = self._loop.close

    def submit(self, example: Example) -> Future[Answered]:
        """Have one more example answered."""
        return self._loop.start(self._answered(example))

    async def _answered(self, example: Example) -> Answered:
        async with self._places:
            began = time.perf_counter()
            try:
                returned = await self._call(example.inputs)
            except _FAILURES as broken:
                task = asyncio.current_task()
                if isinstance(broken, asyncio.CancelledError) and task and task.cancelling():
                    raise  # the run ends
                return _failed(example, began, broken)
            return _replied(example, began, returned)


class _InThreads:
    """Has examples answered by a function that is not async, in threads."""

    def __init__(self, call: Call, most: int) -> None:
        self._call = call
        self._most = most
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._loop = _Loop()

    def submit(self, example: Example) -> Future[Answered]:
        """Have one more example answered."""
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, daemon=True, name=_THREAD)
            self._threads.append(thread)
            thread.start()
        done: Future[Answered] = Future()
        self._jobs.put(partial(copy_context().run, self._settle, done, example))
        return done

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _settle(self, done: Future[Answered], example: Example) -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(self._answered(example))
        except BaseException as broken:  # noqa: BLE001 handed to the thread that waits for it
            done.set_exception(broken)

    def _answered(self, example: Example) -> Answered:
        began = time.perf_counter()
        try:
            returned = self._call(example.inputs)
            if inspect.isawaitable(returned):  # from a function that is not declared async
                returned = self._loop.start(returned).result()
        except _FAILURES as broken:
            return _failed(example, began, broken)
        return _replied(example, began, returned)

    def close(self) -> None:
        """End the threads as they become free."""
        for _ in self._threads:
            self._jobs.put(None)
        self._loop.close()


def _replied(example: Example, began: float, returned: Any) -> Answered:
    took = time.perf_counter() - began
    try:
        reply = read_reply(returned)
    except TraceError:
        reply = Reply(outputs=returned)  # the metrics say what is wrong with the trace
    except Exception as broken:  # noqa: BLE001 what an agent returns may raise when it is looked at
        return _with(example, Reply(), Outcome(took, _error_of(broken)))
    nothing = AgentError("NothingReturned", "the agent returned nothing")
    return _with(example, reply, Outcome(took, nothing if reply.is_nothing else None))


def _failed(example: Example, began: float, broken: BaseException) -> Answered:
    return _with(example, Reply(), Outcome(time.perf_counter() - began, _error_of(broken)))


def _with(example: Example, reply: Reply, outcome: Outcome) -> Answered:
    answered = msgspec.structs.replace(example, outputs=reply.outputs, response=reply.response)
    return answered, outcome


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
