"""Graph trajectories of real LangGraph threads: runs, interrupts, subgraphs, time travel."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langgraph")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from tests.graph_threads import THREAD, Words, agent, asks, chain, fails, saved, says
from trajgrade.errors import TraceError
from trajgrade.graph_thread import aextract_langgraph_trajectory, extract_langgraph_trajectory
from trajgrade.trajectory import Trajectory

HI: Any = {"words": ["hi"]}


def steps(graph: Any, **options: Any) -> list[list[str]]:
    found = extract_langgraph_trajectory(graph, THREAD, **options)
    assert len(found["inputs"]) == len(found["results"]) == len(found["steps"])
    waited = asyncio.run(aextract_langgraph_trajectory(graph, THREAD, **options))
    assert waited == found
    return found["steps"]


def test_an_agent_s_thread_is_its_runs_oldest_first():
    graph = agent()
    for text in ("Any trains to Oslo?", "Thanks"):
        graph.invoke({"messages": [("user", text)]}, THREAD)
    assert steps(graph) == [["__start__", "agent", "tools", "agent"], ["__start__", "agent"]]
    found = extract_langgraph_trajectory(graph, THREAD)
    assert [one["messages"][-1]["content"] for one in found["results"]] == [
        "Yes, at 09:14.", "You are welcome.",
    ]  # fmt: skip
    assert "Any trains to Oslo?" in json.dumps(found["inputs"][0]["__start__"])
    assert steps(graph, last_run_only=True) == [["__start__", "agent"]]


def test_it_is_read_as_a_trajectory_with_a_turn_for_each_run():
    graph = agent()
    for text in ("Any trains to Oslo?", "Thanks"):
        graph.invoke({"messages": [{"role": "user", "content": text}]}, THREAD)
    run = Trajectory.from_any(extract_langgraph_trajectory(graph, THREAD))
    assert [[call.name for call in turn.tool_calls] for turn in run.turns] == [
        ["__start__", "agent", "tools", "agent"], ["__start__", "agent"],
    ]  # fmt: skip
    assert [turn.steps[0].content for turn in run.turns] == ["Any trains to Oslo?", "Thanks"]
    assert [turn.final_response for turn in run.turns] == ["Yes, at 09:14.", "You are welcome."]


def test_an_answer_to_an_interrupt_goes_on_with_the_interrupted_run():
    graph = saved(("first", says("a")), ("ask", asks), ("last", says("b")))
    graph.invoke(HI, THREAD)
    found = extract_langgraph_trajectory(graph, THREAD)
    assert steps(graph) == [["__start__", "first", "ask", "__interrupt__"]]
    assert found["results"] == [{"__interrupt__": ["go on?"]}]
    graph.invoke(Command(resume="yes"), THREAD)
    graph.invoke(HI, THREAD)
    whole = ["__start__", "first", "ask", "__interrupt__", "last"]
    assert steps(graph) == [whole, whole[:-1]]
    assert extract_langgraph_trajectory(graph, THREAD)["results"][0]["words"][-1] == "b"


def test_a_question_that_is_never_answered_ends_its_run_at_the_next_input():
    graph = saved(("ask", asks), ("last", says("b")))
    graph.invoke(HI, THREAD)
    graph.invoke(HI, THREAD)
    assert steps(graph) == [["__start__", "ask", "__interrupt__"]] * 2


def test_a_run_that_stops_before_a_node_has_not_gone_through_it():
    graph = saved(("a", says("a")), ("b", says("b")), interrupt_before=["b"])
    graph.invoke(HI, THREAD)
    assert steps(graph) == [["__start__", "a", "__interrupt__"]]
    graph.invoke(None, THREAD)
    assert steps(graph) == [["__start__", "a", "b"]]


def test_a_node_that_a_change_by_hand_stands_in_for_did_not_run():
    graph = saved(("a", says("a")), ("b", says("b")), ("c", says("c")), interrupt_before=["b"])
    graph.invoke(HI, THREAD)
    graph.update_state(THREAD, {"words": ["by hand"]}, as_node="b")
    graph.invoke(None, THREAD)
    assert steps(graph) == [["__start__", "a", "c"]]


def test_a_node_that_fails_was_begun():
    graph = saved(("a", says("a")), ("bad", fails))
    with pytest.raises(RuntimeError):
        graph.invoke(HI, THREAD)
    assert steps(graph) == [["__start__", "a", "bad"]]


def test_what_was_abandoned_by_going_back_is_not_part_of_the_thread():
    graph = saved(("a", says("a")), ("b", says("b")))
    graph.invoke(HI, THREAD)
    graph.invoke(HI, THREAD)
    early = [one for one in graph.get_state_history(THREAD) if one.next == ("a",)][-1]
    graph.invoke(None, early.config)
    assert steps(graph) == [["__start__", "a", "b"]]


def test_the_nodes_of_subgraphs_stand_after_them_under_their_name():
    inmost = chain(("x", says("x")))
    inner = chain(("one", says("1")), ("deep", inmost))
    graph = saved(("before", says("a")), ("inner", inner), ("after", says("b")))
    graph.invoke(HI, THREAD)
    assert steps(graph) == [[
        "__start__", "before", "inner", "inner:__start__", "inner:one", "inner:deep",
        "inner:deep:__start__", "inner:deep:x", "after",
    ]]  # fmt: skip
    run = Trajectory.from_any(extract_langgraph_trajectory(graph, THREAD))
    assert run.agents == ["inner", "inner:deep"]


def test_an_interrupt_inside_a_subgraph_is_told_once_and_where_it_is():
    inner = chain(("one", says("1")), ("ask", asks), ("two", says("2")))
    graph = saved(("inner", inner), ("after", says("b")))
    graph.invoke(HI, THREAD)
    begun = ["__start__", "inner", "inner:__start__", "inner:one", "inner:ask", "__interrupt__"]
    assert steps(graph) == [begun]
    graph.invoke(Command(resume="yes"), THREAD)
    assert steps(graph) == [[*begun, "inner:two", "after"]]


def test_a_subgraph_with_a_memory_of_its_own_tells_each_run_its_own_nodes():
    inner = chain(("one", says("1")), saver=True)
    graph = saved(("inner", inner))
    graph.invoke(HI, THREAD)
    graph.invoke(HI, THREAD)
    assert steps(graph) == [["__start__", "inner", "inner:__start__", "inner:one"]] * 2


def test_nodes_that_run_side_by_side_are_all_there():
    graph: Any = StateGraph(Words)
    for name in ("a", "b", "c"):
        graph.add_node(name, says(name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke(HI, THREAD)
    ((start, *rest),) = steps(graph)
    assert (start, sorted(rest)) == ("__start__", ["a", "b", "c"])


def test_a_thread_without_checkpoints_is_an_error():
    graph = saved(("a", says("a")))
    with pytest.raises(TraceError, match="no checkpoint"):
        extract_langgraph_trajectory(graph, THREAD)
    with pytest.raises(TraceError, match="no checkpoint"):
        asyncio.run(aextract_langgraph_trajectory(graph, THREAD))


@settings(max_examples=15)
@given(st.lists(st.booleans(), min_size=1, max_size=5))
def test_b205_any_inputs_and_answers_give_an_entry_for_each_input(inputs: list[bool]):
    graph = saved(("a", says("a")), ("ask", asks), ("b", says("b")))
    told: list[list[str]] = []
    waits = False
    for new in inputs:
        if waits and not new:
            graph.invoke(Command(resume="yes"), THREAD)
            told[-1].append("b")
            waits = False
        else:
            graph.invoke(HI, THREAD)
            told.append(["__start__", "a", "ask", "__interrupt__"])
            waits = True
    assert steps(graph) == told


# ------------------------------------------------------------------- other versions' snapshots


def snapshot(number: int, *names: str, result: Any = None, **more: Any) -> Any:
    tasks = tuple(SimpleNamespace(name=name, result=result) for name in names)
    config = {"configurable": {"checkpoint_id": str(number)}}
    parent = {"configurable": {"checkpoint_id": str(number - 1)}} if number else None
    return SimpleNamespace(
        config=config, parent_config=parent, values={"n": number}, tasks=tasks, **more
    )


@pytest.mark.parametrize("more", [{}, {"metadata": None}, {"metadata": {"step": 1}}])
def test_b203_snapshots_that_lack_what_some_versions_have_are_read(more: dict[str, Any]):
    history = [
        snapshot(2, **more), snapshot(1, "a", **more), snapshot(0, "__start__", **more),
    ]  # fmt: skip
    graph = SimpleNamespace(get_state_history=lambda _: iter(history))
    assert extract_langgraph_trajectory(graph, {}) == {
        "inputs": [{"__start__": None}], "results": [{"n": 2}], "steps": [["__start__", "a"]],
    }  # fmt: skip
