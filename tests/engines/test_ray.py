"""The Ray engine on a real cluster of two nodes, one of which is killed under it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import bucket
from tests.conftest import ROOT
from tests.test_bucket import parquet
from tests.test_spread import written

pytest.importorskip("ray")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    lines, other = (written(folder / f"{n}.jsonl", 101 + n, name=f"{n}-") for n in range(2))
    columns = folder / "1.parquet"
    columns.write_bytes(parquet(other, row_group_size=40))
    with bucket.served() as (writer, env):
        for file in (lines, columns):
            with writer.open_output_stream(f"{bucket.NAME}/{file.name}") as stream:
                stream.write(file.read_bytes())
        done = subprocess.run(
            [sys.executable, ROOT / "tests/engines/ray_run.py", folder, lines, columns],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **os.environ,
                **env,
                "PYTHONPATH": str(ROOT),
                "RAY_AUTH_MODE": "disabled",
                "RAY_USAGE_STATS_ENABLED": "0",
                "RAY_DISABLE_IMPORT_WARNING": "1",
            },
        )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text())


def test_every_job_is_done_once_and_whole(found):
    assert found["cores"] == 4
    assert found["doubled"] == {str(n): [n, 2 * n] for n in range(20)}
    assert found["nothing"] == []


def test_a_worker_that_is_killed_takes_nothing_with_it(found):
    assert found["killed"] == {str(n): [n, n * 10] for n in range(8)}


def test_a_node_that_is_killed_takes_nothing_with_it(found):
    assert found["robbed"] == {str(n): [n, 2 * n] for n in range(60)}


def test_what_the_work_raises_and_what_always_kills_is_told(found):
    assert "job three is broken" in found["broken"]
    assert "job 0 failed on the cluster" in found["always"]


def test_rows_summary_and_the_worst_rows_are_those_of_the_local_engines(found):
    assert found["ray"] == found["here"] == found["pool"]
    assert len(found["ray"]["rows"]) == 203


def test_partitions_in_a_bucket_are_read_where_the_work_runs(found):
    there, here = found["bucket"], found["here"]
    assert {row["source"].partition(" ")[0] for row in there["rows"]} == {
        f"s3://{bucket.NAME}/0.jsonl",
        f"s3://{bucket.NAME}/1.parquet",
    }
    assert [row | {"source": ""} for row in there["rows"]] == [
        row | {"source": ""} for row in here["rows"]
    ]
    assert (there["metrics"], there["worst"]) == (here["metrics"], here["worst"])


def test_parquet_that_the_machines_wrote_is_gone_on_with_and_read_back(found):
    assert found["stopped at"] == 101
    assert found["kept"] == [["finished", 203]]
    assert found["gone on with"] == found["loaded"] == found["here"]
