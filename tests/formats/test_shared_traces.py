"""Real traces of the formats that exist: their calls, arguments and final responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import has_shared, needs_shared, shared_files
from trajgrade import read_traces
from trajgrade.formats import BUILTINS

pytestmark = needs_shared
if not has_shared():
    pytest.skip("needs the folder shared/ beside the project", allow_module_level=True)

FILES = [
    param
    for name in sorted(BUILTINS)
    for suffix in ("json", "jsonl")
    for param in shared_files(f"traces/{name}/*.{suffix}")
    if param.values[0] is not None
    and param.values[0].name != "crewai_exchanges.jsonl"  # a log of requests, not of messages
]


@pytest.mark.parametrize("path", FILES)
def test_a_real_trace_tells_what_is_expected_of_it(path: Path, shared: Path):
    expected: Any = json.loads((shared / "traces" / "expected.json").read_text("utf-8"))["files"]
    wanted = expected[f"{path.parent.name}/{path.name}"]
    found = list(read_traces(path))
    assert {trajectory.format for trajectory in found} == {wanted["format"]}
    assert [[[call.name, call.args] for call in trajectory.tool_calls] for trajectory in found] == [
        trajectory["calls"] for trajectory in wanted["trajectories"]
    ]
    assert [
        None if trajectory.final_response is None else trajectory.final_response[:60]
        for trajectory in found
    ] == [trajectory["final"] for trajectory in wanted["trajectories"]]
    for trajectory, told in zip(found, wanted["trajectories"], strict=True):
        hosted = [call.name for call in trajectory.hosted_calls]
        names = [name if isinstance(name, str) else name[0] for name in told.get("hosted", [])]
        assert hosted == names


def test_the_runs_of_tau_bench_reuse_ids_and_lose_no_call(shared: Path):
    runs = json.loads((shared / "data" / "tau_airline_gpt4o.json").read_text("utf-8"))
    for run in runs:
        asked = [call for message in run["traj"] for call in message.get("tool_calls") or ()]
        (trajectory,) = read_traces(run["traj"])
        assert [call.id for call in trajectory.tool_calls] == [call["id"] for call in asked]
        answers = [message["content"] for message in run["traj"] if message["role"] == "tool"]
        assert [call.result for call in trajectory.tool_calls] == answers
        assert trajectory.notes == ()
