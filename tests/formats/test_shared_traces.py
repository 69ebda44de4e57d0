"""Real traces of the formats that exist: their calls, arguments and final responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import has_shared, needs_shared, shared_files
from trajgrade import read_traces
from trajgrade.detection import claimants
from trajgrade.formats import BUILTINS
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

pytestmark = needs_shared
if not has_shared():
    pytest.skip("needs the folder shared/ beside the project", allow_module_level=True)

FILES = [
    param
    for suffix in ("json", "jsonl", "txt")
    for param in shared_files(f"traces/*/*.{suffix}")
    if param.values[0] is not None
]

# Calls with a result, with an id, that failed, that were not run; in the whole file.
RECORDED = {
    "anthropic_managed_events/anthropic_managed_builtin_tools.jsonl": (1, 1, 0, 0),
    "anthropic_managed_events/anthropic_managed_custom_tools.jsonl": (1, 1, 0, 0),
    "bedrock_converse/crewai_parallel_3.json": (3, 3, 0, 0),
    "claude_code/claude_code_log_representative_messages.jsonl": (2, 2, 0, 0),
    "claude_code/vibecoding_50.jsonl": (19, 19, 0, 1),
    "codex_rollout/vibecoding.jsonl": (19, 19, 0, 1),
    "cohere_chat/openllmetry_v2.json": (2, 2, 0, 0),
    "crewai_react/step_callback.json": (4, 0, 0, 0),
    "gemini_cli/vibecoding.jsonl": (12, 12, 0, 0),
    "hermes_chatml/hermes_template_render.txt": (2, 0, 0, 0),
    "langchain_agent_executor/intermediate_steps_dumps.json": (3, 0, 0, 0),
    "langgraph_state/deepeval_langgraph_parallel_weather.json": (3, 3, 0, 0),
    "mcp_jsonrpc/test_mcptoolset_in_temporal_workflow.jsonl": (1, 1, 0, 0),
    "mistral_chat/pydantic_auto.jsonl": (1, 1, 0, 0),
    "openai_chat/crewai_exchanges.jsonl": (5, 5, 0, 0),
    "openhands_events/basic_gui_mode.json": (4, 4, 0, 0),
    "openhands_events/wrong_initial_state.json": (3, 4, 0, 0),
    "react_text/fever_webthink_simple3.txt": (5, 0, 0, 0),
    "sharegpt/glaive_toolcall_8.json": (12, 0, 0, 0),
    "swe_agent_traj/function_calling_simple.traj.json": (5, 5, 0, 0),
    "toolbench/11_ChatGPT_DFS_woFilter_w2.json": (3, 0, 0, 0),
}


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


@pytest.mark.parametrize("path", FILES)
def test_a_real_trace_is_recognised_by_its_own_format_only(path: Path):
    data = parsed(path)
    rows = path.parent.name in ("sharegpt", "bfcl", "tau_bench", "vertex_trajectory")
    for one in data if rows and isinstance(data, list) else [data]:
        assert list(claimants(Glimpse(one))) == [path.parent.name]
    assert path.parent.name in BUILTINS


@pytest.mark.parametrize("name", RECORDED)
def test_what_a_real_trace_records_of_its_calls(name: str, shared: Path):
    calls = [call for run in read_traces(shared / "traces" / name) for call in run.tool_calls]
    assert (
        sum(call.result is not None for call in calls),
        sum(call.id is not None for call in calls),
        sum(call.status == "error" for call in calls),
        sum(call.status == "not_run" for call in calls),
    ) == RECORDED[name]


def test_the_runs_of_tau_bench_reuse_ids_and_lose_no_call(shared: Path):
    runs = json.loads((shared / "data" / "tau_airline_gpt4o.json").read_text("utf-8"))
    for run in runs:
        asked = [call for message in run["traj"] for call in message.get("tool_calls") or ()]
        (trajectory,) = read_traces(run["traj"])
        assert [call.id for call in trajectory.tool_calls] == [call["id"] for call in asked]
        answers = [message["content"] for message in run["traj"] if message["role"] == "tool"]
        assert [call.result for call in trajectory.tool_calls] == answers
        assert trajectory.notes == ()
