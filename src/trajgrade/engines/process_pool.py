"""`process_pool`: the work is done by processes of this machine, one for each core.

Each worker is given one job at a time and hands over what it makes as it goes. A worker that dies
takes nothing with it: its job is begun anew by another, three times at most. What the work raises
ends the run, with the worker's traceback. Workers are new processes, not copies of this one; they
end with it, also where it is killed, and do not hear Ctrl-C, which is its.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, TypeVar

from trajgrade.contracts import Came
from trajgrade.errors import ConfigError, EngineError

Job = TypeVar("Job")
Work = Callable[[Any], Iterable[Any]]

TRIES = 3
_PIECE, _DONE, _RAISED = "piece", "done", "raised"
_GUARD = 'if __name__ == "__main__":'
_PATIENCE = 0.5  # seconds in which a worker may end by itself


class _Task(NamedTuple):
    number: int
    job: Any
    tries: int


class _Worker:
    """A process, and the job that it does."""

    def __init__(self, context: Any, work: Work) -> None:
        ours, theirs = context.Pipe()
        self.pipe: Connection = ours
        self.task: _Task | None = None
        self._process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _undisturbed():
            self._process.start()
        theirs.close()

    def begin(self, task: _Task) -> None:
        """Give it a job."""
        self.task = task
        self.pipe.send(task.job)

    def end(self, patience: float = _PATIENCE) -> int | None:
        """End it; return the exit code that it had ended with, None where it had not."""
        self.pipe.close()
        self._process.join(timeout=patience)
        code: int | None = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
        return code


class ProcessPool:
    """Does the work in processes of this machine.

    Args:
        workers: How many; by default as many as there are cores.

    Raises:
        ConfigError: Fewer than one.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ConfigError(f"workers: at least 1 is needed, got {workers}")
        self.workers = workers or len(os.sched_getaffinity(0))

    def map(self, work: Callable[[Job], Iterable[Any]], jobs: Iterable[Job]) -> Iterator[Came]:
        """Yield what the work makes of each job, piece by piece, as it comes.

        Args:
            work: A function of a module, from a job to what it makes of it, piece by piece.
            jobs: Plain data. They are drawn as workers are free.

        Raises:
            EngineError: The work raised, or a job ended its worker three times.
        """
        context = multiprocessing.get_context("spawn")
        waiting = enumerate(jobs)
        again: deque[_Task] = deque()
        workers: list[_Worker] = []
        try:
            while True:
                _hand_out(workers, waiting, again, self.workers, lambda: _Worker(context, work))
                busy = {worker.pipe: worker for worker in workers if worker.task is not None}
                if not busy:
                    return
                for pipe in wait(list(busy)):
                    worker = busy[pipe]  # type: ignore[index]  # they are ours
                    try:
                        kind, what = worker.pipe.recv()
                    except (EOFError, OSError):
                        workers.remove(worker)
                        again.append(_given_back(worker))
                        yield Came(again[-1].number, "again")
                        continue
                    if kind == _RAISED:
                        raise EngineError(f"the work failed in a worker:\n{what}")
                    if worker.task is None:
                        continue
                    number = worker.task.number
                    if kind == _PIECE:
                        yield Came(number, "piece", what)
                    else:
                        worker.task = None
                        yield Came(number, "ended")
        finally:
            for worker in workers:
                worker.pipe.close()
            until = time.monotonic() + _PATIENCE
            for worker in workers:
                worker.end(max(until - time.monotonic(), 0))


def _hand_out(
    workers: list[_Worker],
    waiting: Iterator[tuple[int, Any]],
    again: deque[_Task],
    most: int,
    started: Callable[[], _Worker],
) -> None:
    """Give each free worker a job, and start workers as long as there are jobs for them."""
    free = [worker for worker in workers if worker.task is None]
    while free or len(workers) < most:
        if again:
            task = again.popleft()
        else:
            drawn = next(waiting, None)
            if drawn is None:
                return
            task = _Task(*drawn, tries=1)
        worker = free.pop() if free else started()
        if worker not in workers:
            workers.append(worker)
        try:
            worker.begin(task)
        except OSError:
            workers.remove(worker)
            again.append(_given_back(worker))


def _given_back(worker: _Worker) -> _Task:
    """Return the job of a worker that died.

    Raises:
        EngineError: It was its last try.
    """
    code = worker.end()
    assert worker.task is not None  # noqa: S101 only busy workers are listened to
    task = worker.task
    if task.tries >= TRIES:
        how = (
            f"killed by signal {-code}; is there memory enough?"
            if code is not None and code < 0
            else f"exit code {code}; a script must begin its run under {_GUARD}"
        )
        raise EngineError(f"job {task.number} ended its worker {TRIES} times ({how})")
    return task._replace(tries=task.tries + 1)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Have the process that is started within not hear Ctrl-C, from its first moment on.

    What is blocked stays blocked in a new program; here it comes a moment later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, work: Work) -> None:
    """Do one job after the other, in a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            for piece in work(job):
                pipe.send((_PIECE, piece))
            pipe.send((_DONE, None))
        except BrokenPipeError:
            return
        except Exception:  # noqa: BLE001 told to the first process, which raises it
            pipe.send((_RAISED, traceback.format_exc()))
