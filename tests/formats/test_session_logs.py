"""What every session log and text format promises: no call is lost, and none without a word."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.formats.session_samples import CALL, ROWS
from tests.formats.test_contract import whole
from trajgrade import detection, read_traces
from trajgrade.errors import TraceError
from trajgrade.trajectory import Trajectory

LISTS = [row for row in ROWS if isinstance(row[2], list) and CALL in row[3] and len(row[2]) > 2]
LOGS = frozenset({
    "claude_code", "codex_rollout", "gemini_cli", "anthropic_managed_events", "mcp_jsonrpc",
    "openhands_events",
})  # fmt: skip
SESSIONS = [row for row in LISTS if row[0] in LOGS]
TEXTS = [row[2] for row in ROWS if isinstance(row[2], str)]
PIECES = ("", "\n", "Action:", "Action Input:", "Observation:", "Question:", "Thought 2:", "```",
          "<tool_call>", "</tool_call>", "<tool_response>", "<|im_start|>", "<|im_end|>", "{", "}",
          "[", "]", '"', "Finish[", "Final Answer:", "\ud800", "\x00")  # fmt: skip


def ids(rows: list[Any]) -> list[str]:
    return [f"{row[0]}-{row[1]}" for row in rows]


@pytest.mark.parametrize("row", SESSIONS, ids=ids(SESSIONS))
@pytest.mark.parametrize("odd", [None, 5, "text", 1.5, True])
def test_a_line_that_is_no_object_is_noted_and_loses_nothing(row: Any, odd: Any):
    name, _, data, calls, final = row
    for at in range(len(data) + 1):
        (trajectory,) = detection.read([*data[:at], odd, *data[at:]], name)
        assert [(call.name, call.args) for call in trajectory.tool_calls] == calls
        assert trajectory.final_response == final
        assert f"line {at}" in "".join(trajectory.notes)


@pytest.mark.parametrize("row", SESSIONS, ids=ids(SESSIONS))
def test_half_a_session_is_a_session_or_an_error(row: Any):
    name, _, data, calls, _ = row
    for end in range(len(data) + 1):
        with suppress(TraceError):
            (trajectory,) = detection.read(copy.deepcopy(data[:end]), name)
            whole(trajectory)
            assert [(call.name, call.args) for call in trajectory.tool_calls] in ([], calls)


@pytest.mark.parametrize("row", LISTS, ids=ids(LISTS))
def test_two_sessions_one_after_the_other_have_the_calls_of_both_but_for_copies(row: Any):
    name, _, data, calls, _ = row
    if name in LOGS and name not in ("codex_rollout", "mcp_jsonrpc"):
        return  # a line tells who it is: it would be a copy
    if "request" in str(data[0]) and name != "mcp_jsonrpc":
        return
    (trajectory,) = read_traces([*data, *data], name)
    assert len(trajectory.tool_calls) == 2 * len(calls)


@given(st.sampled_from(TEXTS), st.data())
def test_a_text_with_something_wrong_in_it_is_a_trajectory_or_a_trace_error(
    text: str, data: st.DataObject
):
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 12)))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[end:]
    for name in (None, "react_text", "hermes_chatml", "text"):
        with suppress(TraceError):
            for trajectory in detection.read(text, name):
                whole(trajectory)


@given(st.sampled_from(TEXTS), st.integers(0, 10_000))
def test_a_text_cut_off_anywhere_is_a_trajectory(text: str, end: int):
    assume(end <= len(text))
    with suppress(TraceError):
        trajectory = Trajectory.from_any(text[:end])
        assert len(trajectory.tool_calls) <= 1
        whole(trajectory)
