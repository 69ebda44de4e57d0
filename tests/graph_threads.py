"""Real LangGraph graphs, with a scripted chat model or with plain functions, and their threads."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

THREAD = {"configurable": {"thread_id": "1"}}


class Words(TypedDict, total=False):
    """A state that collects words."""

    words: Annotated[list[str], operator.add]


def says(word: str) -> Any:
    def node(_: Words) -> Words:
        return {"words": [word]}

    return node


def asks(_: Words) -> Words:
    return {"words": [f"was told {interrupt('go on?')}"]}


def fails(_: Words) -> Words:
    raise RuntimeError("broken")


def chain(*nodes: tuple[str, Any], saver: Any = None, **options: Any) -> Any:
    """A graph whose nodes follow each other."""
    graph: Any = StateGraph(Words)
    last = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    graph.add_edge(last, END)
    return graph.compile(checkpointer=saver, **options)


def saved(*nodes: tuple[str, Any], **options: Any) -> Any:
    return chain(*nodes, saver=InMemorySaver(), **options)


@tool
def trains(to: str) -> str:
    """Say when a train goes."""
    return f"09:14 to {to}"


def agent() -> Any:
    """An agent with a tool, whose model has its answers written down: a call, then a text."""
    call = {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}
    script = iter([
        AIMessage("", tool_calls=[call]), AIMessage("Yes, at 09:14."), AIMessage("You are welcome."),
    ])  # fmt: skip
    model = GenericFakeChatModel(messages=script)
    graph: Any = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([trains]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    return graph.compile(checkpointer=InMemorySaver())
