"""read_traces: files, text or data → trajectories."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.samples import OPENAI, SAMPLES, VERTEX, Sample
from trajgrade import read_traces
from trajgrade.errors import (
    DatasetError,
    MalformedTraceError,
    TraceError,
    UnknownNameError,
    UnknownTraceError,
)
from trajgrade.trajectory import Trajectory

USER = {"role": "user", "content": "q"}
ANSWER = {"role": "assistant", "content": "a"}


def write(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


def names(source: Any, **options: Any) -> list[list[str]]:
    return [[call.name for call in found.tool_calls] for found in read_traces(source, **options)]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not isinstance(s.data, str)], ids=str)
def test_a_file_with_a_trace_is_that_trace(sample: Sample, tmp_path: Path):
    path = write(tmp_path / "trace.json", sample.data)
    (found,) = read_traces(path)
    assert found == Trajectory.from_any(sample.data)


def test_a_path_may_be_a_text_a_pattern_or_a_directory(tmp_path: Path):
    write(tmp_path / "a.json", VERTEX)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(VERTEX * 2).encode()))
    for source in (str(tmp_path), tmp_path, str(tmp_path / "*.json*"), f"{tmp_path}/[ab].json*"):
        assert names(source) == [["trains"], ["trains", "trains"]]


@pytest.mark.parametrize("source", ["nowhere.json", "no/where/*.jsonl", "nowhere.jsonl.gz"])
def test_a_text_that_ends_like_a_file_must_be_one(source: str):
    with pytest.raises(DatasetError, match="no "):
        list(read_traces(source))


@pytest.mark.parametrize("source", ["Yes, at 09:14.", "nowhere", "is it *?", "see a.json", ""])
def test_any_other_text_is_the_trace_itself(source: str):
    (found,) = read_traces(source)
    assert found.final_response == source


def test_text_and_bytes_of_a_trace_are_read():
    assert names(json.dumps(VERTEX)) == [["trains"]]
    assert names(json.dumps(VERTEX).encode()) == [["trains"]]
    assert names(b"\xef\xbb\xbf" + json.dumps(VERTEX).encode()) == [["trains"]]
    with pytest.raises(MalformedTraceError, match="not UTF-8"):
        list(read_traces(b"\xff\xfe"))


@pytest.mark.parametrize(
    "several",
    [
        [OPENAI, OPENAI],
        [{"messages": OPENAI}, {"messages": OPENAI}],
        [{"predicted_trajectory": VERTEX}, {"predicted_trajectory": VERTEX}],
        [VERTEX, VERTEX],
        [Trajectory.from_any(OPENAI), Trajectory.from_any(OPENAI)],
        [Trajectory.from_any(OPENAI).to_dict(), OPENAI],
    ],
)
def test_a_list_of_traces_is_several(several: Any):
    assert names(several) == [["trains"], ["trains"]]


def test_one_trajectory_is_itself():
    trajectory = Trajectory()
    assert list(read_traces(trajectory)) == [trajectory]


@pytest.mark.parametrize("lines", [OPENAI, VERTEX * 3, [{"speaker": "User", "text": "q"}] * 2])
def test_lines_that_make_one_session_are_one_trace(lines: Any, tmp_path: Path):
    (found,) = read_traces(write(tmp_path / "t.jsonl", *lines))
    assert found == Trajectory.from_any(lines)


def test_a_session_may_be_longer_than_what_is_looked_at_first(tmp_path: Path):
    (found,) = read_traces(write(tmp_path / "t.jsonl", *[USER, ANSWER] * 100))
    assert len(found.steps) == 200


@pytest.mark.parametrize(
    "line", [OPENAI, {"messages": OPENAI}, {"predicted_trajectory": VERTEX}, [VERTEX[0]]]
)
def test_else_each_line_is_a_trace(line: Any, tmp_path: Path):
    assert names(write(tmp_path / "t.jsonl", *[line] * 60)) == [["trains"]] * 60


def test_lines_are_read_one_by_one(tmp_path: Path):
    path = write(tmp_path / "t.jsonl", *[OPENAI] * 60, {"foo": 1})
    found = read_traces(path)
    assert len([next(found) for _ in range(60)]) == 60
    with pytest.raises(UnknownTraceError, match=r"t\.jsonl line 61: no format recognises"):
        next(found)


def test_one_document_on_several_lines_is_read_whatever_the_files_name(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(OPENAI, indent=1), encoding="utf-8")
    assert names(path) == [["trains"]]


def test_an_error_names_file_and_line_or_item(tmp_path: Path):
    cut = tmp_path / "cut.jsonl"
    cut.write_text(json.dumps(OPENAI) + '\n[{"role": "us', encoding="utf-8")
    with pytest.raises(
        MalformedTraceError, match=r"cut\.jsonl line 2 is not JSON.*was its writer stopped"
    ):
        list(read_traces(cut))
    with pytest.raises(UnknownTraceError, match=r"i\.json item 1: no format recognises"):
        list(read_traces(write(tmp_path / "i.json", [OPENAI, {"foo": 1}])))
    with pytest.raises(UnknownTraceError, match=r"d\.json: no format recognises an object"):
        list(read_traces(write(tmp_path / "d.json", {"foo": 1})))
    with pytest.raises(UnknownTraceError, match=r"^item 1: no format"):
        list(read_traces([OPENAI, {"foo": 1}]))
    with pytest.raises(UnknownTraceError, match=r"^no format recognises a list of 2 items"):
        list(read_traces([1, 2]))


@pytest.mark.parametrize("text", ["", "hello", '"hello"', "{"])
def test_a_json_file_that_holds_none_is_an_error(text: str, tmp_path: Path):
    path = tmp_path / "t.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((TraceError, DatasetError), match=r"t\.json"):
        list(read_traces(path))


def test_a_text_file_is_an_answer(tmp_path: Path):
    path = tmp_path / "t.txt"
    path.write_text("Yes, at 09:14.", encoding="utf-8")
    assert [found.final_response for found in read_traces(path)] == ["Yes, at 09:14."]


def test_a_table_is_no_trace(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="load it as a dataset"):
        list(read_traces(path))


def test_the_format_may_be_named(tmp_path: Path):
    path = write(tmp_path / "t.json", [{"messages": OPENAI}, {"messages": OPENAI}])
    assert names(path, format="openai_chat") == [["trains"], ["trains"]]
    assert names(OPENAI, format="openai_chat") == [["trains"]]
    with pytest.raises(UnknownNameError, match="Did you mean 'openai_chat'"):
        list(read_traces(path, format="openai-chat"))
    with pytest.raises(TraceError):
        list(read_traces(path, format="vertex_trajectory"))
