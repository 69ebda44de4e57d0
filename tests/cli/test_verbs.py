"""The small verbs: list, sample, show, validate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trajgrade
from tests.cli.conftest import Command
from tests.report.conftest import HOSTILE
from trajgrade.evaluators import get_supported_evaluators
from trajgrade.registry import formats

# ------------------------------------------------------------------------------ list


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("evaluators", get_supported_evaluators()),
        ("formats", list(formats)),
        ("samples", trajgrade.list_samples()),
    ],
)
def test_what_there_is_is_listed(kind: str, names: list[str], command: Command):
    done = command("list", kind)
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == names
    found = json.loads(command("list", kind, "--json").out)
    assert [one["name"] for one in found] == names
    assert all(one["description"] for one in found)


# ------------------------------------------------------------------------------ sample


@pytest.mark.parametrize("name", trajgrade.list_samples())
def test_a_sample_is_written_and_can_be_graded(name: str, folder: Path, command: Command):
    assert command("sample", name, "-o", "sub/data.json") == (0, "", "saved sub/data.json\n")
    assert len(list(trajgrade.Dataset.load("sub/data.json"))) >= 30
    printed = command("sample", name)
    assert printed.out == (folder / "sub" / "data.json").read_text(encoding="utf-8")
    assert command("sample", name, "-o", "-").out == printed.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["on-devise"], "unknown sample 'on-devise'. Did you mean 'on-device'?"),
        (["on-device", "-o", "rows.json"], "-o rows.json: is there already, and is something else"),
        (["on-device", "-o", "rows.csv"], "-o rows.csv: a sample is JSON; name the file rows.json"),
    ],
)
def test_a_sample_is_not_written_over_something(
    args: list[str], said: str, folder: Path, command: Command
):
    done = command("sample", *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


# ------------------------------------------------------------------------------ show

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Find it,\nplease"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}},
            {"id": "c2", "type": "function", "function": {"name": "find", "arguments": "{broken"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "found x"},
    {"role": "assistant", "content": "Here it is."},
]  # fmt: skip


def saved(folder: Path, data: Any) -> str:
    (folder / "trace.json").write_text(json.dumps(data))
    return "trace.json"


def test_a_trace_is_shown_as_it_is_read(folder: Path, command: Command):
    done = command("show", saved(folder, MESSAGES))
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "openai_chat, 4 steps, 2 calls"
    assert lines[1:3] == ["user       Find it,", "           please"]
    assert lines[3].startswith('call 0     find({"q":"x"})  [id c1')
    assert lines[4] == "           = found x"
    assert lines[5] == "call 1     find({broken)  [id c2, arguments unparseable]"
    assert lines[6] == "assistant  Here it is."
    assert lines[7] == "response   the last message of the assistant"
    assert lines[8].startswith("note       ")


def test_several_trajectories_are_shown_one_after_the_other(folder: Path, command: Command):
    done = command("show", saved(folder, [MESSAGES, MESSAGES]))
    assert done.out.count("openai_chat, 4 steps, 2 calls") == 2
    found = json.loads(command("show", "trace.json", "--json").out)
    assert [len(one["steps"]) for one in found] == [4, 4]


@pytest.mark.parametrize("name", ["trace.json", "trace.jsonl"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_trace_that_cannot_be_read_is_told_of_and_the_others_are_shown(
    name: str, at: int, folder: Path, command: Command
):
    rows: list[Any] = [{"messages": MESSAGES}, {"messages": MESSAGES}]
    rows.insert(at, {"foo": 1})
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / name).write_text(lines if name.endswith("l") else json.dumps(rows))
    done = command("show", name)
    assert (done.code, done.out.count("4 steps, 2 calls")) == (2, 2)
    place = f"line {at + 1}" if name.endswith("l") else f"item {at}"
    assert f"error: {name} {place}: no format recognises" in done.err
    done = command("show", name, "--json")
    assert (done.code, len(json.loads(done.out))) == (2, 2)


def test_a_list_of_no_traces_is_one_error(folder: Path, command: Command):
    done = command("show", saved(folder, [{"foo": 1}, {"foo": 2}]))
    assert (done.code, done.out, done.err.count("error: ")) == (2, "", 1)


def test_the_format_can_be_said(folder: Path, command: Command):
    done = command("show", saved(folder, MESSAGES), "--format", "openai_chat")
    assert done.code == 0
    done = command("show", "trace.json", "--format", "openai_chatt")
    assert done.code == 2
    assert "Did you mean 'openai_chat'?" in done.err


def test_hostile_traces_cannot_touch_the_terminal(folder: Path, command: Command):
    hostile = [
        {"role": "user", "content": HOSTILE},
        {"role": "assistant", "content": HOSTILE, "tool_calls": [
            {"id": HOSTILE, "function": {"name": HOSTILE, "arguments": json.dumps({HOSTILE: HOSTILE})}}
        ]},
    ]  # fmt: skip
    done = command("show", saved(folder, hostile))
    assert done.code == 0
    assert not set("\x1b\x07\r\u202e\u200b\ud800") & set(done.out)
    assert "[red]x[/red]" in done.out


def test_long_texts_are_cut_and_say_so(folder: Path, command: Command):
    messages = [{"role": "user", "content": "x" * 5000}, {"role": "assistant", "content": "ok"}]
    out = command("show", saved(folder, messages)).out
    assert "… (5,000 characters)" in out
    assert len(out) < 4000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file or directory: 'gone.json'"),
        ('{"foo": 1}', "no format recognises an object with the keys ['foo']"),
        ("not json", "the file is not JSON"),
    ],
)
def test_what_is_no_trace_is_bad_input(
    content: str | None, said: str, folder: Path, command: Command
):
    if content is not None:
        (folder / "gone.json").write_text(content)
    done = command("show", "gone.json")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


# ------------------------------------------------------------------------------ validate

MISTAKES = """
dataset: rows.json
fields:
  outputs: outptus
evaluators:
  - trajectory_match: {mode: unorderd}
  - trajectory_f1
thresholds:
  trajectory_f2: 0.8
"""


def test_three_mistakes_are_all_said(folder: Path, process: Command):
    (folder / "eval.yaml").write_text(MISTAKES)
    done = process("validate", "eval.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: eval.yaml: 3 faults\n")
    for said in (
        "  - evaluators[0].trajectory_match.mode: unknown choice 'unorderd'. Did you mean 'unordered'",
        "  - thresholds.trajectory_f2: unknown metric 'trajectory_f2'. Did you mean 'trajectory_f1'?",
        "  - fields.outputs: rows.json: no row has the field 'outptus'. Did you mean 'outputs'?",
    ):
        assert said in done.err


def test_a_config_without_faults_says_what_would_run(folder: Path, command: Command):
    (folder / "eval.yaml").write_text(
        "dataset: rows.json\nfields: {outputs: outputs}\nevaluators: [trajectory_f1]\n"
        "thresholds: {trajectory_f1: 0.5}"
    )
    done = command("validate", "eval.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "eval.yaml: no faults",
        "",
        "dataset     rows.json, 3 rows",
        "fields      outputs: outputs",
        "evaluator   trajectory_f1",
        "threshold   trajectory_f1: 0.5",
    ]


def test_validate_takes_another_dataset(folder: Path, command: Command):
    done = command("validate", "eval.yaml", "--dataset", "gone.json")
    assert done.code == 2
    assert "dataset: no such file or directory: 'gone.json'" in done.err


def test_the_schema_is_printed(command: Command):
    done = command("validate", "--schema")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["properties"]["dataset"]
