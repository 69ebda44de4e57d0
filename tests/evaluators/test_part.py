"""One turn or one agent: each evaluator of calls grades the part as it grades a whole run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.test_contract import MINIMAL
from tests.test_parts import runs
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators import build_evaluator, get_supported_evaluators
from trajgrade.evaluators.part import OfPart
from trajgrade.evaluators.spelling import grader
from trajgrade.trajectory import Step, ToolCall, Trajectory


def built(name: str, **more: Any) -> Any:
    flat = {"turns": False} if name == "graph_trajectory_match" else {}
    return build_evaluator(name, {**MINIMAL.get(name, {}), **flat, **more})


def of_calls(name: str) -> bool:
    try:
        return isinstance(built(name), OfPart)
    except ImportError:
        return False


NAMES = [name for name in get_supported_evaluators() if of_calls(name)]
every = pytest.mark.parametrize("name", NAMES)

PLAN = [{"name": "f", "args": {}}, {"name": "g", "args": {}}]
RUN = Trajectory([
    Step("user", "a"), Step("assistant", "", [ToolCall("f", agent="planner"), ToolCall("g")]),
    Step("user", "b"), Step("assistant", "", [
        ToolCall("h", agent="planner", children=(ToolCall("f", agent="searcher"),)),
    ]),
])  # fmt: skip


def test_every_evaluator_that_reads_trajectories_can_be_asked_for_a_part():
    assert "trajectory_match" in NAMES
    assert "tool_use" in NAMES
    readers = [name for name in get_supported_evaluators() if name.startswith("trajectory_")]
    assert set(readers) <= set(NAMES)


@every
@settings(max_examples=25)
@given(run=runs(), at=st.integers(-3, 3))
def test_a_turn_is_graded_as_if_it_were_the_run(name: str, run: Trajectory, at: int):
    turns = run.turns
    evaluator = built(name, turn=at)
    if not -len(turns) <= at < len(turns):
        with pytest.raises(TraceError, match=f"turn {at}: the trace has {len(turns)} turns"):
            evaluator.evaluate(outputs=run, reference_outputs=PLAN)
        return
    found = evaluator.evaluate(outputs=run, reference_outputs=PLAN)
    assert found == built(name).evaluate(outputs=turns[at], reference_outputs=PLAN)
    grouped = {"turns": [PLAN if turn is turns[at] else [] for turn in turns]}
    if "reference_tools" in found.metadata:
        assert found == evaluator.evaluate(outputs=run, reference_outputs=grouped)


@every
@settings(max_examples=25)
@given(run=runs(), agent=st.sampled_from(["planner", "searcher"]))
def test_an_agent_is_graded_as_if_its_calls_were_the_run(name: str, run: Trajectory, agent: str):
    evaluator = built(name, agent=agent)
    if not run.agents and (run.tool_calls or run.hosted_calls):
        with pytest.raises(TraceError, match="which agent"):
            evaluator.evaluate(outputs=run, reference_outputs=PLAN)
        return
    found = evaluator.evaluate(outputs=run, reference_outputs=PLAN)
    assert found == built(name).evaluate(outputs=run.of_agent(agent), reference_outputs=PLAN)


def test_a_reference_that_names_agents_is_narrowed_to_the_agent_and_others_are_not():
    strict = built("trajectory_match", agent="planner")
    mine = [{"name": "f", "args": {}}, {"name": "h", "args": {}}]
    assert strict.evaluate(outputs=RUN, reference_outputs=mine).score == 1.0
    assert strict.evaluate(outputs=RUN, reference_outputs=RUN).score == 1.0
    sub = built("trajectory_match", agent="searcher")
    assert sub.evaluate(outputs=RUN, reference_outputs=[PLAN[0]]).score == 1.0
    grouped: Any = {"turns": [[PLAN[0]], [mine[1]]]}
    assert strict.evaluate(outputs=RUN, reference_outputs=grouped).score == 1.0


def test_a_turn_of_an_agent_is_both():
    one = built("trajectory_match", turn=1, agent="planner")
    assert one.evaluate(outputs=RUN, reference_outputs=[{"name": "h", "args": {}}]).score == 1.0
    two = built("trajectory_match", turn=-1, agent="planner", depth="leaves")
    assert two.evaluate(outputs=RUN, reference_outputs=[PLAN[0]]).score == 1.0


def test_messages_as_reference_are_cut_only_where_that_is_asked_for():
    whole = built("trajectory_match", turn=0)
    cut = built("trajectory_match", turn=0, turns=True)
    assert whole.evaluate(outputs=RUN, reference_outputs=RUN).score == 0.0
    assert cut.evaluate(outputs=RUN, reference_outputs=RUN).score == 1.0


def test_a_reference_without_the_turn_says_so():
    with pytest.raises(TraceError, match="turn 1: the reference has 1 turns"):
        built("trajectory_match", turn=1).evaluate(outputs=RUN, reference_outputs={"turns": [PLAN]})


def test_the_alignment_is_that_of_the_part():
    (found,) = built("trajectory_match", turn=0).alignment(outputs=RUN, reference_outputs=PLAN)
    assert (len(found.matched), found.missing, found.extra) == (2, (), ())


@every
@pytest.mark.parametrize("wrong", [{"turn": "1"}, {"turn": True}, {"agent": ""}, {"agent": 3}])
def test_what_is_no_turn_and_no_agent_is_refused(name: str, wrong: dict[str, Any]):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        built(name, **wrong)


def test_a_part_is_written_in_a_config_like_any_parameter():
    made, _ = grader({"trajectory_match": {"turn": 1, "agent": "planner", "mode": "subset"}})
    assert made == built("trajectory_match", turn=1, agent="planner", mode="subset")
