"""Rows graded in other processes are those graded in this one, whatever the slices."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajgrade.counted import counted
from trajgrade.dataset import Dataset, Needs
from trajgrade.dataset.slices import examples_of, sliced
from trajgrade.engines.event_loop import EventLoop
from trajgrade.engines.process_pool import ProcessPool
from trajgrade.errors import DatasetError
from trajgrade.evaluators.spelling import graders
from trajgrade.flow import InOrder, flow
from trajgrade.grading import Grader
from trajgrade.parcels import Parcel
from trajgrade.spread import refusal, spread
from trajgrade.tally import Tally, metrics_of
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


def graded(engine, paths, names=NAMES, explain="all", size=4000, **options):
    """The tally of a run, its slices taken in order."""
    dataset = Dataset.load(paths)
    evaluators = graders(names).evaluators
    metrics = metrics_of(evaluators, {})
    ordered: InOrder[Parcel] = InOrder()
    tally = Tally(metrics, explain=explain)
    done = spread(
        engine, dataset, evaluators, metrics, needs_of(evaluators), explain, size=size, **options
    )
    for one in done:
        for turn in ordered.add(one):
            turn.added_to(tally)
    assert [*ordered.rest()] == []
    return tally


def one_by_one(paths, names=NAMES, explain="all"):
    """The tally of a run, its rows added one after the other."""
    dataset = Dataset.load(paths)
    evaluators = graders(names).evaluators
    grader = Grader(evaluators, apart=dataset.texts_apart, explain=explain)
    tally = Tally(metrics_of(evaluators, {}), explain=explain)
    for done in flow(dataset.examples(needs_of(evaluators)), grader):
        done.added_to(tally)
    return tally


def shown(tally):
    summary = tally.summary()  # which amends rows, and so comes first
    return {
        "summary": summary.to_dict(),
        "rows": [row.to_dict() for row in tally.rows],
        "amended": {row: said for row, said in tally.rows.amended.items() if said},
        "worst": tally.worst(),
        "warnings": tally.warnings(),
        "groups": [m.groups.example_of.tolist() for m in summary.values()],
        "strangers": tally.has_strangers,
    }


def test_rows_are_the_same_on_every_engine_over_several_files(tmp_path):
    paths = [str(written(tmp_path / f"{n}.jsonl", 101 + n, name=f"{n}-")) for n in range(2)]
    here, there = graded(EventLoop(), paths), graded(ProcessPool(2), paths)
    assert shown(here) == shown(there) == shown(one_by_one(paths))
    assert len(here.rows) == 203
    assert any(said for said in here.rows.amended.values())


def of_all_kinds(path: Path, rows: int, seed: int) -> Path:
    """Rows with trials, overrides that no call meets, no reference, no output, texts."""
    dice = random.Random(seed)  # noqa: S311 made up
    trials = dice.random() < 0.5
    lines = []
    for n in range(rows):
        long = dice.random() < 0.1
        calls = [
            {"tool_name": dice.choice("fgh"), "tool_input": {"n": dice.randint(0, 2)}}
            for _ in range(210 if long else dice.randint(0, 3))
        ]
        wanted = calls[: dice.randint(0, 3)]
        row: dict[str, Any] = {
            "predicted_trajectory": calls,
            "response": dice.choice(["a b", "a c d", ""]),
        }
        if dice.random() < 0.8:
            row |= {"reference_trajectory": wanted, "reference": "a b c"}
        if trials and (n > rows // 2 or dice.random() < 0.2):
            row |= {"id": f"e{n // 3}", "trial": n}
        lines.append(json.dumps({"id": f"r{n}", **row}))
    path.write_text("\n".join(lines))
    return path


OVERRIDDEN: Any = {
    "trajectory_match": {
        "mode": "superset",
        "tool_args_match_overrides": {"g": "ignore", "z": "exact"},
    }
}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 6000),
    st.integers(0, 10**6),
    st.sampled_from(["all", "worst", "none"]),
)
def test_slices_of_any_size_come_to_the_same_as_row_after_row(
    tmp_path_factory, rows, size, seed, explain
):
    path = str(of_all_kinds(tmp_path_factory.mktemp("d") / "d.jsonl", rows, seed))
    names: list[Any] = [*NAMES, OVERRIDDEN, "bleu", "rouge_l"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("trajgrade.parcels.AT_ONCE", 1 + seed % 7)
        found = graded(EventLoop(), path, names, explain, size)
    assert shown(found) == shown(one_by_one(path, names, explain))


def test_an_interrupted_run_counts_what_came_of_slices_that_have_not_ended(tmp_path):
    class Cut(EventLoop):
        def map(self, work, jobs):
            for came in super().map(work, jobs):
                if came.number == 2 and came.what == "ended":
                    raise KeyboardInterrupt
                yield came

    path = str(written(tmp_path / "d.jsonl", 100, blank=False))
    dataset = Dataset.load(path)
    evaluators = graders(NAMES).evaluators
    metrics = metrics_of(evaluators, {})
    done = spread(Cut(), dataset, evaluators, metrics, needs_of(evaluators), "all", size=2000)
    tally = Tally(metrics, explain="all")
    assert counted(done, tally, None, None)
    third = [*sliced(dataset.files, 2000)][2]
    assert len(tally.rows) == third.before + third.n_rows
    assert [row.to_dict() for row in tally.rows] == [
        row.to_dict() for row in one_by_one(path).rows[: len(tally.rows)]
    ]


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
