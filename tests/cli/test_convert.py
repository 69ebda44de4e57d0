"""`trajgrade convert` and `trajgrade show` on files, patterns and folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.formats.samples import ANTHROPIC, OPENAI
from trajgrade import read_traces
from trajgrade.cli.convert import SHAPES
from trajgrade.conversion import TARGETS

WRAPPER = [{"name": "p", "args": {"tool_uses": [
    {"recipient_name": "functions.a", "parameters": {}},
    {"recipient_name": "functions.b", "parameters": {}},
]}}]  # fmt: skip


@pytest.fixture
def traces(folder: Path) -> Path:
    (folder / "traces" / "sub").mkdir(parents=True)
    (folder / "traces" / "a.json").write_text(json.dumps(OPENAI))
    lines = "".join(f"{json.dumps(one)}\n" for one in (ANTHROPIC, OPENAI))
    (folder / "traces" / "sub" / "b.jsonl").write_text(lines)
    return folder


def test_the_shapes_are_those_of_the_library():
    assert set(SHAPES) == set(TARGETS)


@pytest.mark.parametrize("to", SHAPES)
def test_a_folder_is_converted_one_trace_a_line(to: str, traces: Path, command: Command):
    done = command("convert", "traces", "--to", to, "-o", "out/all.jsonl")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("saved out/all.jsonl: 3 traces\n")
    found = list(read_traces(traces / "out" / "all.jsonl"))
    wanted = list(read_traces(traces / "traces"))
    assert [[(c.name, c.args) for c in run.tool_calls] for run in found] == [
        [(c.name, c.args) for c in run.tool_calls] for run in wanted
    ]
    assert command("convert", "traces", "--to", to).out == (traces / "out/all.jsonl").read_text()
    assert list((traces / "out").iterdir()) == [traces / "out" / "all.jsonl"]


def test_patterns_and_several_files_are_taken_together(traces: Path, command: Command):
    assert len(command("convert", "traces/*.json", "traces/sub/b.jsonl").out.splitlines()) == 3


def test_a_trace_that_cannot_be_is_told_of_and_the_others_are_converted(
    traces: Path, command: Command
):
    (traces / "traces" / "c.jsonl").write_text(
        f'{{"foo": 1}}\n{json.dumps(OPENAI)}\n["ping", {{"name": "f"}}]\n'
    )
    (traces / "traces" / "d.csv").write_text("a,b\n1,2\n")
    done = command("convert", "traces", "--to", "openai", "-o", "all.jsonl")
    assert done.code == 2
    assert "c.jsonl line 1: no format recognises" in done.err
    assert "c.jsonl, trace 1: the arguments of 'ping' were not recorded" in done.err
    assert "d.csv is a table" in done.err
    assert len((traces / "all.jsonl").read_text().splitlines()) == 4


def test_what_has_no_place_is_said(traces: Path, command: Command):
    (traces / "t.json").write_text(json.dumps([{"name": "f", "type": "builtin"}]))
    done = command("convert", "t.json", "--to", "openai")
    assert done.code == 0
    assert "warning: openai has no place for hosted calls (1)" in done.err


def test_wrappers_are_opened_where_that_is_asked(traces: Path, command: Command):
    (traces / "w.json").write_text(json.dumps(WRAPPER))
    assert "call 1" not in command("show", "w.json").out
    opened = command("show", "w.json", "--unwrap").out
    assert "call 0    a({})" in opened
    assert "call 1    b({})" in opened
    found = json.loads(command("convert", "w.json", "--unwrap").out)
    assert [call["name"] for step in found["steps"] for call in step["tool_calls"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-o", "out.csv"], "name a .jsonl file"),
        (["-o", "traces/sub/b.jsonl"], "would be written over what is read"),
        (["--to", "opneai"], "opneai"),
        (["--format", "opnai_chat"], "Did you mean 'openai_chat'"),
        (["nothing.json"], "no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    args: list[str], said: str, traces: Path, command: Command
):
    done = command("convert", "traces", *args)
    assert done.code == 2
    assert said in done.err
    assert not (traces / "out.csv").exists()


def test_show_names_the_file_of_each_run_where_there_are_several(traces: Path, command: Command):
    done = command("show", "traces")
    heads = [line for line in done.out.splitlines() if line.startswith("traces/")]
    assert [head.split(",")[0] for head in heads] == [
        "traces/a.json", "traces/sub/b.jsonl", "traces/sub/b.jsonl",
    ]  # fmt: skip
    assert len(json.loads(command("show", "traces/a.json", "traces/sub", "--json").out)) == 3
