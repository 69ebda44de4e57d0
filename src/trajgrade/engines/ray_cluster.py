"""`ray`: the work is done by the machines of a Ray cluster, each job a task.

The cluster is the one that this process is connected to, else that of `RAY_ADDRESS`, else one that
is started on this machine and ended with the work. A task whose worker or machine dies is run again
elsewhere, by Ray, three times at most; its result counts once. The machines need trajgrade, and see
the dataset's files under the same paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from trajgrade.contracts import Came
from trajgrade.errors import ConfigError, EngineError, MissingExtraError

Job = TypeVar("Job")

TRIES = 3
_AHEAD = 2  # jobs that wait in the cluster, for each of its cores


class RayCluster:
    """Does the work on a Ray cluster.

    Args:
        workers: How many jobs are done at once; by default as many as the cluster has cores.

    Raises:
        ConfigError: Fewer than one.
        MissingExtraError: Ray is not installed.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ConfigError(f"workers: at least 1 is needed, got {workers}")
        try:
            import ray
        except ImportError:
            raise MissingExtraError("engine: ray", "ray", "ray") from None
        self._joined = ray.is_initialized()
        self._join()
        cores = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        self._most = workers or cores * _AHEAD
        self.workers = workers or cores

    def _join(self) -> None:
        import ray

        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False)

    def map(self, work: Callable[[Job], Iterable[Any]], jobs: Iterable[Job]) -> Iterator[Came]:
        """Yield what the work makes of each job, piece by piece, as jobs are done.

        Args:
            work: A function of a module that the cluster's machines have.
            jobs: Plain data, drawn as there is room for them.

        Raises:
            EngineError: The work raised, or a job could not be done.
        """
        import ray

        self._join()
        task = ray.remote(max_retries=TRIES - 1, num_cpus=1)(_all_of)
        shared = ray.put(work)
        waiting = enumerate(jobs)
        running: dict[Any, int] = {}
        try:
            while True:
                while len(running) < self._most and (drawn := next(waiting, None)) is not None:
                    number, job = drawn
                    running[task.remote(shared, job)] = number
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1)
                for done in ready:
                    number = running.pop(done)
                    try:
                        made = ray.get(done)
                    except ray.exceptions.RayError as broken:
                        raise EngineError(f"job {number} failed on the cluster: {broken}") from None
                    for piece in made:
                        yield Came(number, "piece", piece)
                    yield Came(number, "ended")
        finally:
            for left in running:
                ray.cancel(left, force=True)
            if not self._joined:
                ray.shutdown()


def _all_of(work: Callable[[Any], Iterable[Any]], job: Any) -> list[Any]:
    return list(work(job))
