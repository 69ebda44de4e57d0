"""Calling: a function is called for one argument after another, some at once, each call timed.

A function that is not async is called in threads, an async one in an event loop in a thread of its
own, so that both work where a loop is running already. What a call raises is its outcome. All
threads are daemons: a call that never returns keeps no program from ending.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol

Function = Callable[[Any], Any]

# What ends a call. In a thread, neither an exit nor an interrupt is the program's.
_FAILURES = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
_THREAD = "trajgrade-agent"
_PATIENCE = 5.0


class Called(NamedTuple):
    """One call.

    Attributes:
        seconds: How long it took, by a monotonic clock, without waiting for a free place.
        returned: What it returned.
        raised: What it raised; None where it returned.
    """

    seconds: float
    returned: Any = None
    raised: BaseException | None = None


class Caller(Protocol):
    """Has a function called."""

    def submit(self, argument: Any) -> Future[Called]:
        """Have it called for one more argument."""
        ...

    def close(self) -> None:
        """Cancel what is under way, as far as that can be."""
        ...


def caller(function: Function, most: int) -> Caller:
    """Return what has the function called, at most so many times at once."""
    inner = type(function).__call__
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner)
    return _InLoop(function, most) if is_async else _InThreads(function, most)


class _Loop:
    """An event loop in a thread of its own, started when it is first needed."""

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
    """Has an async function called, all in one event loop."""

    def __init__(self, function: Function, most: int) -> None:
        self._function = function
        self._places = asyncio.Semaphore(most)
        self._loop = _Loop()

    def submit(self, argument: Any) -> Future[Called]:
        return self._loop.start(self._call(argument))

    async def _call(self, argument: Any) -> Called:
        async with self._places:
            began = time.perf_counter()
            try:
                returned = await self._function(argument)
            except _FAILURES as broken:
                task = asyncio.current_task()
                if isinstance(broken, asyncio.CancelledError) and task and task.cancelling():
                    raise  # the run ends
                return Called(time.perf_counter() - began, raised=broken)
            return Called(time.perf_counter() - began, returned)

    def close(self) -> None:
        self._loop.close()


class _InThreads:
    """Has a function called in threads; what it returns to be awaited is, in one event loop."""

    def __init__(self, function: Function, most: int) -> None:
        self._function = function
        self._most = most
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._loop = _Loop()

    def submit(self, argument: Any) -> Future[Called]:
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, daemon=True, name=_THREAD)
            self._threads.append(thread)
            thread.start()
        done: Future[Called] = Future()
        self._jobs.put(partial(copy_context().run, self._settle, done, argument))
        return done

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _settle(self, done: Future[Called], argument: Any) -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(self._call(argument))
        except BaseException as broken:  # noqa: BLE001 handed to the thread that waits for it
            done.set_exception(broken)

    def _call(self, argument: Any) -> Called:
        began = time.perf_counter()
        try:
            returned = self._function(argument)
            if inspect.isawaitable(returned):  # from a function that is not declared async
                returned = self._loop.start(returned).result()
        except _FAILURES as broken:
            return Called(time.perf_counter() - began, raised=broken)
        return Called(time.perf_counter() - began, returned)

    def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        self._loop.close()
