"""Rows graded in other processes are those graded in this one, whatever the slices."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.dataset import Dataset, Needs
from trajgrade.dataset.slices import examples_of, sliced
from trajgrade.engines.event_loop import EventLoop
from trajgrade.engines.process_pool import ProcessPool
from trajgrade.errors import DatasetError
from trajgrade.evaluators.spelling import graders
from trajgrade.flow import InOrder
from trajgrade.spread import refusal, spread
from trajgrade.view import needs_of

NAMES = ["trajectory_exact_match", "trajectory_recall", "trajectory_alignment"]


def written(path: Path, rows: int, *, blank: bool = True, name: str = "r") -> Path:
    dice = random.Random(7)  # noqa: S311 made up
    lines = []
    for n in range(rows):
        calls = [{"tool_name": dice.choice("fgh"), "tool_input": {"n": n}} for _ in range(3)]
        row = {"predicted_trajectory": calls, "reference_trajectory": calls[: dice.randint(0, 3)]}
        lines.append(json.dumps({**({"id": f"{name}{n}"} if n % 2 else {}), **row}))
        if blank and dice.random() < 0.1:
            lines.append(" " * dice.randint(0, 2))
    path.write_text("\n".join(lines) + ("\n" if rows % 2 else ""))
    return path


def read(dataset, parts):
    return [
        example
        for part in parts
        for example in examples_of(dataset.outline, dataset.files[part.file].bare(), part, Needs())
    ]


def places(examples):
    return [(e.id, e.row, e.source, e.outputs) for e in examples]


@given(st.integers(1, 40), st.integers(1, 3000))
def test_slices_are_the_whole_whatever_their_size(tmp_path_factory, rows, size):
    path = written(tmp_path_factory.mktemp("d") / "d.jsonl", rows)
    dataset = Dataset.load(path)
    parts = [*sliced(dataset.files, size)]
    found = read(dataset, parts)
    assert places(found) == places(dataset.examples())
    assert sum(part.n_rows for part in parts) == rows
    assert [part.before for part in parts] == [
        sum(p.n_rows for p in parts[:n]) for n in range(len(parts))
    ]


@pytest.mark.parametrize("suffix", [".json", ".csv", ".jsonl.gz"])
def test_what_cannot_be_cut_is_one_slice(tmp_path, suffix):
    import gzip

    rows = [{"id": str(n), "response": "x", "reference": "y"} for n in range(5)]
    path = tmp_path / f"d{suffix}"
    if suffix == ".csv":
        path.write_text("id,response,reference\n" + "".join(f"{n},x,y\n" for n in range(5)))
    elif suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    dataset = Dataset.load(path)
    (part,) = sliced(dataset.files, 10)
    assert places(read(dataset, [part])) == places(dataset.examples())


def graded(engine, paths):
    dataset = Dataset.load(paths)
    evaluators = graders(NAMES).evaluators
    ordered = InOrder()
    done = spread(engine, dataset, evaluators, needs_of(evaluators), "all", size=4000)
    rows = [turn.graded for one in done for turn in ordered.add(one)]
    assert [*ordered.rest()] == []
    return rows


def test_rows_are_the_same_on_every_engine_over_several_files(tmp_path):
    paths = [str(written(tmp_path / f"{n}.jsonl", 101 + n, name=f"{n}-")) for n in range(2)]
    here, there = graded(EventLoop(), paths), graded(ProcessPool(2), paths)
    assert here == there
    assert len(here) == 203
    assert any(one.alignments for one in here)


def test_two_rows_of_one_id_in_different_slices_are_refused_by_name(tmp_path):
    path = tmp_path / "d.jsonl"
    row: dict[str, list] = {"predicted_trajectory": [], "reference_trajectory": []}
    lines = [json.dumps({"id": str(n % 30), **row}) for n in range(31)]
    path.write_text("\n".join(lines))
    with pytest.raises(DatasetError, match=r"line 31 has the id '0' .* as has .*line 1"):
        graded(ProcessPool(2), [str(path)])


def test_what_cannot_go_to_another_process_is_named(tmp_path):
    dataset = Dataset.load(written(tmp_path / "d.jsonl", 3))
    assert refusal(dataset, graders(NAMES).evaluators, "process_pool") is None
    local = graders([lambda outputs: 1.0]).evaluators
    assert "<lambda> cannot be sent" in str(refusal(dataset, local, "process_pool"))
    memory = Dataset.load([{"outputs": []}])
    assert "save it as JSON Lines" in str(refusal(memory, [], "process_pool"))
