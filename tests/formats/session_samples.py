"""Small traces of session logs, texts and dialects, in the story of `samples`."""

from __future__ import annotations

from typing import Any

Row = tuple[str, str, Any, list[Any], str | None]

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."
ARGS = {"to": "Oslo"}
CALL = ("trains", ARGS)

TEXT = '{"to": "Oslo"}'
_TIME = "2025-08-28T12:57:08Z"


def _spoken(kind: str, content: Any, key: str, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    message = {"role": kind, "content": content, **more}
    return {"type": kind, "sessionId": "s1", "uuid": key, "timestamp": _TIME, "message": message}


CLAUDE_CODE: list[Any] = [
    {"type": "summary", "summary": "Trains", "leafUuid": "4"},
    _spoken("user", QUESTION, "1"),
    _spoken("assistant", [{"type": "thinking", "thinking": "Hm."}], "2", id="m1"),
    _spoken("assistant", [{"type": "text", "text": "Let me look."}], "3", id="m1"),
    _spoken(
        "assistant",
        [{"type": "tool_use", "id": "toolu_1", "name": "trains", "input": ARGS}],
        "4",
        id="m1",
    ),
    _spoken("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14"}], "5"),
    _spoken("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14"}], "5"),
    _spoken("assistant", [{"type": "text", "text": ANSWER}], "6", id="m2"),
]
CLAUDE_SDK: list[Any] = [
    {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["trains"]},
    *(
        {
            "type": line["type"],
            "message": line["message"],
            "parent_tool_use_id": None,
            "session_id": "s1",
        }
        for line in (CLAUDE_CODE[4], CLAUDE_CODE[5], CLAUDE_CODE[7])
    ),
    {"type": "result", "subtype": "success", "session_id": "s1", "result": ANSWER},
]


def _codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": _TIME, "type": kind, "payload": payload}


def _said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return _codex(
        "response_item", type="message", role=role, content=[{"type": kind, "text": text}]
    )


CODEX: list[Any] = [
    _codex("session_meta", id="s1", cwd="/"),
    _said("user", "<environment_context>\n  <cwd>/</cwd>\n</environment_context>"),
    _said("user", QUESTION),
    _codex("event_msg", type="user_message", message=QUESTION),
    _codex("turn_context", model="gpt-5"),
    _codex("response_item", type="reasoning", summary=[], encrypted_content=None),
    _codex("response_item", type="function_call", name="trains", arguments=TEXT, call_id="call_1"),
    _codex("response_item", type="function_call_output", call_id="call_1", output="09:14"),
    _codex("event_msg", type="agent_message", message=ANSWER),
    _said("assistant", ANSWER),
    _codex("event_msg", type="patch_apply_end", call_id="call_2", success=True),
]
_GEMINI_CALL = {
    "id": "t1",
    "name": "trains",
    "args": ARGS,
    "status": "success",
    "timestamp": _TIME,
    "result": [
        {"functionResponse": {"id": "t1", "name": "trains", "response": {"output": "09:14"}}}
    ],
}
GEMINI_CLI: list[Any] = [
    {"sessionId": "s1", "projectHash": "9d", "startTime": _TIME, "kind": "main"},
    {"id": "0", "timestamp": _TIME, "type": "info", "content": "Ready."},
    {"id": "1", "timestamp": _TIME, "type": "user", "content": [{"text": QUESTION}]},
    {"$set": {"lastUpdated": _TIME}},
    {"id": "2", "timestamp": _TIME, "type": "gemini", "content": "", "thoughts": []},
    {"id": "2", "timestamp": _TIME, "type": "gemini", "content": "", "toolCalls": [_GEMINI_CALL]},
    {"id": "3", "timestamp": _TIME, "type": "gemini", "content": ANSWER},
]

_STREAM = "client.beta.sessions.events.stream"


def _block(text: str) -> list[Any]:
    return [{"type": "text", "text": text}]


MANAGED: list[Any] = [
    ["client.beta.sessions.create", {"type": "session", "id": "sesn_1", "agent": {"name": "A"}}],
    [
        "client.beta.sessions.events.send",
        ["sesn_1", {"events": [{"type": "user.message", "content": _block(QUESTION)}]}],
    ],
    [_STREAM, {"type": "session.status_running", "id": "sevt_0"}],
    [_STREAM, {"content": _block(QUESTION), "id": "sevt_1", "type": "user.message"}],
    [_STREAM, {"type": "agent.custom_tool_use", "id": "sevt_2", "name": "trains", "input": ARGS}],
    [
        "client.beta.sessions.events.send",
        [
            "sesn_1",
            {
                "events": [
                    {
                        "type": "user.custom_tool_result",
                        "custom_tool_use_id": "sevt_2",
                        "content": _block("09:14"),
                    }
                ]
            },
        ],
    ],
    [
        _STREAM,
        {
            "type": "user.custom_tool_result",
            "id": "sevt_3",
            "is_error": False,
            "custom_tool_use_id": "sevt_2",
            "content": _block("09:14"),
        },
    ],
    [_STREAM, {"type": "agent.message", "id": "sevt_4", "content": _block(ANSWER)}],
]


def _rpc(way: str, **message: Any) -> dict[str, Any]:
    return {"direction": way, "message": {"jsonrpc": "2.0", **message}}


_UP, _DOWN = "client->server", "server->client"
MCP: list[Any] = [
    _rpc(_UP, id=0, method="initialize", params={"protocolVersion": "2025-11-25"}),
    _rpc(_DOWN, id=0, result={"protocolVersion": "2025-11-25"}),
    _rpc(_UP, method="notifications/initialized"),
    _rpc(_UP, id=1, method="tools/list"),
    _rpc(_DOWN, id=1, result={"tools": [{"name": "trains", "inputSchema": {}}]}),
    _rpc(_UP, id=2, method="tools/call", params={"name": "trains", "arguments": ARGS}),
    _rpc(_DOWN, method="notifications/message", params={"level": "info"}),
    _rpc(_DOWN, id=2, result={"content": _block("09:14"), "isError": False}),
]
_RESPONSE = {
    "id": "r1",
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "trains", "arguments": TEXT},
                    }
                ],
            }
        }
    ],
}
_METADATA = {
    "function_name": "trains",
    "tool_call_id": "call_1",
    "model_response": _RESPONSE,
    "total_calls_in_response": 1,
}
OPENHANDS: list[Any] = [
    {
        "id": 0,
        "source": "environment",
        "observation": "agent_state_changed",
        "content": "",
        "extras": {"agent_state": "running"},
    },
    {"id": 1, "source": "user", "action": "message", "args": {"content": QUESTION}},
    {
        "id": 2,
        "source": "agent",
        "timestamp": "2025-01-27T23:16:54.105108",
        "action": "run",
        "args": {"command": "trains Oslo", "thought": ""},
        "tool_call_metadata": _METADATA,
    },
    {
        "id": 3,
        "source": "agent",
        "cause": 2,
        "observation": "run",
        "content": "09:14",
        "extras": {"metadata": {"exit_code": 0}},
        "tool_call_metadata": _METADATA,
    },
    {"id": 4, "source": "agent", "action": "message", "args": {"content": ANSWER}},
]

ONE = [CALL]
ROWS: list[Row] = [
    ("claude_code", "lines", CLAUDE_CODE, ONE, ANSWER),
    ("claude_code", "sdk", CLAUDE_SDK, ONE, ANSWER),
    ("claude_code", "one_line", CLAUDE_CODE[4], ONE, None),
    ("codex_rollout", "lines", CODEX, ONE, ANSWER),
    ("gemini_cli", "lines", GEMINI_CLI, ONE, ANSWER),
    (
        "gemini_cli",
        "object",
        {**GEMINI_CLI[0], "messages": [GEMINI_CLI[2], *GEMINI_CLI[5:]]},
        ONE,
        ANSWER,
    ),
    ("anthropic_managed_events", "pairs", MANAGED, ONE, ANSWER),
    (
        "anthropic_managed_events",
        "events",
        {"data": [event for method, event in MANAGED if method == _STREAM]},
        ONE,
        ANSWER,
    ),
    ("mcp_jsonrpc", "directed", MCP, ONE, None),
    ("mcp_jsonrpc", "bare", [line["message"] for line in MCP], ONE, None),
    ("mcp_jsonrpc", "one", MCP[5], ONE, None),
    ("openhands_events", "events", OPENHANDS, ONE, ANSWER),
    ("openhands_events", "history", {"instance_id": "i", "history": OPENHANDS}, ONE, ANSWER),
]
