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
CODEX_OLDER: list[Any] = [
    {"id": "s1", "timestamp": _TIME, "instructions": None, "git": {}},
    {"record_type": "state"},
    *(line["payload"] for line in CODEX if line["type"] == "response_item"),
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
_FUNCTION = {"id": "call_1", "type": "function", "function": {"name": "trains", "arguments": TEXT}}
SWE_AGENT: dict[str, Any] = {
    "history": [
        {"role": "system", "content": "Be brief.", "agent": "main"},
        {"role": "user", "content": QUESTION, "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "agent": "main",
            "message_type": "action",
            "content": "Let me look.",
            "thought": "Let me look.",
            "action": "trains Oslo",
            "tool_calls": [_FUNCTION],
        },
        {"role": "tool", "agent": "main", "content": "09:14", "tool_call_ids": ["call_1"]},
        {"role": "assistant", "agent": "main", "content": ANSWER, "action": ""},
    ],
    "info": {"exit_status": "submitted"},
}
SWE_AGENT_OLD: dict[str, Any] = {
    "environment": "main",
    "trajectory": [
        {
            "action": "trains Oslo\n",
            "observation": "09:14",
            "response": "Let me look.",
            "thought": "Let me look.",
            "state": "{}",
        },
        {"action": "submit\n", "observation": "", "response": ANSWER, "state": "{}"},
    ],
    "info": {},
}
MINI: dict[str, Any] = {
    "info": {"mini_version": "1.13.4"},
    "messages": [
        {"role": "system", "content": "Be brief, as in ```bash\nls\n```"},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "THOUGHT: Look.\n\n```bash\ntrains Oslo\n```"},
        {"role": "user", "content": [{"type": "text", "text": "<output>\n09:14\n</output>"}]},
        {"role": "assistant", "content": ANSWER, "extra": {"response": {"choices": []}}},
        {"role": "user", "content": ""},
    ],
    "trajectory_format": "mini-swe-agent-1",
}
MINI_TOOLS: dict[str, Any] = {
    **MINI,
    "messages": [
        MINI["messages"][1],
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [_FUNCTION],
            "extra": {"actions": [{"command": "trains Oslo", "tool_call_id": "call_1"}]},
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "09:14"},
        {"role": "assistant", "content": ANSWER},
        {"role": "exit", "content": "Submitted", "extra": {}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}
_FINISH = '{"return_type": "give_answer", "final_answer": "Yes, at 09:14."}'
FINISH = ("Finish", {"return_type": "give_answer", "final_answer": ANSWER})


def _called(name: str, arguments: str) -> dict[str, Any]:
    call = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "function_call": call}


TOOLBENCH: dict[str, Any] = {
    "win": True,
    "tree": {"size": 4, "tree": {"node_type": "Action Input", "children": []}},
    "answer_generation": {
        "valid_data": True,
        "train_messages": [
            [{"role": "user", "content": QUESTION}],
            [
                {"role": "user", "content": QUESTION},
                _called("trains", TEXT),
                {"role": "function", "name": "trains", "content": "09:14"},
                _called("Finish", _FINISH),
            ],
        ],
    },
}
EXECUTOR: dict[str, Any] = {
    "input": QUESTION,
    "output": ANSWER,
    "intermediate_steps": [
        [{"tool": "trains", "tool_input": ARGS, "log": "Look.", "type": "AgentAction"}, "09:14"]
    ],
}
_ASK = {"role": "user", "content": QUESTION}
_ANSWER = {"role": "assistant", "content": ANSWER}
_CALLING = {"role": "assistant", "content": None, "tool_calls": [_FUNCTION]}
_TOLD = {"role": "tool", "tool_call_id": "call_1", "content": "09:14"}
COHERE: list[Any] = [
    _ASK,
    {**_CALLING, "tool_plan": "I will look."},
    {**_TOLD, "content": [{"type": "document", "document": {"data": "09:14"}}]},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": ANSWER}],
        "citations": [{"start": 8, "end": 13, "text": "09:14", "sources": [{"type": "tool"}]}],
    },
]
_COHERE_CALL = {"name": "trains", "parameters": ARGS}
COHERE_1: dict[str, Any] = {
    "chat_history": [
        {"role": "USER", "message": QUESTION},
        {"role": "CHATBOT", "message": "I will look.", "tool_calls": [_COHERE_CALL]},
        {
            "role": "TOOL",
            "tool_results": [{"call": _COHERE_CALL, "outputs": [{"answer": "09:14"}]}],
        },
    ],
    "text": ANSWER,
    "generation_id": "g1",
}
_MISTRAL_CALL = {"id": "KikbB849t", "index": 0, "function": _FUNCTION["function"]}
MISTRAL: list[Any] = [
    _ASK,
    {"role": "assistant", "content": [], "prefix": False, "tool_calls": [_MISTRAL_CALL]},
    {**_TOLD, "tool_call_id": "KikbB849t"},
    {"role": "assistant", "content": ANSWER, "tool_calls": None},
]


def exchanges(messages: list[Any], model: str) -> list[Any]:
    """Requests and responses in which these messages were made."""
    return [
        {
            "request": {"model": model, "messages": messages[:at]},
            "response": {"model": model, "choices": [{"index": 0, "message": message}]},
        }
        for at, message in enumerate(messages)
        if message["role"] == "assistant"
    ]


OPENAI: list[Any] = [_ASK, _CALLING, _TOLD, _ANSWER]
CONVERSE: list[Any] = [
    {"role": "user", "content": [{"text": QUESTION}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
            {"toolUse": {"toolUseId": "t1", "name": "trains", "input": ARGS}},
        ],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "09:14"}]}}],
    },
    {"role": "assistant", "content": [{"text": ANSWER}]},
]
SHAREGPT: dict[str, Any] = {
    "conversations": [
        {"from": "human", "value": QUESTION},
        {"from": "function_call", "value": f'{{"name": "trains", "arguments": {TEXT}}}'},
        {"from": "observation", "value": "09:14"},
        {"from": "gpt", "value": ANSWER},
    ],
    "tools": "[]",
}
_TAGGED = f'<tool_call>\n{{"name": "trains", "arguments": {TEXT}}}\n</tool_call>'
_RESPONDED = '<tool_response>\n{"name": "trains", "content": "09:14"}\n</tool_response>'
_RULES = f"Call tools so: {_TAGGED.replace('trains', '<name>')}"
HERMES: list[Any] = [
    {"role": "system", "content": _RULES},
    _ASK,
    {"role": "assistant", "content": _TAGGED},
    {"role": "tool", "content": _RESPONDED},
    _ANSWER,
]
CHATML = "\n".join(
    f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>" for message in HERMES
)
_ACTION = f"Thought: I look.\nAction: trains\nAction Input: {TEXT}\nObservation: 09:14"
_FINAL = f"Thought: I know.\nFinal Answer: {ANSWER}"
REACT = f"Answer as well as you can.\n\nQuestion: {QUESTION}\n{_ACTION}\n{_FINAL}"
REACT_CHAT: list[Any] = [
    {"role": "system", "content": "Use tools.\nAction: the action to take\nAction Input: it"},
    _ASK,
    {"role": "assistant", "content": _ACTION.partition("\nObservation")[0]},
    {"role": "user", "content": "Observation: 09:14"},
    {"role": "assistant", "content": _FINAL},
]
CREW: list[Any] = [
    {"role": "system", "content": "You are a guide.\nYour personal goal is: to help"},
    _ASK,
    {
        "role": "assistant",
        "content": f"```\n{_ACTION}\n\n\nYou ONLY have access to the following tools, and should "
        "NEVER make up tools\n```\nThought: you should\nAction: the action to take, only one\n"
        "Action Input: the input\nObservation: the result\n```",
    },
    {"role": "assistant", "content": f"```\n{_FINAL}\n```"},
]
BLOCKS: list[Any] = [
    _ASK,
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "trains", "input": ARGS}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]
OPENHANDS_SDK: list[Any] = [
    {
        "id": "e0",
        "kind": "SystemPromptEvent",
        "source": "agent",
        "system_prompt": {"type": "text", "text": "Be brief."},
    },
    {
        "id": "e1",
        "kind": "MessageEvent",
        "source": "user",
        "llm_message": {"role": "user", "content": _block(QUESTION)},
    },
    {
        "id": "e2",
        "kind": "ActionEvent",
        "source": "agent",
        "thought": _block("Let me look."),
        "action": {"kind": "TrainsAction", "to": "Oslo"},
        "tool_name": "trains",
        "tool_call_id": "call_1",
        "tool_call": {"id": "call_1", "name": "trains", "arguments": TEXT},
        "llm_response_id": "r1",
    },
    {
        "id": "e3",
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_name": "trains",
        "tool_call_id": "call_1",
        "action_id": "e2",
        "observation": {"content": _block("09:14"), "is_error": False},
    },
    {
        "id": "e4",
        "kind": "MessageEvent",
        "source": "agent",
        "llm_message": {"role": "assistant", "content": _block(ANSWER)},
    },
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
    ("swe_agent_traj", "history", SWE_AGENT, ONE, ANSWER),
    ("swe_agent_traj", "trajectory", SWE_AGENT_OLD, [], ANSWER),
    ("mini_swe_agent", "commands", MINI, [], ANSWER),
    ("mini_swe_agent", "tools", MINI_TOOLS, ONE, ANSWER),
    ("toolbench", "run", TOOLBENCH, [CALL, FINISH], ANSWER),
    ("langchain_agent_executor", "run", EXECUTOR, ONE, ANSWER),
    ("langchain_agent_executor", "steps", EXECUTOR["intermediate_steps"], ONE, None),
    (
        "langchain_agent_executor",
        "tuples",
        [[["trains", "Oslo", "Action: trains"], "09:14"]],
        [("trains", "Oslo")],
        None,
    ),
    ("cohere_chat", "messages", COHERE, ONE, ANSWER),
    ("cohere_chat", "dict", {"messages": COHERE, "model": "command-r"}, ONE, ANSWER),
    (
        "cohere_chat",
        "response",
        {"id": "c1", "finish_reason": "COMPLETE", "message": COHERE[3]},
        [],
        ANSWER,
    ),
    ("cohere_chat", "version_1", COHERE_1, ONE, ANSWER),
    ("mistral_chat", "messages", MISTRAL, ONE, ANSWER),
    ("mistral_chat", "exchanges", exchanges(MISTRAL, "mistral-large-latest"), ONE, ANSWER),
    (
        "mistral_chat",
        "response",
        {"model": "mistral-small", "choices": [{"message": MISTRAL[3]}]},
        [],
        ANSWER,
    ),
    ("openai_chat", "exchanges", exchanges(OPENAI, "gpt-4.1"), ONE, ANSWER),
    ("openai_chat", "exchange", exchanges(OPENAI, "gpt-4.1")[-1], ONE, ANSWER),
    ("bedrock_converse", "messages", CONVERSE, ONE, ANSWER),
    ("bedrock_converse", "dict", {"system": [], "messages": CONVERSE}, ONE, ANSWER),
    (
        "bedrock_converse",
        "response",
        {"output": {"message": CONVERSE[3]}, "stopReason": "end_turn"},
        [],
        ANSWER,
    ),
    ("sharegpt", "record", SHAREGPT, ONE, ANSWER),
    ("sharegpt", "turns", SHAREGPT["conversations"], ONE, ANSWER),
    ("hermes_chatml", "text", CHATML, ONE, ANSWER),
    ("hermes_chatml", "messages", HERMES, ONE, ANSWER),
    ("hermes_chatml", "completion", _TAGGED, ONE, None),
    ("react_text", "text", REACT, ONE, ANSWER),
    ("react_text", "messages", REACT_CHAT, ONE, ANSWER),
    ("react_text", "dict", {"messages": REACT_CHAT}, ONE, ANSWER),
    ("crewai_react", "messages", CREW, ONE, ANSWER),
    ("crewai_react", "dict", {"messages": CREW}, ONE, ANSWER),
    ("crewai_react", "exchanges", exchanges(CREW, "gpt-4o"), ONE, ANSWER),
    (
        "anthropic_messages",
        "exchanges",
        [
            {
                "request": {"model": "claude", "messages": BLOCKS[:1]},
                "response": {"type": "message", "stop_reason": "tool_use", **BLOCKS[1]},
            },
            {
                "request": {"model": "claude", "messages": BLOCKS[:3]},
                "response": {"type": "message", "stop_reason": "end_turn", **BLOCKS[3]},
            },
        ],
        ONE,
        ANSWER,
    ),
    ("codex_rollout", "older", CODEX_OLDER, ONE, ANSWER),
    ("openhands_events", "sdk", OPENHANDS_SDK, ONE, ANSWER),
]
