"""Parquet files and polars frames are the datasets that JSON Lines of the same rows are."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import trajgrade
from trajgrade.dataset import Dataset
from trajgrade.errors import DatasetError, MissingExtraError

GO = [{"tool_name": "go", "tool_input": {"to": "LIS", "n": 1}}]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "prompt": "x", "predicted_trajectory": GO, "reference_trajectory": GO, "n": 1},
    {"id": "b", "prompt": "y", "predicted_trajectory": [], "reference_trajectory": GO, "n": None},
    {"id": "c", "prompt": None, "predicted_trajectory": None, "reference_trajectory": GO, "n": 3},
]
TEXTS = [
    {**row, "predicted_trajectory": json.dumps(row["predicted_trajectory"])} for row in ROWS[:2]
]


def parquet(path, rows, **options):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    files.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return path


def frame(rows):
    return pytest.importorskip("polars").DataFrame(rows)


def scores(dataset):
    run = trajgrade.evaluate(dataset, ["trajectory_exact_match", "trajectory_recall"])
    return [{key: r.score for key, r in row.results.items()} for row in run.rows]


@pytest.fixture(params=["parquet", "row groups", "polars", "lazy polars"])
def columnar(request, tmp_path):
    if request.param == "parquet":
        return lambda rows: parquet(tmp_path / "d.parquet", rows)
    if request.param == "row groups":
        return lambda rows: parquet(tmp_path / "d", rows, row_group_size=1)
    if request.param == "polars":
        return frame
    return lambda rows: frame(rows).lazy()


@pytest.mark.parametrize("rows", [ROWS, TEXTS], ids=["nested", "as JSON text"])
def test_scores_are_those_of_the_same_rows_in_memory(columnar, rows):
    assert scores(columnar(rows)) == scores(ROWS[: len(rows)])


def test_nulls_are_gaps_and_numbers_stay_whole(columnar):
    examples = [*Dataset.load(columnar(ROWS)).examples()]
    assert [e.id for e in examples] == ["a", "b", "c"]
    assert examples[2].inputs is None
    assert examples[2].outputs is None
    (records,) = [[*Dataset.load(columnar(ROWS)).records()]]
    assert [row["n"] for row in records] == [1, None, 3]


def test_a_folder_may_hold_parquet_and_json_lines(tmp_path):
    parquet(tmp_path / "1.parquet", ROWS[:1])
    (tmp_path / "2.jsonl").write_text(json.dumps({**ROWS[1], "n": 2}))
    assert [e.id for e in Dataset.load(tmp_path).examples()] == ["a", "b"]


def test_a_file_that_only_begins_like_parquet_is_refused(tmp_path):
    (tmp_path / "d.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(DatasetError, match="cannot be read as Parquet"):
        Dataset.load(tmp_path / "d.parquet")


def test_without_the_package_a_parquet_file_says_what_to_install(tmp_path, monkeypatch):
    path = parquet(tmp_path / "d.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"trajgrade\[parquet\]"):
        Dataset.load(path)


def test_the_hash_is_that_of_the_rows(tmp_path):
    one = Dataset.load(parquet(tmp_path / "1.parquet", ROWS)).hash()
    two = Dataset.load(parquet(tmp_path / "2.parquet", ROWS, row_group_size=1)).hash()
    assert one == two == Dataset.load(frame(ROWS)).hash()
    assert Dataset.load(parquet(tmp_path / "3.parquet", ROWS[:2])).hash() != one


def test_parquet_is_graded_on_all_cores(tmp_path):
    paths = [str(parquet(tmp_path / f"{n}.parquet", [{**r, "id": f"{n}{r['id']}"} for r in ROWS]))
             for n in range(2)]  # fmt: skip
    here = trajgrade.evaluate(paths, ["trajectory_recall"])
    there = trajgrade.evaluate(paths, ["trajectory_recall"], engine="process_pool", workers=2)
    assert [row.to_dict() for row in here.rows] == [row.to_dict() for row in there.rows]
