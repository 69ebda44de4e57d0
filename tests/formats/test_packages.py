"""Formats that packages write: the real package is run with a scripted model, and read back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.formats.package_samples import EVENTS, STREAM, UI
from trajgrade import detection
from trajgrade.errors import MalformedTraceError
from trajgrade.telemetry import Usage
from trajgrade.trajectory import Trajectory

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."


def story(run: Trajectory) -> list[Any]:
    return [(call.name, call.args, call.result) for call in run.tool_calls]


def pydantic_ai_run(**options: Any) -> Any:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("trains", {"to": "Oslo"}, "c1")])
        if info.output_tools:
            return ModelResponse(
                [ToolCallPart(info.output_tools[0].name, {"response": {"at": "09:14"}}, "c2")]
            )
        return ModelResponse([TextPart(ANSWER)])

    agent = Agent(FunctionModel(model), system_prompt="Be brief.", **options)

    @agent.tool_plain
    def trains(to: str) -> str:
        return f"09:14 to {to}"

    return asyncio.run(agent.run(QUESTION))  # run_sync leaves its loop open


def test_what_pydantic_ai_writes_is_read():
    result = pydantic_ai_run()
    for data in (result.all_messages(), json.loads(result.all_messages_json())):
        run = Trajectory.from_any(data)
        assert run.format == "pydantic_ai_messages"
        assert story(run) == [("trains", {"to": "Oslo"}, "09:14 to Oslo")]
        assert run.final_response == ANSWER
        assert run.tool_calls[0].status == "ok"
        assert run.usage is not None
        assert run.usage.requests == 2
        assert run.started_at is not None


def test_a_run_of_pydantic_ai_that_ends_on_an_output_tool_has_no_call_of_it():
    run = Trajectory.from_any(pydantic_ai_run(output_type=dict[str, str]).all_messages())
    assert [call.name for call in run.tool_calls] == ["trains"]
    assert "09:14" in str(run.final_response)
    assert any("final_result" in note for note in run.notes)


def thread() -> tuple[list[Any], Any]:
    """The history of a thread of LangGraph's with two runs, newest first; and its state."""
    pytest.importorskip("langgraph", reason="langgraph is not installed")
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    asked = {"name": "trains", "args": {"to": "Oslo"}, "id": "c1"}
    script: Iterator[Any] = iter([AIMessage("", tool_calls=[asked]), AIMessage(ANSWER)])

    def agent(state: Any) -> dict[str, Any]:
        return {"messages": [next(script)]}

    def tools(state: Any) -> dict[str, Any]:
        return {"messages": [ToolMessage("09:14", tool_call_id="c1")]}

    def after(state: Any) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", after, ["tools", END])
    graph.add_edge("tools", "agent")
    compiled: Any = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    compiled.invoke({"messages": [("user", QUESTION)]}, config)
    return list(compiled.get_state_history(config)), compiled.get_state(config)


def test_the_history_and_the_state_of_a_langgraph_thread_are_one_run():
    history, state = thread()
    for data in (history, history[::-1], state):
        run = Trajectory.from_any(data)
        assert run.format == "langgraph_state"
        assert story(run) == [("trains", {"to": "Oslo"}, "09:14")]
        assert run.final_response == ANSWER


def test_what_langchain_writes_of_messages_is_read():
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.messages import messages_to_dict

    _, state = thread()
    run = Trajectory.from_any(messages_to_dict(state.values["messages"]))
    assert run.format == "langchain_messages"
    assert story(run) == [("trains", {"to": "Oslo"}, "09:14")]


def test_a_stream_tells_its_tokens_once_and_ends_where_it_was_cut():
    assert Trajectory.from_any(STREAM).usage == Usage(9, 5, 14, None, None, 1)
    assert Trajectory.from_any(EVENTS).usage == Usage(9, 5, 14, None, None, 1)
    cut = Trajectory.from_any(STREAM[:3])
    assert [call.args_state for call in cut.tool_calls] == ["unparseable"]
    with pytest.raises(MalformedTraceError, match="line 3"):
        Trajectory.from_any(EVENTS[:200] + "\n")


def test_parallel_calls_of_a_stream_are_told_apart_by_their_index():
    def piece(index: int, **function: str) -> dict[str, Any]:
        delta = {"tool_calls": [{"index": index, "id": f"c{index}", "function": function}]}
        return {"choices": [{"index": 0, "delta": delta}]}

    run = Trajectory.from_any(
        [
            piece(0, name="a"),
            piece(1, name="b", arguments="{"),
            piece(0, arguments='{"x": 1}'),
            piece(1, arguments="}"),
        ]
    )
    assert [(c.name, c.args, c.id) for c in run.tool_calls] == [
        ("a", {"x": 1}, "c0"),
        ("b", {}, "c1"),
    ]


def test_several_choices_of_a_stream_are_several_runs():
    chunks = [
        {"choices": [{"index": at, "delta": {"content": text}}]}
        for at, text in ((0, "a"), (1, "b"), (0, "c"))
    ]
    assert [run.final_response for run in detection.read(chunks)] == ["ac", "b"]


@pytest.mark.parametrize(
    ("state", "status"),
    [("output-error", "error"), ("output-denied", "not_run"), ("output-available", "ok")],
)
def test_the_state_of_a_part_is_that_of_its_call(state: str, status: str):
    part = {"type": "tool-trains", "toolCallId": "c1", "state": state, "input": {}}
    run = Trajectory.from_any([UI[0], {"role": "assistant", "parts": [part]}])
    assert [call.status for call in run.tool_calls] == [status]


def test_a_part_without_input_has_unknown_arguments():
    part = {"type": "tool-trains", "toolCallId": "c1", "state": "output-available"}
    run = Trajectory.from_any([UI[0], {"role": "assistant", "parts": [part]}])
    assert [(call.args, call.args_state) for call in run.tool_calls] == [(None, "unknown")]


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("smolagents", "smolagents_tools"),
        ("smolagents", "smolagents_code"),
        ("mlflow", "mlflow_trace"),
        ("strands", "strands_messages"),
        ("llama_index", "llama_index_messages"),
        ("llama_index", "llama_index_older"),
    ],
)
def test_what_a_package_writes_is_still_read_as_its_sample_is(package: str, name: str):
    pytest.importorskip(package, reason=f"{package} is not installed: see origins/make.py")
    from tests.formats.origins import make

    made = Trajectory.from_any(make.MADE[name]())
    kept = Trajectory.from_any(json.loads((make.HERE / f"{name}.json").read_text()))
    assert story(made) == story(kept)
    assert made.final_response == kept.final_response


@pytest.mark.parametrize(
    ("name", "requests"), [("smolagents_tools", 2), ("mlflow_trace", 2), ("strands_messages", 2)]
)
def test_the_samples_of_packages_tell_their_tokens(name: str, requests: int):
    path = Path(__file__).with_name("origins") / f"{name}.json"
    usage = Trajectory.from_any(json.loads(path.read_text())).usage
    assert usage == Usage(18, 10, 28, None, None, requests)


def llama(*messages: dict[str, Any]) -> Trajectory:
    """Messages of LlamaIndex, behind a question."""
    asked = {"role": "user", "blocks": [{"block_type": "text", "text": QUESTION}]}
    return Trajectory.from_any([asked, *messages])


def test_a_call_of_llama_index_that_is_told_twice_counts_once():
    block = {
        "block_type": "tool_call", "tool_call_id": "c1", "tool_name": "trains",
        "tool_kwargs": {"to": "Oslo"},
    }  # fmt: skip
    function = {"name": "trains", "arguments": '{"to": "Oslo"}'}
    other = {"name": "buses", "arguments": "{}"}
    kept = {"tool_calls": [{"id": "c1", "function": function}, {"id": "c2", "function": other}]}
    run = llama({"role": "assistant", "blocks": [block], "additional_kwargs": kept})
    assert [(call.name, call.args, call.id) for call in run.tool_calls] == [
        ("trains", {"to": "Oslo"}, "c1"),
        ("buses", {}, "c2"),
    ]


def test_arguments_of_llama_index_that_are_text_or_absent_are_told_apart():
    blocks = [
        {"block_type": "tool_call", "tool_name": "a", "tool_kwargs": '{"x": 1}'},
        {"block_type": "tool_call", "tool_name": "b", "tool_kwargs": None},
        {"block_type": "tool_call", "tool_name": "c", "tool_kwargs": {}},
    ]
    run = llama({"role": "assistant", "blocks": blocks})
    assert [(call.args, call.args_state) for call in run.tool_calls] == [
        ({"x": 1}, "ok"), (None, "unknown"), ({}, "ok"),
    ]  # fmt: skip


def test_a_block_of_llama_index_that_may_be_a_call_is_noted():
    run = llama({"role": "assistant", "blocks": [{"block_type": "tool_use", "name": "a"}]})
    assert any("of no known kind" in note for note in run.notes)


def test_the_calls_of_a_failed_step_of_smolagents_failed():
    call = {"id": "c1", "function": {"name": "trains", "arguments": {}}}
    step = {
        "step_number": 1,
        "model_output": "",
        "tool_calls": [call],
        "observations": None,
        "error": {"type": "AgentToolExecutionError", "message": "no such city"},
    }
    run = Trajectory.from_any([{"task": QUESTION}, step])
    assert [(c.status, c.result) for c in run.tool_calls] == [("error", "no such city")]


def test_a_run_tree_of_langsmith_is_read():
    pytest.importorskip("langsmith", reason="langsmith is not installed")
    from langsmith.run_trees import RunTree

    kind: Any = RunTree
    root = kind(name="guide", run_type="chain", inputs={"input": QUESTION}, client=object())
    usage = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}
    function = {"name": "trains", "arguments": '{"to": "Oslo"}'}
    asked = {"id": "c1", "type": "function", "function": function}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "assistant", "content": ANSWER},
    ]
    for number, message in enumerate(messages):
        model = root.create_child("llm", run_type="llm", inputs={"messages": []})
        model.end(outputs={"choices": [{"message": message}], "usage_metadata": usage})
        if number == 0:
            tool = root.create_child("trains", run_type="tool", inputs={"to": "Oslo"})
            tool.end(outputs={"output": "09:14"})
    root.end(outputs={"output": ANSWER})
    runs = [root, *root.child_runs]
    rows = [json.loads(run.model_dump_json(exclude={"client", "child_runs"})) for run in runs]
    run = Trajectory.from_any(rows)
    assert run.format == "langsmith_run"
    assert story(run) == [("trains", {"to": "Oslo"}, "09:14")]
    assert run.final_response == ANSWER
    assert run.usage == Usage(18, 10, 28, None, None, 2)
