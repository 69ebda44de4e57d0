"""Samples of formats that packages write, or that a wire has: the story of `samples`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."
ONE = [("trains", {"to": "Oslo"})]


def _request(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts), "instructions": None}


def _response(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), "model_name": "m", "usage": {}}


def _part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"part_kind": kind, **fields}


_CALL = _part("tool-call", tool_name="trains", args='{"to": "Oslo"}', tool_call_id="c1")
_RETURN = _part("tool-return", tool_name="trains", content="09:14", tool_call_id="c1")
PYDANTIC_AI = [
    _request(_part("system-prompt", content="Be brief."), _part("user-prompt", content=QUESTION)),
    _response(_part("thinking", content="Hm."), _CALL),
    _request(_RETURN),
    _response(_part("text", content=ANSWER)),
]
PYDANTIC_AI_OUTPUT = [
    *PYDANTIC_AI[:3],
    _response(
        _part("tool-call", tool_name="final_result", args={"at": "09:14"}, tool_call_id="c2")
    ),
    _request(
        _part(
            "tool-return",
            tool_name="final_result",
            content="Final result processed.",
            tool_call_id="c2",
        )
    ),
]

_USER = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}


def _ui(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    text = {"type": "text", "text": ANSWER, "state": "done"}
    return [_USER, {"id": "m2", "role": "assistant", "parts": [*parts, text]}]


_ARGS = {"to": "Oslo"}
UI = _ui(
    {"type": "step-start"},
    {"type": "reasoning", "text": "Hm."},
    {
        "type": "tool-trains",
        "toolCallId": "c1",
        "state": "output-available",
        "input": _ARGS,
        "output": "09:14",
    },
    {"type": "step-start"},
)
UI_DYNAMIC = _ui(
    {
        "type": "dynamic-tool",
        "toolName": "trains",
        "toolCallId": "c1",
        "state": "output-available",
        "input": _ARGS,
        "output": "09:14",
    }
)
_INVOKED = {
    "toolCallId": "c1",
    "toolName": "trains",
    "args": _ARGS,
    "state": "result",
    "result": "09:14",
}
UI_V4 = [
    _USER,
    {
        "id": "m2",
        "role": "assistant",
        "content": ANSWER,
        "toolInvocations": [_INVOKED],
        "parts": [
            {"type": "tool-invocation", "toolInvocation": _INVOKED},
            {"type": "text", "text": ANSWER},
        ],
    },
]

UI_V3 = [
    {"id": "m1", "role": "user", "content": "Any trains to Oslo?"},
    {"id": "m2", "role": "assistant", "content": ANSWER, "toolInvocations": [_INVOKED]},
]


def _chunk(**delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {"id": "x1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def _pieces(*some: str) -> list[dict[str, Any]]:
    begin = {"index": 0, "id": "c1", "type": "function", "function": {"name": "trains"}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in some]
    return [_chunk(tool_calls=[piece]) for piece in [begin, *rest]]


STREAM = [
    _chunk(role="assistant", content=""),
    *_pieces('{"to"', ': "Os', 'lo"}'),
    _chunk(content="Yes, "),
    _chunk(content="at 09:14."),
    {
        "id": "x1",
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    },
]
EVENTS = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in STREAM) + "data: [DONE]\n\n"


def _made(name: str) -> Any:
    """What a package wrote that is not installed here: see origins/make.py."""
    return json.loads(Path(__file__).with_name("origins").joinpath(f"{name}.json").read_text())


SMOLAGENTS = [*ONE, ("final_answer", {"answer": ANSWER})]
SMOLAGENTS_CODE = [
    ("python_interpreter", 'x = trains("Oslo")\nprint(x)'),
    ("python_interpreter", f'final_answer("{ANSWER}")'),
]
Row = tuple[str, str, Any, list[tuple[str, Any]], str | None]
ROWS: list[Row] = [
    ("pydantic_ai_messages", "run", PYDANTIC_AI, ONE, ANSWER),
    ("pydantic_ai_messages", "output_tool", PYDANTIC_AI_OUTPUT, ONE, '{"at":"09:14"}'),
    ("vercel_ui_messages", "messages", UI, ONE, ANSWER),
    ("vercel_ui_messages", "under_a_key", {"id": "chat", "messages": UI}, ONE, ANSWER),
    ("vercel_ui_messages", "dynamic", UI_DYNAMIC, ONE, ANSWER),
    ("vercel_ui_messages", "version_4", UI_V4, ONE, ANSWER),
    ("vercel_ui_messages", "before_parts", UI_V3, ONE, ANSWER),
    ("openai_chat_stream", "chunks", STREAM, ONE, ANSWER),
    ("openai_chat_stream", "events", EVENTS, ONE, ANSWER),
    ("smolagents_memory", "tools", _made("smolagents_tools"), SMOLAGENTS, ANSWER),
    ("smolagents_memory", "code", _made("smolagents_code"), SMOLAGENTS_CODE, ANSWER),
    ("mlflow_trace", "trace", _made("mlflow_trace"), ONE, ANSWER),
    ("bedrock_converse", "strands", _made("strands_messages"), ONE, ANSWER),
    ("llama_index_messages", "memory", _made("llama_index_messages"), ONE, ANSWER),
    ("llama_index_messages", "older", _made("llama_index_older"), ONE, ANSWER),
]
