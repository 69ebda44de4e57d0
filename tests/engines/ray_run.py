"""A Ray cluster of two nodes on this machine, worked with, and robbed of one of them.

Run by `test_ray.py` in a process of its own. Arguments: a folder, where `found.json` says what came
of it, and the files of a dataset, each of which lies in a bucket, too, under the same name.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from tests import bucket
from tests.engines import work
from trajgrade.engines.ray_cluster import RayCluster
from trajgrade.errors import EngineError
from trajgrade.evaluators.spelling import graders
from trajgrade.run import Row, Run
from trajgrade.runner import evaluate
from trajgrade.stores import open_store

NAMES = ["trajectory_exact_match", "trajectory_recall", "trajectory_alignment"]


class StopError(Exception):
    """The program ends."""


class Stop:
    """Ends the run behind the first file."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, example: Any, row: Row) -> None:
        self.rows += 1
        if self.rows == 101:
            raise StopError


def failure(engine: RayCluster, function: Any, jobs: Any) -> str:
    try:
        list(engine.map(function, jobs))
    except EngineError as broken:
        return str(broken)
    return ""


def shown(run: Run) -> dict[str, Any]:
    told = run.to_dict()
    return {
        "rows": [row.to_dict() for row in run.rows],
        "metrics": told["metrics"],
        "worst": [[worst.metric, worst.row, worst.score] for worst in run.worst],
    }


def main() -> None:
    folder, files = Path(sys.argv[1]), sys.argv[2:]
    node: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    second = cluster.add_node(**node)
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}},
    )
    engine = RayCluster()
    found: dict[str, Any] = {
        "cores": engine.workers,
        "doubled": work.made(engine.map(work.doubled, range(20))),
        "nothing": [*engine.map(work.doubled, [])],
        "killed": work.made(
            engine.map(work.dies_once, [(str(folder / "mark"), n) for n in range(8)])
        ),
        "broken": failure(engine, work.broken, range(10)),
        "always": failure(engine, work.always_dies, [1]),
    }
    robbed = engine.map(work.doubled, range(60))
    first = next(robbed)
    cluster.remove_node(second, allow_graceful=False)
    found["robbed"] = work.made([first, *robbed])
    evaluators = graders(NAMES).evaluators
    found["ray"] = shown(evaluate(files, evaluators, engine="ray", explain="all"))
    store = f"parquet:{folder}/kept"
    stop = Stop()
    try:
        evaluate(files, evaluators, engine="ray", explain="all", store=store, on_row=stop)
    except StopError:
        found["stopped at"] = stop.rows
    gone_on = evaluate(files, evaluators, engine="ray", explain="all", store=store, resume=True)
    found["gone on with"] = shown(gone_on)
    found["loaded"] = shown(Run.load(f"run:{gone_on.id}", store=store))
    with open_store(store) as opened:
        found["kept"] = [[record.state, opened.count(record.id)] for record in opened.runs()]
    partitions = [f"s3://{bucket.NAME}/{Path(file).name}" for file in files]
    found["bucket"] = shown(evaluate(partitions, evaluators, engine="ray", explain="all"))
    found["here"] = shown(evaluate(files, evaluators, explain="all"))
    found["pool"] = shown(
        evaluate(files, evaluators, engine="process_pool", workers=2, explain="all")
    )
    (folder / "found.json").write_text(json.dumps(found))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
