"""Small traces of every format, made up for these tests, with what they tell.

All of them tell the same story where their format can: a question, a call with one argument, its
result, an answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.formats import package_samples, run_samples, session_samples

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."
CALL = ("trains", {"to": "Oslo"})
TEXT = '{"to": "Oslo"}'


class Sample(NamedTuple):
    """A raw trace, and what is in it."""

    format: str
    name: str
    data: Any
    calls: list[tuple[str, Any]]
    final: str | None

    def __str__(self) -> str:
        return f"{self.format}-{self.name}"


def _user(content: Any = QUESTION) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _answer(content: Any = ANSWER) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def _openai(arguments: Any = TEXT, content: Any = None) -> dict[str, Any]:
    function = {"name": "trains", "arguments": arguments}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


TOOL = {"role": "tool", "tool_call_id": "call_1", "content": "09:14"}
OPENAI: list[Any] = [
    {"role": "system", "content": "Be brief."},
    _user(),
    _openai(),
    TOOL,
    _answer(),
]
LEGACY: list[Any] = [
    _user(),
    {"role": "assistant", "content": None, "function_call": {"name": "trains", "arguments": TEXT}},
    {"role": "function", "name": "trains", "content": "09:14"},
    _answer(),
]
CHAT: list[Any] = [
    _user(),
    {"role": "assistant", "content": "", "tool_calls": [{"name": "trains", "args": CALL[1]}]},
    {"role": "tool", "content": "09:14"},
    _answer(),
]
RESPONSES: list[Any] = [
    _user(),
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "call_id": "call_1", "name": "trains", "arguments": TEXT},
    {"type": "function_call_output", "call_id": "call_1", "output": "09:14"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    },
]
ANTHROPIC: list[Any] = [
    _user(),
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "trains", "input": CALL[1]},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14"}],
    },
    _answer([{"type": "text", "text": ANSWER}]),
]
GEMINI: list[Any] = [
    {"role": "user", "parts": [{"text": QUESTION}]},
    {"role": "model", "parts": [{"functionCall": {"name": "trains", "args": CALL[1]}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "trains", "response": {"output": "09:14"}}}],
    },
    {"role": "model", "parts": [{"text": ANSWER}]},
]
_LC_CALL = {"name": "trains", "args": CALL[1], "id": "call_1", "type": "tool_call"}
LANGCHAIN: list[Any] = [
    {"type": "human", "content": QUESTION, "additional_kwargs": {}},
    {"type": "ai", "content": "", "tool_calls": [_LC_CALL], "invalid_tool_calls": []},
    {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "success"},
    {"type": "ai", "content": ANSWER, "tool_calls": [], "invalid_tool_calls": []},
]
POTATO: list[Any] = [
    {"speaker": "User", "text": QUESTION},
    {"speaker": "Agent (Action)", "text": f"trains({TEXT})"},
    {"speaker": "Environment", "text": "09:14"},
    {"speaker": "Agent", "text": ANSWER},
]
VERTEX: list[Any] = [{"tool_name": "trains", "tool_input": CALL[1]}]
OWN: dict[str, Any] = {
    "trajgrade": 1,
    "id": "t1",
    "format": "openai_chat",
    "notes": ["a remark"],
    "final_response": ANSWER,
    "steps": [
        _user(),
        {"role": "assistant", "tool_calls": [{"name": "trains", "args": CALL[1], "turn": 0}]},
        _answer(),
    ],
}


def _constructor(kind: str, **fields: Any) -> dict[str, Any]:
    path = ["langchain_core", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}


LC_DUMPED: list[Any] = [
    _constructor("HumanMessage", content=QUESTION),
    _constructor("AIMessage", content="", tool_calls=[_LC_CALL]),
    _constructor("ToolMessage", content="09:14", tool_call_id="call_1"),
    _constructor("AIMessage", content=ANSWER),
]

GRAPH: dict[str, Any] = {
    "inputs": [{"__start__": {"messages": [{"role": "user", "content": QUESTION}]}}],
    "results": [{"messages": [{"role": "assistant", "content": ANSWER}]}],
    "steps": [["__start__", "agent", "tools", "agent"]],
}
NODES: list[tuple[str, Any]] = [(node, {}) for node in GRAPH["steps"][0]]


def _samples() -> list[Sample]:
    one = [CALL]
    rows: list[tuple[str, str, Any, list[Any], str | None]] = [
        ("chat", "nothing", [], [], None),
        ("chat", "no_messages", {"messages": []}, [], None),
        ("chat", "texts", [_user(), _answer()], [], ANSWER),
        ("chat", "one_message", _answer(), [], ANSWER),
        ("chat", "plain_calls", CHAT, one, ANSWER),
        ("chat", "messages", {"messages": CHAT, "model": "m"}, one, ANSWER),
        ("chat", "with_a_text", [_user(), ANSWER], [], ANSWER),
        ("chat", "blocks", [_user(), _answer([{"type": "text", "text": ANSWER}])], [], ANSWER),
        ("openai_chat", "messages", OPENAI, one, ANSWER),
        ("openai_chat", "dict", {"messages": OPENAI, "tools": []}, one, ANSWER),
        ("openai_chat", "object", [_openai(CALL[1])], one, None),
        ("openai_chat", "one_message", _openai(), one, None),
        ("openai_chat", "calls_alone", _openai()["tool_calls"], one, None),
        (
            "openai_chat",
            "response",
            {"id": "x", "object": "chat.completion", "choices": [{"message": _openai()}]},
            one,
            None,
        ),
        ("openai_function_call", "messages", LEGACY, one, ANSWER),
        ("openai_function_call", "dict", {"messages": LEGACY}, one, ANSWER),
        ("openai_responses", "items", RESPONSES, one, ANSWER),
        ("openai_responses", "one", RESPONSES[2], one, None),
        (
            "openai_responses",
            "response",
            {"id": "resp_1", "object": "response", "output": RESPONSES[1:]},
            one,
            ANSWER,
        ),
        ("anthropic_messages", "messages", ANTHROPIC, one, ANSWER),
        ("anthropic_messages", "dict", {"system": "", "messages": ANTHROPIC}, one, ANSWER),
        ("anthropic_messages", "blocks", ANTHROPIC[1]["content"], one, "Let me look."),
        (
            "anthropic_messages",
            "response",
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": ANSWER}],
                "stop_reason": "end_turn",
            },
            [],
            ANSWER,
        ),
        ("gemini_contents", "list", GEMINI, one, ANSWER),
        ("gemini_contents", "dict", {"contents": GEMINI}, one, ANSWER),
        ("gemini_contents", "one", GEMINI[1], one, None),
        (
            "gemini_contents",
            "response",
            {"candidates": [{"content": {"parts": [{"text": ANSWER}]}}]},
            [],
            ANSWER,
        ),
        ("langchain_messages", "dumped", LANGCHAIN, one, ANSWER),
        ("langchain_messages", "dict", {"messages": LC_DUMPED}, one, ANSWER),
        ("langchain_messages", "constructors", LC_DUMPED, one, ANSWER),
        (
            "langchain_messages",
            "to_dict",
            [{"type": message["type"], "data": message} for message in LANGCHAIN],
            one,
            ANSWER,
        ),
        ("langgraph_state", "state", {"messages": LANGCHAIN, "loop": 2}, one, ANSWER),
        (
            "langgraph_state",
            "snapshot",
            {"values": {"messages": LANGCHAIN}, "next": [], "metadata": {}},
            one,
            ANSWER,
        ),
        ("vertex_trajectory", "calls", VERTEX, one, None),
        ("vertex_trajectory", "one", VERTEX[0], one, None),
        ("vertex_trajectory", "row", _row(VERTEX), one, ANSWER),
        ("vertex_trajectory", "empty_row", _row([]), [], ANSWER),
        ("vertex_trajectory", "row_of_messages", _row(OPENAI), one, ANSWER),
        ("vertex_trajectory", "reference", {"reference_trajectory": VERTEX}, one, None),
        ("calls", "list", [{"name": "trains", "args": CALL[1]}], one, None),
        ("calls", "one", {"name": "trains", "input": CALL[1]}, one, None),
        (
            "calls",
            "mixed",
            [{"name": "trains", "kwargs": CALL[1]}, "ping"],
            [CALL, ("ping", None)],
            None,
        ),
        (
            "calls",
            "under_a_key",
            {"tool_calls": [{"name": "trains", "arguments": TEXT}]},
            one,
            None,
        ),
        ("potato_conversation", "turns", POTATO, one, ANSWER),
        (
            "potato_conversation",
            "trace",
            {"id": "t1", "task_description": "Trains", "conversation": POTATO},
            one,
            ANSWER,
        ),
        (
            "potato_conversation",
            "structured",
            {
                "id": "t1",
                "conversation": [{"speaker": "Agent (trains)", "text": f"trains({TEXT})"}],
                "structured_turns": [
                    {
                        "role": "assistant",
                        "content": ANSWER,
                        "tool_calls": [{"tool": "trains", "input": CALL[1], "output": "09:14"}],
                    }
                ],
            },
            one,
            ANSWER,
        ),
        ("graph_trajectory", "thread", GRAPH, NODES, ANSWER),
        (
            "graph_trajectory",
            "wrapped",
            {"inputs": GRAPH["inputs"], "outputs": {**GRAPH, "inputs": []}},
            NODES,
            ANSWER,
        ),
        ("trajgrade", "own", OWN, one, ANSWER),
        ("text", "text", ANSWER, [], ANSWER),
    ]
    return [Sample(*row) for row in rows + _OTHERS]


_OTHERS = session_samples.ROWS + run_samples.ROWS + package_samples.ROWS


def _row(predicted: Any) -> dict[str, Any]:
    return {"prompt": QUESTION, "response": ANSWER, "predicted_trajectory": predicted}


SAMPLES = _samples()
