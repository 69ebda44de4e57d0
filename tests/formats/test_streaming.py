"""Without what tools gave back, a session log is read line by line, in little memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.formats import write_claude, write_codex, write_gemini
from tests.conftest import shared_files
from tests.formats.samples import SAMPLES, Sample
from trajgrade import detection, read_traces
from trajgrade.errors import TraceError
from trajgrade.trajectory import ToolCall, Trajectory


def told(calls: tuple[ToolCall, ...]) -> list[Any]:
    """All of the calls but their results."""
    return [
        (call.name, call.args, call.id, call.status, call.hosted, call.agent, call.turn,
         told(call.children), call.started_at, call.ended_at)
        for call in calls
    ]  # fmt: skip


def assert_without_results(bare: Trajectory, run: Trajectory) -> None:
    assert told(bare.tool_calls) == told(run.tool_calls)
    assert told(bare.hosted_calls) == told(run.hosted_calls)
    assert [call.result for call in bare.tool_calls] == [None] * len(run.tool_calls)
    spoken = [[step.content for step in one.steps if step.role != "tool"] for one in (bare, run)]
    assert spoken[0] == spoken[1]
    assert not any(step.content for step in bare.steps if step.role == "tool")
    assert (bare.final_response, bare.id, bare.format) == (run.final_response, run.id, run.format)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_sample_is_read_without_results(sample: Sample):
    for bare, run in zip(
        read_traces(sample.data, results=False), read_traces(sample.data), strict=True
    ):
        assert_without_results(bare, run)
        assert bare.telemetry == run.telemetry


@pytest.mark.parametrize(
    "path", [*shared_files("traces/c*/*.jsonl"), *shared_files("traces/gemini_cli/*.jsonl")]
)
def test_a_log_read_line_by_line_has_the_same_calls(path: Path):
    for bare, run in zip(read_traces(path, results=False), read_traces(path), strict=True):
        assert_without_results(bare, run)


@pytest.mark.parametrize("write", [write_codex, write_claude, write_gemini])
def test_a_long_log_is_not_held_in_memory(write: Callable[..., int], tmp_path: Path):
    path = tmp_path / "log.jsonl"
    calls = write(path, 6e6)
    list(read_traces(path, results=False))  # what is imported and cached is no part of it
    tracemalloc.start()
    (run,) = read_traces(path, results=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(run.tool_calls) == calls
    assert peak < 2.5e6


def test_it_is_the_lines_that_are_read_and_not_a_list_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "log.jsonl"
    write_codex(path, 3e6)
    seen: list[Any] = []
    real = detection.stream

    def watched(*given: Any) -> Any:
        found = real(*given)
        seen.append(found)
        return found

    monkeypatch.setattr(detection, "stream", watched)
    (run,) = read_traces(path, results=False)
    assert seen == [[run]]


def test_a_line_that_is_broken_is_told_with_its_number(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    write_codex(path, 3e6)
    with path.open("a") as stream:
        stream.write("{broken\n")
    number = len(path.read_text().splitlines())
    with pytest.raises(TraceError, match=f"line {number} is not JSON"):
        list(read_traces(path, results=False))


def test_a_log_of_another_format_is_read_whole(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    (sample,) = [one for one in SAMPLES if str(one) == "mcp_jsonrpc-bare"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in sample.data))
    for bare, run in zip(read_traces(path, results=False), read_traces(path), strict=True):
        assert_without_results(bare, run)
