"""A run cut into its turns, and into what each agent did: no call is lost, none counted twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import TraceError
from trajgrade.trajectory import Step, ToolCall, Trajectory

roles = st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"])
agents = st.sampled_from([None, "planner", "searcher"])
leaf = st.builds(lambda name, agent: ToolCall(name, agent=agent), st.sampled_from("fg"), agents)
calls = st.builds(
    lambda name, agent, children, hosted: ToolCall(
        name, agent=agent, children=tuple(children), hosted=hosted
    ),
    st.sampled_from("fg"),
    agents,
    st.lists(leaf, max_size=2),
    st.booleans(),
)


@st.composite
def runs(draw: Any) -> Trajectory:
    steps = []
    for role in ["user", *draw(st.lists(roles, max_size=8))]:
        made = draw(st.lists(calls, max_size=2)) if role == "assistant" else []
        steps.append(Step(role, draw(st.sampled_from(["", "said"])), made))
    return Trajectory(steps, id="r", notes=["odd"])


def every(calls: Any) -> list[ToolCall]:
    return [one for call in calls for one in (call, *every(call.children))]


@given(runs())
def test_the_turns_together_are_the_run(run: Trajectory):
    parts = run.turns
    assert [step for part in parts for step in part.steps] == list(run.steps)
    assert [call for part in parts for call in part.tool_calls] == list(run.tool_calls)
    assert [call for part in parts for call in part.hosted_calls] == list(run.hosted_calls)
    users = "".join("u" if step.role == "user" else " " for step in run.steps).split()
    assert len(parts) == len(users)
    assert all(part.steps[0].role == "user" for part in parts)
    assert (parts[-1].id, parts[-1].notes) == (run.id, run.notes)


@given(runs())
def test_every_call_of_an_agent_is_in_its_part_and_no_other_agent_s_is_outermost(run: Trajectory):
    held = every([*run.tool_calls, *run.hosted_calls])
    assert set(run.agents) == {call.agent for call in held} - {None}
    for name in run.agents:
        part = run.of_agent(name)
        outermost = [*part.tool_calls, *part.hosted_calls]
        assert {call.agent for call in outermost} == {name}
        mine = [id(call) for call in held if call.agent == name]
        assert sorted(mine) == sorted(id(c) for c in every(outermost) if c.agent == name)


def test_what_comes_before_the_first_user_message_is_in_the_first_turn():
    run = Trajectory([Step("system", "be brief"), Step("user", "a"), Step("user", "b")])
    assert [len(part.steps) for part in run.turns] == [3]


def test_each_turn_has_its_own_answer_and_the_last_the_one_that_the_trace_names():
    steps = [Step("user", "a"), Step("assistant", "one"), Step("user", "b"), Step("tool", "x")]
    assert [part.final_response for part in Trajectory(steps).turns] == ["one", None]
    named = Trajectory(steps, final_response="from an output tool")
    assert [part.final_response for part in named.turns] == ["one", "from an output tool"]


def test_calls_outside_every_message_go_to_the_turn_that_they_name():
    steps = [Step("user", "a"), Step("user", "b"), Step("assistant", "x"), Step("user", "c")]
    spans = [ToolCall("f", turn=1), ToolCall("g", turn=2)]
    parts = Trajectory(
        steps, tool_calls=spans, hosted_calls=[ToolCall("h", hosted=True, turn=0)]
    ).turns
    assert [[call.name for call in part.tool_calls] for part in parts] == [["f"], ["g"]]
    assert [[call.name for call in part.hosted_calls] for part in parts] == [["h"], []]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (Trajectory([Step("assistant", "", [ToolCall("f")])]), "before the first user turn"),
        (Trajectory([Step("assistant", "hello")]), "no user turn"),
        (Trajectory([Step("user", "a")], tool_calls=[ToolCall("f")]), "which turn it follows"),
        (Trajectory([Step("user", "a")], tool_calls=[ToolCall("f", turn=1)]), "which turn"),
    ],
)
def test_a_run_that_cannot_be_cut_says_why(run: Trajectory, why: str):
    with pytest.raises(TraceError, match=why):
        _ = run.turns


def test_an_agent_without_calls_has_none_and_says_which_there_are():
    run = Trajectory([Step("assistant", "", [ToolCall("f", agent="planner")])])
    part = run.of_agent("planer")
    assert part.tool_calls == ()
    assert "planner" in part.notes[-1]
    assert Trajectory([Step("user", "a")]).of_agent("planner").tool_calls == ()
    with pytest.raises(TraceError, match="which agent"):
        Trajectory([Step("assistant", "", [ToolCall("f")])]).of_agent("planner")
