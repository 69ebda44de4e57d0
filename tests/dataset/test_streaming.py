"""Walking a large dataset takes the memory of a row, and its ids."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trajgrade.dataset import Dataset, Needs, Role

NEEDS = Needs(frozenset({"outputs"}), stored=("reward",))
FILLER = [{"role": "user", "content": "x" * 200}]
ROWS = 8_000


def peak(work: Callable[[], Any]) -> int:
    """Return how many bytes more than before the work holds at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def walk(dataset: Dataset, needs: Needs = NEEDS) -> None:
    deque(dataset.examples(needs), maxlen=0)


def written(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"{json.dumps({'id': f'case {number}', 'outputs': FILLER, 'reward': 1})}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    text = "".join(written(ROWS))
    (folder / "large.jsonl").write_text(text)
    (folder / "small.jsonl").write_text("".join(written(ROWS // 10)))
    (folder / "large.jsonl.gz").write_bytes(gzip.compress(text.encode(), 1))
    with (folder / "large.csv").open("w") as stream:
        stream.write("id,outputs,reward\n")
        stream.writelines(f"case {n},{'x' * 250},1\n" for n in range(ROWS))
    return folder


@pytest.mark.parametrize("name", ["large.jsonl", "large.jsonl.gz", "large.csv"])
def test_rows_are_not_kept(folder: Path, name: str):
    dataset = Dataset.load(folder / name)
    walk(dataset)  # what is imported or cached once
    assert peak(lambda: walk(dataset)) < 1_400_000 + 40 * ROWS  # of 2 MB of rows


def test_a_row_more_takes_less_than_a_hundred_bytes(folder: Path):
    small, large = (Dataset.load(folder / f"{name}.jsonl") for name in ("small", "large"))
    walk(small)
    grown = peak(lambda: walk(large)) - peak(lambda: walk(small))
    assert grown / (ROWS - ROWS // 10) < 100


def test_counting_and_hashing_keep_nothing(folder: Path):
    dataset = Dataset.load(folder / "large.jsonl")
    assert dataset.count() == ROWS
    assert peak(dataset.count) < 1_000_000
    assert peak(dataset.hash) < 1_000_000


def test_a_dataset_holds_none_of_its_rows_but_the_first(folder: Path):
    Dataset.load(folder / "large.jsonl")
    held: list[Dataset] = []
    assert peak(lambda: held.append(Dataset.load(folder / "large.jsonl"))) < 1_500_000


def test_one_large_field_that_is_not_needed_costs_its_text_only(tmp_path: Path):
    size = 20_000_000
    large = [{"role": "tool", "content": "x" * size}]
    with (tmp_path / "a.jsonl").open("w") as stream:
        for number in range(50):
            stream.write(f'{{"id": {number}, "response": "fine", "outputs": []}}\n')
        stream.write(json.dumps({"id": "large", "response": "seen", "outputs": large}) + "\n")
        stream.write('{"id": "after", "response": "fine"}\n')
    roles: frozenset[Role] = frozenset({"response"})
    dataset = Dataset.load(tmp_path / "a.jsonl")
    found: list[str] = []
    used = peak(lambda: found.extend(e.response for e in dataset.examples(Needs(roles))))
    assert found[-2:] == ["seen", "fine"]
    assert used < 2.2 * size


def test_walks_do_not_disturb_each_other(folder: Path):
    dataset = Dataset.load(folder / "small.jsonl")
    pairs = zip(dataset.examples(NEEDS), dataset.examples(NEEDS), strict=True)
    assert all(one == other for one, other in pairs)
