"""Worker: takes jobs from the queue, does them, and writes how they ended.

Two loops run side by side: one decides, some traces at a time, and one acts, several at once, so
that a webhook that does not answer keeps no trace from being decided. A job is kept for as long as
it takes (`renew`); that of a worker that dies is given to another when its time is over. One that
has ended workers before is done by itself, and set aside when it has done so too often. Where the
store cannot be reached, the worker waits and goes on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from trajgrade.automation.deciding import Decider, Loaded
from trajgrade.automation.making import Place, close
from trajgrade.automation.rules import Rules
from trajgrade.errors import StoreError
from trajgrade.inbox import DIED, Finished, Job
from trajgrade.production import Action, Inbox

AT_ONCE = 64  # traces that are decided in one transaction
ACTIONS = 16  # actions that are under way at once
LEASE = 30.0  # seconds for which a job is taken, and taken again
DEATHS = 5  # times that a job may end its worker
_IDLE = 0.25  # seconds until a worker without work looks again
_PUBLISH = 5.0  # seconds between versions of a dataset that rows are added to
_LONGEST_WAIT = 10.0

_log = logging.getLogger("trajgrade.automation")


class Worker:
    """Does the jobs of a queue.

    Args:
        inbox: The queue.
        rules: The rules.
        actions: Their actions (`trajgrade.automation.making`).
        clock: Gives the time, in seconds since 1970.
        lease: For how many seconds a job is taken.
    """

    def __init__(
        self,
        inbox: Inbox,
        rules: Rules,
        actions: Mapping[Place, Action],
        *,
        clock: Callable[[], float] = time.time,
        lease: float = LEASE,
    ) -> None:
        self._inbox = inbox
        self._decider = Decider(rules, actions)
        self._actions = actions
        self._clock = clock
        self._lease = lease
        self._quiet = max((rule.quiet for rule in rules if rule.enabled), default=0.0)
        self._published = 0.0
        self._awake = threading.Event()

    def close(self) -> None:
        """Let go of what the actions hold, such as connections to judges."""
        close(self._actions.values())

    # ------------------------------------------------------------------ by steps

    def step(self) -> int:
        """Do what is due, once; return how many jobs that were."""
        self._inbox.settle(self._clock() - self._quiet)
        decided = self.decide()
        with ThreadPoolExecutor(ACTIONS, "trajgrade-action") as pool:
            acted = self.act(pool)
        self._inbox.publish()
        return decided + acted

    def decide(self) -> int:
        """Decide some traces; return how many."""
        now = self._clock()
        jobs = self._inbox.claim(now=now, until=now + self._lease, limit=AT_ONCE, kind="decide")
        if not jobs:
            return 0
        with self._held(jobs):
            loaded = self._inbox.loaded([job.trace_id for job in jobs])
            together, alone = _apart(jobs)
            self._inbox.finish([self._decided(job, loaded) for job in together])
            for job in alone:
                self._inbox.finish([self._decided(job, loaded)])
        return len(jobs)

    def act(self, pool: ThreadPoolExecutor) -> int:
        """Do some slow actions at once; return how many."""
        now = self._clock()
        jobs = self._inbox.claim(now=now, until=now + self._lease, limit=ACTIONS, kind="act")
        if not jobs:
            return 0
        with self._held(jobs):
            loaded = self._inbox.loaded([job.trace_id for job in jobs])
            for some in _apart(jobs):
                for _ in pool.map(lambda job: self._inbox.finish([self._acted(job, loaded)]), some):
                    pass
        return len(jobs)

    def _decided(self, job: Job, loaded: Mapping[str, Loaded]) -> Finished:
        now = self._clock()
        if job.tries > DEATHS and job.error == DIED:
            return Finished(job=job, error=f"it ended its worker {DEATHS} times", at=now)
        givers = self._decider.waits_for(job)
        try:
            pending = self._inbox.pending(job.trace_id, job.revision, givers) if givers else 0
            return self._decider.decide(job, loaded[job.trace_id], now, pending=pending)
        except StoreError:
            raise
        except Exception as broken:  # noqa: BLE001 a job that fails is set aside, and no other
            _log.exception("deciding of %s", job.trace_id)
            return Finished(job=job, error=f"{type(broken).__name__}: {broken}", at=now)

    def _acted(self, job: Job, loaded: Mapping[str, Loaded]) -> Finished:
        try:
            return self._decider.act(job, loaded[job.trace_id], self._clock())
        except Exception as broken:  # noqa: BLE001 a job that fails is set aside, and no other
            _log.exception("%s of %s", job.rule, job.trace_id)
            error = f"{type(broken).__name__}: {broken}"
            return Finished(job=job, error=error, at=self._clock())

    @contextmanager
    def _held(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Keep jobs for as long as they are done."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(self._lease / 3):
                try:
                    self._inbox.renew(jobs, self._clock() + self._lease)
                except StoreError as broken:
                    _log.warning("%s", broken)

        keeper = threading.Thread(target=renew, name="trajgrade-lease", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            over.set()
            keeper.join()

    # ------------------------------------------------------------------ for as long as it runs

    def wake(self) -> None:
        """Have the worker look for work now."""
        self._awake.set()

    def run(self, stop: threading.Event) -> None:
        """Do jobs until told to stop; what is begun then is ended, and the rest left in the queue.

        Args:
            stop: Set to end it.
        """
        with ThreadPoolExecutor(ACTIONS, "trajgrade-action") as pool:
            acting = threading.Thread(
                target=self._loop, args=(stop, lambda: self.act(pool)), name="trajgrade-acting"
            )
            acting.start()
            self._loop(stop, self._decide_and_keep)
            acting.join()
        try:
            self._inbox.publish()
        except StoreError as broken:
            _log.warning("%s", broken)

    def _decide_and_keep(self) -> int:
        now = self._clock()
        self._inbox.settle(now - self._quiet)
        done = self.decide()
        if now - self._published >= _PUBLISH:
            self._published = now
            self._inbox.publish()
        return done

    def _loop(self, stop: threading.Event, work: Callable[[], int]) -> None:
        wait = _IDLE
        while not stop.is_set():
            try:
                done = work()
                wait = _IDLE
            except StoreError as broken:
                _log.warning("%s; the worker goes on in %.0f s", broken, wait)
                stop.wait(wait)
                wait = min(_LONGEST_WAIT, wait * 2)
                continue
            if not done:
                self._awake.wait(_IDLE)
                self._awake.clear()


def _apart(jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
    """Return the jobs that are done together, and those that may end whoever does them."""
    alone = [job for job in jobs if job.error == DIED]
    return [job for job in jobs if job.error != DIED], alone
