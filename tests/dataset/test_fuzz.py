"""No file makes anything but examples or an error that says what is wrong with it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajgrade.dataset import Dataset
from trajgrade.errors import DatasetError

SEEDS = [
    b'{"id": 1, "outputs": [{"role": "user", "content": "x"}]}\n{"id": 2}\n',
    b'[{"id": 1, "predicted_trajectory": [{"tool_name": "f"}]}, {"messages": []}]',
    b'{"id": ["a", "b"], "response": ["x", null]}',
    b'{"examples": [{"id": 1}], "data": {"0": 1}}',
    b'id,outputs,trial\n1,"[{""name"": ""f""}]",0\n1,x,1\n',
    b"\xef\xbb\xbfid;response\n1;\xe2\x82\xac\n",
    gzip.compress(b'{"id": 1}\n' * 3),
]
noise = st.sampled_from(
    [b"", b"\n", b'"', b"{", b"[", b"]}", b",", b"\x00", b"\xff", b"NaN", b"\\ud800"]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a good file of which a part is replaced."""
    text = draw(st.sampled_from(SEEDS))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    put = draw(noise | st.binary(max_size=6) | st.sampled_from(SEEDS))
    return text[:start] + put + text[end:]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.dat"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=damaged() | st.binary(max_size=40))
def test_a_damaged_file_gives_examples_or_a_dataset_error(tmp_path: Path, name: str, text: bytes):
    (tmp_path / name).write_bytes(text)
    try:
        dataset = Dataset.load(tmp_path / name)
        assert sum(1 for _ in dataset) == dataset.count()
    except DatasetError as refused:
        assert str(refused)  # noqa: PT017 either is right
