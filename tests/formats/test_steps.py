"""Step by step: a session log is read in memory that does not grow with it."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.formats import write_claude, write_codex, write_gemini
from tests.conftest import shared_files
from tests.formats.samples import SAMPLES, Sample
from trajgrade import read_steps, read_traces
from trajgrade.errors import DatasetError, TraceError
from trajgrade.formats.claude_messages import WINDOW
from trajgrade.trajectory import Step, ToolCall, Trajectory

Write = Callable[[Path, float], int]
WRITERS = [write_codex, write_claude, write_gemini]


def written(folder: Path, lines: list[Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def told(steps: list[Step]) -> list[Any]:
    return [
        (step.role, step.content, [(c.name, c.args, c.id, c.result, c.status, c.started_at,
                                    c.ended_at, c.turn) for c in step.tool_calls])
        for step in steps
    ]  # fmt: skip


def every(calls: tuple[ToolCall, ...]) -> list[ToolCall]:
    return [one for call in calls for one in (call, *every(call.children))]


def spoken(calls: list[ToolCall]) -> list[str]:
    return sorted(repr((c.name, c.args, c.id, c.result, c.status)) for c in calls)


def assert_alike(path: Path) -> None:
    (run,) = read_traces(path)
    steps = list(read_steps(path))
    made = [call for step in steps for call in step.tool_calls]
    assert spoken(made) == spoken(every((*run.tool_calls, *run.hosted_calls)))
    if not any(call.children for call in run.tool_calls) and "sub-agent" not in str(run.notes):
        assert told(steps) == told(list(run.steps))


@pytest.mark.parametrize("path", shared_files("traces/c*/*.jsonl"))
def test_a_real_log_has_the_same_steps(path: Path):
    assert_alike(path)


@pytest.mark.parametrize("path", shared_files("traces/gemini_cli/*.json*"))
def test_a_real_log_of_gemini_cli_has_the_same_steps(path: Path):
    assert_alike(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_whatever_else_is_read_as_read_traces_reads_it(sample: Sample):
    (run,) = read_traces(sample.data)
    notes: list[str] = []
    assert list(read_steps(sample.data, tell=notes.append)) == list(run.steps)
    assert notes == list(run.notes)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_sample_that_is_a_log_has_the_same_steps_line_by_line(sample: Sample, tmp_path: Path):
    if isinstance(sample.data, list) and sample.format in (
        "claude_code",
        "codex_rollout",
        "gemini_cli",
    ):
        assert_alike(written(tmp_path, sample.data))


@pytest.mark.parametrize("write", WRITERS)
def test_a_log_four_times_as_long_takes_no_more_memory(write: Write, tmp_path: Path):
    peaks = []
    path = tmp_path / "log.jsonl"
    for size in (1e6, 4e6, 16e6):
        calls = write(path, size)
        tracemalloc.start()
        number = sum(len(step.tool_calls) for step in read_steps(path))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert number == calls
        peaks.append(peak)
    assert peaks[2] < peaks[1] * 1.1 + 200_000


@pytest.mark.parametrize("write", WRITERS)
def test_results_are_there_and_each_step_comes_as_soon_as_it_is_done(write: Write, tmp_path: Path):
    path = tmp_path / "log.jsonl"
    calls = write(path, 8e6)
    with path.open("a") as stream:
        stream.write("{broken\n")
    made: list[ToolCall] = []
    with pytest.raises(TraceError, match="is not JSON"):
        made.extend(call for step in read_steps(path) for call in step.tool_calls)
    assert calls - 2 * WINDOW < len(made) <= calls
    assert all("lorem ipsum" in str(call.result) for call in made)


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-09-19T09:02:12Z", "type": "response_item",
            "payload": {"type": kind, **payload}}  # fmt: skip


def asks(key: str) -> dict[str, Any]:
    return codex("function_call", call_id=key, name="f", arguments=json.dumps({"n": key}))


def answers(key: str) -> dict[str, Any]:
    return codex("function_call_output", call_id=key, output=f"result {key}")


def test_results_in_any_order_belong_to_their_calls(tmp_path: Path):
    chance = random.Random(5)  # noqa: S311 no secret
    lines: list[Any] = []
    waiting: list[str] = []
    for number in range(500):
        lines.append(asks(str(number)))
        waiting.append(str(number))
        while waiting and (len(waiting) > 20 or chance.random() < 0.5):
            lines.append(answers(waiting.pop(chance.randrange(len(waiting)))))
    lines += [answers(key) for key in waiting]
    path = written(tmp_path, lines)
    assert_alike(path)
    made = [call for step in read_steps(path) for call in step.tool_calls]
    assert [(call.id, call.result) for call in made] == [
        (str(number), f"result {number}") for number in range(500)
    ]


def test_a_call_whose_result_never_comes_holds_nothing_up(tmp_path: Path):
    lines = [asks("lost")]
    for number in range(1000):
        lines += [asks(str(number)), answers(str(number))]
    notes: list[str] = []
    steps = read_steps(written(tmp_path, [*lines, answers("lost")]), tell=notes.append)
    made = [call for step in steps for call in step.tool_calls]
    assert len(made) == 1001
    assert [call.id for call in made if call.result is None] == ["lost"]
    assert notes == ["a result of id 'lost' belongs to no call before it"]


def gemini(key: str, calls: int = 0, text: str = "I look.") -> dict[str, Any]:
    made = [
        {"id": f"t{key}.{at}", "name": "f", "args": {}, "status": "success"} for at in range(calls)
    ]
    return {"id": key, "type": "gemini", "content": text, "toolCalls": made}


def test_what_gemini_cli_writes_anew_long_after_is_told_of_and_counted_once(tmp_path: Path):
    header = {"sessionId": "s1", "projectHash": "9d"}
    messages = [gemini(str(number), 1) for number in range(300)]
    shown = {"$set": {"messages": [*messages[:3], gemini("new", 1)]}}
    lines = [header, *messages, gemini("0", 2), shown, {"$rewindTo": "1"}, gemini("last", 1)]
    notes: list[str] = []
    steps = list(read_steps(written(tmp_path, lines), tell=notes.append))
    made = [call.id for step in steps for call in step.tool_calls]
    assert len(made) == len(set(made))
    assert {f"t{number}.0" for number in range(200)} <= set(made)
    assert made[-1] == "tlast.0"
    assert len(notes) == 2
    assert "writes a message of long before anew" in notes[0]
    assert "takes back messages of long before" in notes[1]


def test_sub_agents_have_steps_of_their_own(tmp_path: Path):
    def line(role: str, number: int, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": role, "sessionId": "s", "uuid": f"{more.get('agentId')}{number}",
                "parentUuid": None, "message": {"role": role, "content": content}, **more}  # fmt: skip

    def use(key: str, name: str) -> list[Any]:
        return [{"type": "tool_use", "id": key, "name": name, "input": {}}]

    def back(key: str) -> list[Any]:
        return [{"type": "tool_result", "tool_use_id": key, "content": f"result {key}"}]

    lines = [line("user", 0, "Go."), line("assistant", 1, use("task", "Task"))]
    for number in range(40):
        for agent in ("one", "two", "three"):
            key = f"{agent}{number}"
            more = {"isSidechain": True, "agentId": agent}
            lines += [line("assistant", 2 * number, use(key, "Read"), **more),
                      line("user", 2 * number + 1, back(key), **more)]  # fmt: skip
    lines += [line("user", 2, back("task")), line("assistant", 3, "Done.")]
    steps = list(read_steps(written(tmp_path, lines)))
    made = [call for step in steps for call in step.tool_calls]
    assert len(made) == 121
    assert all(call.result == f"result {call.id}" for call in made)
    for agent in ("one", "two", "three"):
        own = [call.id for call in made if call.agent == agent]
        assert own == [f"{agent}{number}" for number in range(40)]


def test_a_file_of_several_traces_is_an_error_that_says_what_to_do(tmp_path: Path):
    one = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes"}]
    with pytest.raises(TraceError, match=r"several runs.*read_traces"):
        list(read_steps(written(tmp_path, [{"messages": one}] * 3)))


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(DatasetError, match=r"none\.jsonl"):
        list(read_steps(tmp_path / "none.jsonl"))


def test_a_named_format_is_the_one_that_reads(tmp_path: Path):
    path = written(tmp_path, [asks("1"), answers("1")])
    (step, _) = read_steps(path, "codex_rollout")
    assert [call.result for call in step.tool_calls] == ["result 1"]
    with pytest.raises(TraceError, match="no line is a message"):
        list(read_steps(path, "claude_code"))


def test_a_trajectory_has_its_own_steps():
    run = Trajectory([Step("user", "Hello")])
    assert list(read_steps(run)) == list(run.steps)
