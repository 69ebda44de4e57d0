"""Known faults of reading what others wrote: it is data, whatever it says (B220, B222)."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path

import pytest

from trajgrade.dataset import Dataset
from trajgrade.errors import DatasetError, TraceError
from trajgrade.run import Run
from trajgrade.trajectory import Trajectory

RAN: list[str] = []
CODE = "[__import__('tests.test_untrusted').test_untrusted.run('evaluated')]"


def run(what: str) -> None:
    RAN.append(what)


class Bomb:
    """What says so if it is ever unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return run, ("unpickled",)


def test_what_is_tried_here_would_be_seen():
    pickle.loads(pickle.dumps(Bomb()))  # noqa: S301 our own, to see that it would run
    eval(CODE)  # noqa: S307 our own, to see that it would run
    assert RAN == ["unpickled", "evaluated"]
    RAN.clear()


@pytest.fixture(autouse=True)
def _nothing_has_run():
    RAN.clear()
    yield
    assert RAN == []


@pytest.mark.parametrize("column", ["id", "inputs", "outputs", "reference_outputs", "context"])
def test_code_in_a_cell_is_text(column: str, tmp_path: Path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow([column, "other"])
        rows.writerow([CODE, "x"])
    (example,) = Dataset.load(path)
    assert getattr(example, column) == CODE


@pytest.mark.parametrize("name", ["run.json", "run.jsonl"])
def test_a_pickle_in_place_of_a_saved_run_is_refused(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DatasetError):
        Run.load(tmp_path / name)


def test_a_pickle_in_place_of_a_trace_is_refused():
    with pytest.raises((TraceError, TypeError)):
        Trajectory.from_any(pickle.dumps(Bomb()))
