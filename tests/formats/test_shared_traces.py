"""Real traces of the formats that exist: their calls, arguments and final responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import has_shared, needs_shared, shared_files
from trajgrade import read_traces
from trajgrade.formats import BUILTINS
from trajgrade.trajectory import Trajectory

pytestmark = needs_shared
if not has_shared():
    pytest.skip("needs the folder shared/ beside the project", allow_module_level=True)

FILES = [
    param
    for name in sorted(BUILTINS)
    for suffix in ("json", "jsonl", "txt")
    for param in shared_files(f"traces/{name}/*.{suffix}")
    if param.values[0] is not None
    and param.values[0].name != "crewai_exchanges.jsonl"  # a log of requests, not of messages
]


def parsed(path: Path) -> Any:
    text = path.read_text("utf-8")
    if path.suffix != ".jsonl":
        return json.loads(text) if path.suffix == ".json" else text
    return [json.loads(line) for line in text.splitlines() if line.strip()]


WAYS: dict[str, Callable[[Path], Any]] = {
    "path": Path,
    "bytes": Path.read_bytes,
    "data": parsed,
}


@pytest.mark.parametrize("named", [False, True], ids=["detected", "named"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", FILES)
def test_a_real_trace_tells_what_is_expected_of_it(path: Path, way: str, named: bool, shared: Path):
    expected: Any = json.loads((shared / "traces" / "expected.json").read_text("utf-8"))["files"]
    wanted = expected[f"{path.parent.name}/{path.name}"]
    found = list(read_traces(WAYS[way](path), wanted["format"] if named else None))
    assert {trajectory.format for trajectory in found} == {wanted["format"]}
    assert [told(trajectory) for trajectory in found] == [
        {
            "calls": one["calls"],
            "final": one["final"],
            "hosted": [
                name if isinstance(name, str) else name[0] for name in one.get("hosted", [])
            ],
            "actions": one.get("actions", []),
        }
        for one in wanted["trajectories"]
    ]


def told(trajectory: Trajectory) -> dict[str, Any]:
    final = trajectory.final_response
    return {
        "calls": [[call.name, call.args] for call in trajectory.tool_calls],
        "final": None if final is None else final[:60],
        "hosted": [call.name for call in trajectory.hosted_calls],
        "actions": list(trajectory.actions),
    }


def test_the_runs_of_tau_bench_reuse_ids_and_lose_no_call(shared: Path):
    runs = json.loads((shared / "data" / "tau_airline_gpt4o.json").read_text("utf-8"))
    for run in runs:
        asked = [call for message in run["traj"] for call in message.get("tool_calls") or ()]
        (trajectory,) = read_traces(run["traj"])
        assert [call.id for call in trajectory.tool_calls] == [call["id"] for call in asked]
        answers = [message["content"] for message in run["traj"] if message["role"] == "tool"]
        assert [call.result for call in trajectory.tool_calls] == answers
        assert trajectory.notes == ()
