"""What a trajectory is converted to, is read as the same calls; what cannot be is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import has_shared, shared_files
from tests.formats.samples import SAMPLES, Sample
from tests.matching.strategies import ARGS
from trajgrade import read_traces
from trajgrade.conversion import TARGETS, convert, placed
from trajgrade.detection import claimants
from trajgrade.errors import ConfigError, TraceError
from trajgrade.glimpse import Glimpse
from trajgrade.matching.values import same
from trajgrade.trajectory import Step, ToolCall, Trajectory

every_target = pytest.mark.parametrize("to", TARGETS)
FORMATS = {"own": "trajgrade", "openai": "openai_chat", "potato": "potato_conversation"}


def reread(run: Trajectory, to: str) -> Trajectory:
    return Trajectory.from_any(json.loads(json.dumps(convert(run, to).record)))


def assert_same_calls(found: Trajectory, run: Trajectory) -> None:
    assert [call.name for call in found.tool_calls] == [call.name for call in run.tool_calls]
    for ours, theirs in zip(found.tool_calls, run.tool_calls, strict=True):
        assert ours.args_state == theirs.args_state
        if theirs.args_state != "unknown":
            assert same(ours.args or {}, theirs.args or {}) or same(ours.args, theirs.args)


@every_target
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_sample_of_any_format_is_converted_without_losing_a_call(sample: Sample, to: str):
    run = Trajectory.from_any(sample.data)
    unknown = any(call.args_state == "unknown" for call in run.tool_calls)
    if unknown and to == "openai":
        with pytest.raises(TraceError, match="were not recorded"):
            convert(run, to)
        return
    found = reread(run, to)
    assert_same_calls(found, run)
    results = [None if call.result is None else str(call.result) for call in run.tool_calls]
    if all(isinstance(call.result, str | None) for call in run.tool_calls):
        assert [call.result for call in found.tool_calls] == results
    if run.tool_calls and to != "own":
        assert list(claimants(Glimpse(convert(run, to).record))) == [FORMATS[to]]


FILES = shared_files("traces/*/*.*") if has_shared() else []


@pytest.mark.parametrize("path", FILES)
def test_a_real_trace_is_converted_without_losing_a_call(path: Any):
    for run in read_traces(path):
        for to in TARGETS:
            unknown = any(call.args_state == "unknown" for call in run.tool_calls)
            if not (unknown and to == "openai"):
                assert_same_calls(reread(run, to), run)


states = st.sampled_from(["ok", "ok", "ok", "text", "unparseable", "unknown"])


@st.composite
def calls(draw: Any) -> ToolCall:
    state = draw(states)
    args: Any = draw(st.sampled_from(ARGS))
    if state in ("text", "unparseable"):
        args = draw(st.sampled_from(["{", "two words", "[1,", "é\ud800"]))
    elif isinstance(args, str):
        args = {"text": args}
    return ToolCall(
        draw(st.sampled_from(["f", "g.h", "été"])), None if state == "unknown" else args, state,
        draw(st.sampled_from([None, "1", "1", "call_0"])),
        result=draw(st.sampled_from([None, None, "done", "", {"a": 1}, [1.5]])),
        hosted=draw(st.sampled_from([False] * 5 + [True])),
        turn=draw(st.sampled_from([None, 0, 0, 1, 2])),
    )  # fmt: skip


@st.composite
def trajectories(draw: Any) -> Trajectory:
    steps = []
    for role in draw(
        st.lists(st.sampled_from(["user", "assistant", "assistant", "tool", "system"]), max_size=6)
    ):
        made = draw(st.lists(calls(), max_size=3)) if role == "assistant" else []
        steps.append(Step(role, draw(st.sampled_from(["", "said", "f({})"])), made))
    loose = draw(st.lists(calls(), max_size=3)) if draw(st.booleans()) else []
    apart = [call for call in loose if not call.hosted] if loose else None
    return Trajectory(steps, tool_calls=apart, id=draw(st.sampled_from([None, "r1"])))


@every_target
@given(run=trajectories())
def test_any_trajectory_is_converted_to_the_same_calls_or_refused(run: Trajectory, to: str):
    try:
        converted = convert(run, to)
    except TraceError:
        assert to == "openai"
        assert any(call.args_state == "unknown" for call in run.tool_calls) or not run.steps
        return
    assert converted.left_out.get("hosted calls", 0) in (0, len(run.hosted_calls))
    if to == "own":
        assert converted.left_out == {}


@given(trajectories())
def test_every_call_is_placed_in_a_step_once_and_in_order(run: Trajectory):
    steps = placed(run)
    within = [call for step in steps for call in step.tool_calls if not call.hosted]
    assert list(map(id, within)) == list(map(id, run.tool_calls))
    words = [step.content for step in steps if step.content]
    assert words == [step.content for step in run.steps if step.content]


def test_calls_outside_every_message_stand_in_their_turn_and_before_its_answer():
    steps = [Step("user", "a"), Step("assistant", "x"), Step("user", "b"), Step("assistant", "y")]
    spans = [ToolCall("f", turn=0), ToolCall("g", turn=1)]
    found = placed(Trajectory(steps, tool_calls=spans))
    assert [step.content or step.tool_calls[0].name for step in found] == [*"afxbgy"]
    late = placed(Trajectory(steps, tool_calls=[ToolCall("f")]))
    assert [step.content or step.tool_calls[0].name for step in late] == [*"axbfy"]


def test_openai_s_messages_pair_each_call_with_its_result_by_an_id_that_no_other_call_has():
    run = Trajectory([Step("assistant", "", [
        ToolCall("f", {"a": 1}, result="x"), ToolCall("g", result={"b": 2}, id="call_0"),
    ])])  # fmt: skip
    first, *answers = convert(run, "openai").record["messages"]
    assert [call["id"] for call in first["tool_calls"]] == ["call_1", "call_0"]
    assert [(one["tool_call_id"], one["content"]) for one in answers] == [
        ("call_1", "x"), ("call_0", '{"b": 2}'),
    ]  # fmt: skip


def test_what_a_shape_has_no_place_for_is_counted():
    run = Trajectory(
        [Step("tool", "stray"), Step("assistant", "", [
            ToolCall("f", status="error", agent="x", children=(ToolCall("g"),)),
            ToolCall("search", hosted=True),
        ])],
        actions=["ls"],
    )  # fmt: skip
    assert convert(run, "own").left_out == {}
    assert convert(run, "potato").left_out == {
        "hosted calls": 1, "calls with others inside": 1, "text actions": 1,
    }  # fmt: skip
    assert convert(run, "openai").left_out == {
        "hosted calls": 1, "calls with others inside": 1, "text actions": 1,
        "failures of calls": 1, "agents of calls": 1, "results that belong to no call": 1,
    }  # fmt: skip


def test_an_unknown_shape_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'openai'"):
        convert(Trajectory(), "open_ai")
