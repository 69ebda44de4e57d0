"""Datasets that are kept: versions that never change, tags that move, rows by their ids."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import DatasetError
from trajgrade.stores.kept_lines import FolderDatasets
from trajgrade.stores.sqlite import SqliteStore
from trajgrade.versions import address_of, changes, hash_of, kept, merged

ROWS: list[dict[str, Any]] = [
    {"id": "a", "inputs": "one", "split": "test"},
    {"id": "b", "inputs": "two", "split": "train"},
    {"id": "c", "inputs": {"x": [1, 2.5, None]}},
]


@pytest.fixture(params=["folder", "sqlite"])
def datasets(request, tmp_path):
    if request.param == "folder":
        return FolderDatasets(tmp_path / "datasets")
    return SqliteStore(f"sqlite:///{tmp_path / 'kept.db'}").datasets


def test_every_change_is_a_new_version_and_the_old_ones_stay(datasets):
    first = datasets.put("refunds", ROWS, note="begin")
    second = datasets.put("refunds", ROWS[:2])
    assert (first.version, second.version) == (1, 2)
    assert (first.n_rows, first.note, first.splits) == (3, "begin", {"test": 1, "train": 1})
    assert [*datasets.rows("refunds", 1)] == ROWS
    assert [*datasets.rows("refunds")] == ROWS[:2]
    assert [version.version for version in datasets.versions("refunds")] == [2, 1]
    assert datasets.names() == ["refunds"]


def test_the_same_content_is_the_same_version(datasets):
    first = datasets.put("refunds", ROWS)
    again = datasets.put("refunds", [dict(reversed(row.items())) for row in ROWS])
    assert again == first
    assert len(datasets.versions("refunds")) == 1


def test_rows_that_are_added_replace_those_of_their_ids_in_their_place(datasets):
    datasets.put("refunds", ROWS)
    datasets.add("refunds", [{"id": "b", "inputs": "new"}, {"id": "d", "inputs": "more"}])
    assert [(row["id"], row["inputs"]) for row in datasets.rows("refunds")] == [
        ("a", "one"), ("b", "new"), ("c", {"x": [1, 2.5, None]}), ("d", "more"),
    ]  # fmt: skip
    found = changes(datasets.kept("refunds", 1), datasets.kept("refunds"))
    assert found == (["d"], [], ["b"])


def test_a_tag_names_one_version_and_moves(datasets):
    datasets.put("refunds", ROWS)
    datasets.put("refunds", ROWS[:1])
    assert datasets.tag("refunds", "prod", 1).version == 1
    assert [*datasets.rows("refunds", "prod")] == ROWS
    assert datasets.tag("refunds", "prod").version == 2
    assert [*datasets.rows("refunds", "prod")] == ROWS[:1]
    assert [version.tags for version in datasets.versions("refunds")] == [("prod",), ()]


def test_a_split_is_read_alone(datasets):
    datasets.put("refunds", ROWS)
    assert [*datasets.rows("refunds", split="test")] == ROWS[:1]
    assert [*datasets.rows("refunds", split="other")] == []


@pytest.mark.parametrize("as_of", ["prd", "v9", 9, "0", "latst"])
def test_a_version_that_there_is_not_is_refused_with_those_there_are(datasets, as_of):
    datasets.put("refunds", ROWS)
    datasets.tag("refunds", "prod")
    with pytest.raises(DatasetError, match=r"dataset refunds: unknown version or tag .*prod, v1"):
        datasets.version("refunds", as_of)


def test_a_dataset_that_there_is_not_is_refused_with_those_there_are(datasets):
    with pytest.raises(DatasetError, match="no dataset 'refunds'"):
        datasets.version("refunds")
    datasets.put("refunds", ROWS)
    with pytest.raises(DatasetError, match="Did you mean 'refunds'"):
        datasets.version("refund")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 101, None, "a@b"])
def test_a_name_that_could_be_no_file_is_refused(datasets, name):
    with pytest.raises(DatasetError, match="is no name of a dataset"):
        datasets.put(name, ROWS)


@pytest.mark.parametrize("tag", ["latest", "3", "v3", "a b"])
def test_a_tag_that_means_something_else_is_refused(datasets, tag):
    datasets.put("refunds", ROWS)
    with pytest.raises(DatasetError, match="is no"):
        datasets.tag("refunds", tag)


def test_two_rows_of_one_id_are_refused_and_trials_are_not(datasets):
    with pytest.raises(DatasetError, match=r"rows 0 and 1 have the same id 'a'"):
        datasets.put("refunds", [{"id": "a", "x": 1}, {"id": "a", "x": 2}])
    datasets.put("refunds", [{"id": "a", "trial": 0}, {"id": "a", "trial": 1}])
    with pytest.raises(DatasetError, match="row 0: an object is needed"):
        datasets.put("refunds", [[1]])


def test_many_rows_come_back_in_their_order(datasets):
    rows = [{"id": f"{n}", "text": "x" * (n % 7)} for n in range(1203)]
    datasets.put("many", rows)
    assert [*datasets.rows("many")] == rows


WRITER = """
import sys
from trajgrade.stores.sqlite import SqliteStore
from trajgrade.stores.kept_lines import FolderDatasets
from pathlib import Path
kind, where, name = sys.argv[1:]
datasets = FolderDatasets(Path(where)) if kind == "folder" else SqliteStore("sqlite:///" + where).datasets
for n in range(10):
    datasets.add("shared", [{"id": f"{name}-{n}"}])
"""


def test_writers_in_several_processes_lose_nothing(tmp_path):
    path = tmp_path / "kept.db"
    SqliteStore(f"sqlite:///{path}").datasets.put("shared", [{"id": "first"}])
    command = [sys.executable, "-c", WRITER, "sqlite", str(path)]
    writers = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    found = SqliteStore(f"sqlite:///{path}").datasets
    assert len([*found.rows("shared")]) == 21
    assert [v.version for v in found.versions("shared")] == [*range(21, 0, -1)]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3), max_size=6))
def test_the_hash_is_of_the_content_alone(rows):
    named = [{"id": str(n), **row} for n, row in enumerate(rows)]
    turned = [dict(reversed(row.items())) for row in named]
    assert hash_of(kept(named, "d")) == hash_of(kept(turned, "d"))
    for at in range(len(named)):
        changed = [*named]
        changed[at] = {**changed[at], "more": 1}
        assert hash_of(kept(changed, "d")) != hash_of(kept(named, "d"))


@given(
    st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.sampled_from("abcd"), unique=True)
)
def test_merging_keeps_every_id_once_and_the_new_content(old, new):
    before = kept([{"id": name, "from": "old"} for name in old], "d")
    after = kept([{"id": name, "from": "new"} for name in new], "d")
    found = {row.id: json.loads(row.text)["from"] for row in merged(before, after)}
    assert found == {**dict.fromkeys(old, "old"), **dict.fromkeys(new, "new")}


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("store:refunds", ("refunds", "latest", "")),
        ("store:refunds@prod", ("refunds", "prod", "")),
        ("store:refunds@v3/test", ("refunds", "v3", "test")),
        ("store:refunds/test", ("refunds", "latest", "test")),
    ],
)
def test_an_address_names_dataset_version_and_split(text, right):
    assert address_of(text) == right


@pytest.mark.parametrize("text", ["store:", "store:a@", "store:@b", "store:a/b/c", "store:../x"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(DatasetError):
        address_of(text)


def test_a_folder_is_plain_files_that_git_can_show(tmp_path: Path):
    FolderDatasets(tmp_path).put("refunds", ROWS)
    lines = (tmp_path / "refunds" / "v0001.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    assert sorted(p.name for p in (tmp_path / "refunds").iterdir() if p.name != ".lock") == [
        "index.json", "v0001.jsonl",
    ]  # fmt: skip
