"""Calling: a function is called for one argument after another, some at once, each call timed.

A function that is not async is called in threads, an async one in an event loop in a thread of its
own, so that both work where a loop is running already. What a call raises is its outcome. All
threads are daemons: a call that never returns keeps no program from ending.

A call that takes longer than it may is over: an async one is cancelled; of one in a thread, the
thread is left to itself, as nothing can end it, and its place is given to another.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol

from trajgrade.expiry import Expiry, Turn
from trajgrade.pace import Pace

Function = Callable[[Any], Any]

# What ends a call. In a thread, neither an exit nor an interrupt is the program's.
_FAILURES = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
_THREAD = "trajgrade-agent"
_PATIENCE = 5.0
_GRACE = 1.0  # how long a call may take to end once it is cancelled
_TICK = 0.001  # how often a loop looks for calls to begin, while there are any
_IDLE = 5  # ticks without any, after which it has to be woken
MOST_ABANDONED = 1000  # threads that go on after their timeout; each holds memory


class Called(NamedTuple):
    """One call.

    Attributes:
        seconds: How long it took, by a monotonic clock, without waiting for a free place, for the
            rate limit or for a retry; of several attempts, how long the last one took.
        returned: What it returned.
        raised: What it raised; None where it returned.
        attempts: How many times the function was called.
    """

    seconds: float
    returned: Any = None
    raised: BaseException | None = None
    attempts: int = 1


class Caller(Protocol):
    """Has a function called."""

    def submit(self, argument: Any) -> Future[Called]:
        """Have it called for one more argument."""
        ...

    def close(self) -> None:
        """Cancel what is under way, as far as that can be."""
        ...


def is_async(function: Any) -> bool:
    """Whether a call of the function is awaited."""
    inner = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner)


def caller(
    function: Function, most: int, *, awaited: bool | None = None, pace: Pace | None = None
) -> Caller:
    """Return what has the function called.

    Args:
        function: What is called.
        most: How many calls are under way at once, at most.
        awaited: Whether its calls are awaited, where that cannot be seen.
        pace: How long a call may take, and how often it is made.
    """
    kind = _InLoop if (is_async(function) if awaited is None else awaited) else _InThreads
    return kind(function, most, pace or Pace())


def _late(pace: Pace, *, more: str = "") -> TimeoutError:
    return TimeoutError(f"no answer within {pace.timeout:g} s{more}")


class _Loop:
    """An event loop in a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, waiting: Awaitable[Any]) -> Future[Any]:
        """Begin to wait for something in the loop."""
        coroutine = waiting if isinstance(waiting, Coroutine) else _awaited(waiting)
        return asyncio.run_coroutine_threadsafe(coroutine, self._started())

    def call(self, function: Callable[[], None]) -> None:
        """Have a function called in the loop's thread."""
        self._started().call_soon_threadsafe(function)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._thread is None:
                started: Future[asyncio.AbstractEventLoop] = Future()
                self._thread = threading.Thread(
                    target=asyncio.run, args=(self._serve(started),), daemon=True, name=_THREAD
                )
                self._thread.start()
                self._loop = started.result()
        return self._loop

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


async def _outcome(waiting: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return what is awaited, and what it raises; an exit must not end the loop it runs in."""
    try:
        return await waiting, None
    except (Exception, SystemExit, KeyboardInterrupt) as broken:  # noqa: BLE001 it is the outcome
        return None, broken


def _given(outcome: tuple[Any, BaseException | None]) -> Any:
    returned, raised = outcome
    if raised is not None:
        raise raised
    return returned


class _Job(NamedTuple):
    """One argument that the function is called for.

    Attributes:
        argument: The argument.
        done: Where the call is handed over.
        context: The context variables of whoever submitted it.
        attempt: Which attempt is next.
        wait: How many seconds it has to wait.
    """

    argument: Any
    done: Future[Called]
    context: Context
    attempt: int = 1
    wait: float = 0.0


class _InLoop:
    """Has an async function called, all in one event loop.

    To wake the loop from another thread for each call would take longer than many a call. So a call
    that ends begins the next one that waits, and once woken the loop looks for more by itself,
    until there were none for a while.
    """

    def __init__(self, function: Function, most: int, pace: Pace) -> None:
        self._function = function
        self._most = most
        self._pace = pace
        self._limit = pace.limit()
        self._waiting: deque[_Job] = deque()
        self._taken = 0
        self._attends = False
        self._idle = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()
        self._loop = _Loop()

    def submit(self, argument: Any) -> Future[Called]:
        job = _Job(argument, Future(), copy_context())
        with self._lock:
            self._waiting.append(job)
            sleeps = not self._attends and self._taken < self._most
            self._attends = self._attends or sleeps
        if sleeps:
            self._loop.call(self._attend)
        return job.done

    def _attend(self) -> None:
        """Begin what waits, and look again soon, or not until woken."""
        self._idle += 1
        while self._begins():
            self._idle = 0
        with self._lock:
            more = bool(self._waiting) and self._taken < self._most
            self._attends = more or self._idle < _IDLE
        if self._attends:
            asyncio.get_running_loop().call_later(_TICK, self._attend)

    def _begins(self) -> bool:
        """Begin the job that waits longest; False where none waits, or no place is free."""
        with self._lock:
            if self._taken >= self._most or not self._waiting:
                return False
            self._taken += 1
            job = self._waiting.popleft()
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._done(job), context=job.context)
        self._tasks.add(task)  # a loop alone would let it be collected
        task.add_done_callback(self._tasks.discard)
        return True

    async def _done(self, job: _Job) -> None:
        try:
            if not job.done.cancelled():
                called = await self._paced(job.argument)
                with suppress(InvalidStateError):  # cancelled meanwhile
                    job.done.set_result(called)
        except asyncio.CancelledError:
            job.done.cancel()
            raise
        with self._lock:
            self._taken -= 1
        self._begins()

    async def _paced(self, argument: Any) -> Called:
        """Call until it succeeds, or is not to be called again."""
        attempt = 1
        while True:
            if self._limit is not None:
                await asyncio.sleep(self._limit.reserve())
            called = await self._called(argument, attempt)
            attempt += 1
            wait = self._pace.wait_before(attempt, called.raised)
            if wait is None:
                return called
            await asyncio.sleep(wait)

    async def _called(self, argument: Any, attempt: int) -> Called:
        began = time.perf_counter()
        try:
            if self._pace.timeout is None:
                returned = await self._function(argument)
            else:
                returned = await self._in_time(self._function(argument))
        except _FAILURES as broken:
            task = asyncio.current_task()
            if isinstance(broken, asyncio.CancelledError) and task and task.cancelling():
                raise  # the run ends
            return Called(time.perf_counter() - began, raised=broken, attempts=attempt)
        return Called(time.perf_counter() - began, returned, attempts=attempt)

    async def _in_time(self, waiting: Awaitable[Any]) -> Any:
        """Await something; cancel it when its time is over, and wait for it no longer."""
        call = asyncio.ensure_future(_outcome(waiting))
        try:
            await asyncio.wait({call}, timeout=self._pace.timeout)
            if call.done():
                return _given(call.result())
            call.cancel()
            await asyncio.wait({call}, timeout=_GRACE)
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait({call}, timeout=_GRACE)
            raise
        goes_on = "" if call.done() else "; it was cancelled and goes on all the same"
        raise _late(self._pace, more=goes_on)

    def close(self) -> None:
        self._loop.close()


class _InThreads:
    """Has a function called in threads; what it returns to be awaited is, in one event loop."""

    def __init__(self, function: Function, most: int, pace: Pace) -> None:
        self._function = function
        self._most = most
        self._pace = pace
        self._limit = pace.limit()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._places = 0
        self._abandoned = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._loop = _Loop()
        self._expiry = None if pace.timeout is None else Expiry(pace.timeout, self._expired)

    def submit(self, argument: Any) -> Future[Called]:
        with self._lock:
            free = self._places < self._most
            self._places += free
        if free:
            self._take_place()
        done: Future[Called] = Future()
        self._jobs.put(_Job(argument, done, copy_context()))
        return done

    def _take_place(self) -> None:
        threading.Thread(target=self._work, daemon=True, name=_THREAD).start()

    def _work(self) -> None:
        """Do one job after another, until one takes too long or there are no more."""
        while (job := self._jobs.get()) is not None:
            begun = job.attempt > 1 or job.done.set_running_or_notify_cancel()
            if begun and not self._has_done(job):
                return

    def _has_done(self, job: _Job) -> bool:
        """Call until it succeeds, or is not to be called again; False where that took too long."""
        following: _Job | None = job
        while following is not None:
            job = following
            if self._has_to_stop(job):
                return True
            turn = self._expiry.begin(job) if self._expiry is not None else None
            # A copy, as a thread that was given up may still be in the one before.
            called = job.context.copy().run(self._called, job)
            if turn is not None and self._expiry is not None and not self._expiry.end(turn):
                with self._lock:
                    self._abandoned -= 1
                return False
            following = self._after(job, called)
        return True

    def _has_to_stop(self, job: _Job) -> bool:
        """Wait for the job's turn; whether the run ends meanwhile."""
        if job.wait and self._closed.wait(job.wait):
            return True
        wait = self._limit.reserve() if self._limit is not None else 0
        return wait > 0 and self._closed.wait(wait)

    def _called(self, job: _Job) -> Called:
        began = time.perf_counter()
        try:
            if self._abandoned >= MOST_ABANDONED:
                raise RuntimeError(
                    f"not called: {self._abandoned:,} earlier calls still go on after their timeout"
                )
            returned = self._function(job.argument)
            if inspect.isawaitable(returned):  # from a function that is not declared async
                returned = self._awaited(returned)
        except _FAILURES as broken:
            return Called(time.perf_counter() - began, raised=broken, attempts=job.attempt)
        return Called(time.perf_counter() - began, returned, attempts=job.attempt)

    def _awaited(self, waiting: Awaitable[Any]) -> Any:
        """Wait for it; one that takes too long is ended once its thread was given up."""
        future = self._loop.start(_outcome(waiting))
        timeout = self._pace.timeout
        try:
            outcome = future.result(timeout=None if timeout is None else timeout + _GRACE)
        except TimeoutError:
            raise _late(self._pace) from None
        finally:
            future.cancel()  # does nothing to one that is done
        return _given(outcome)

    def _after(self, job: _Job, called: Called) -> _Job | None:
        """Hand a call over, or return the job that makes it again."""
        wait = self._pace.wait_before(job.attempt + 1, called.raised)
        if wait is not None:
            return job._replace(attempt=job.attempt + 1, wait=wait)
        job.done.set_result(called)
        return None

    def _expired(self, turn: Turn) -> None:
        """Give up a call that takes too long, and let another thread have its place."""
        job: _Job = turn.what
        with self._lock:
            self._abandoned += 1
        late = _late(self._pace, more="; its thread is left to itself")
        following = self._after(job, Called(turn.seconds, raised=late, attempts=job.attempt))
        if not self._closed.is_set():
            self._take_place()
        if following is not None:
            self._jobs.put(following)

    def close(self) -> None:
        self._closed.set()
        for _ in range(self._places):
            self._jobs.put(None)
        if self._expiry is not None:
            self._expiry.close()
        self._loop.close()
