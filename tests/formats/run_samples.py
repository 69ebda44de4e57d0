"""Small traces of stored runs and of spans, in the story of `samples`."""

from __future__ import annotations

from typing import Any

Row = tuple[str, str, Any, list[Any], str | None]

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."
ARGS = {"to": "Oslo"}
TEXT = '{"to": "Oslo"}'
CALL = ("trains", ARGS)
ONE = [CALL]

MESSAGES: list[Any] = [
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "trains", "arguments": TEXT},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "trains", "content": "09:14"},
    {"role": "assistant", "content": ANSWER},
]
TAU: dict[str, Any] = {
    "task_id": 3,
    "trial": 1,
    "reward": 0.0,
    "info": {"task": {"actions": [{"name": "book", "kwargs": {}}]}},
    "traj": [*MESSAGES, {"role": "user", "content": "###STOP###"}],
}
ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s1",
    "agent": {"name": "guide", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": QUESTION},
        {
            "step_id": 2,
            "source": "agent",
            "timestamp": "2026-01-02T03:04:05Z",
            "message": "Let me look.",
            "tool_calls": [
                {"tool_call_id": "call_1", "function_name": "trains", "arguments": ARGS}
            ],
            "observation": {"results": [{"source_call_id": "call_1", "content": "09:14"}]},
        },
        {"step_id": 3, "source": "agent", "message": [{"type": "text", "text": ANSWER}]},
    ],
}
BROWSER: dict[str, Any] = {
    "history": [
        {
            "model_output": {
                "current_state": {"next_goal": "Look it up"},
                "action": [{"trains": ARGS}, {"wait": {"seconds": 3}}],
            },
            "result": [{"is_done": False, "error": "no such page"}],
            "state": {"url": "about:blank"},
            "metadata": {"step_number": 1},
        },
        {
            "model_output": {"action": [{"done": {"text": ANSWER, "success": True}}]},
            "result": [{"is_done": True, "extracted_content": ANSWER}],
            "state": {"url": "about:blank"},
        },
    ]
}
INSPECT: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "trains", "model": "m"},
    "plan": {"name": "plan"},
    "samples": [
        {
            "id": "a",
            "epoch": 2,
            "input": QUESTION,
            "target": "09:14",
            "messages": [
                {"role": "user", "content": QUESTION},
                {
                    "role": "assistant",
                    "content": [{"type": "reasoning", "reasoning": "hm"}],
                    "tool_calls": [{"id": "call_1", "function": "trains", "arguments": ARGS}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "call_1",
                    "function": "trains",
                    "content": "09:14",
                },
                {"role": "assistant", "content": ANSWER},
            ],
        }
    ],
}
_ASKED = {"type": "function_call", "call_id": "call_1", "name": "trains", "arguments": TEXT}
RUN_STATE: dict[str, Any] = {
    "$schemaVersion": "1.9",
    "current_agent": {"name": "guide"},
    "original_input": QUESTION,
    "model_responses": [{"output": [_ASKED], "response_id": "r1", "usage": {}}],
    "generated_items": [
        {"type": "tool_call_item", "agent": {"name": "guide"}, "raw_item": _ASKED},
        {
            "type": "tool_call_output_item",
            "agent": {"name": "guide"},
            "raw_item": {"type": "function_call_output", "call_id": "call_1", "output": "09:14"},
            "output": "09:14",
        },
        {
            "type": "message_output_item",
            "agent": {"name": "guide"},
            "raw_item": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": ANSWER}],
            },
        },
    ],
}


def _event(author: str, part: dict[str, Any], role: str = "model") -> dict[str, Any]:
    content = {"role": role, "parts": [part]}
    return {"author": author, "invocation_id": "e1", "id": "x", "content": content, "actions": {}}


_USE = {"id": "adk-1", "name": "trains", "args": ARGS}
_GIVEN = {"id": "adk-1", "name": "trains", "response": {"result": "09:14"}}
ADK_EVENTS: list[Any] = [
    _event("user", {"text": QUESTION}, "user"),
    _event("guide", {"function_call": _USE}),
    _event("guide", {"function_response": _GIVEN}, "user"),
    _event("guide", {"text": ANSWER}),
]
ADK_SESSION: dict[str, Any] = {"id": "s1", "app_name": "a", "state": {}, "events": ADK_EVENTS}
ADK_EVALSET: dict[str, Any] = {
    "eval_set_id": "trains",
    "eval_cases": [
        {
            "eval_id": "oslo",
            "conversation": [
                {
                    "invocation_id": "e1",
                    "user_content": {"role": "user", "parts": [{"text": QUESTION}]},
                    "intermediate_data": {"tool_uses": [_USE], "tool_responses": [_GIVEN]},
                    "final_response": {"role": "model", "parts": [{"text": ANSWER}]},
                }
            ],
        }
    ],
}
ADK_OLD: dict[str, Any] = {
    "query": QUESTION,
    "expected_tool_use": [{"tool_name": "trains", "tool_input": ARGS}],
    "expected_intermediate_agent_responses": [],
    "reference": ANSWER,
}
AUTOGEN: dict[str, Any] = {
    "question": QUESTION,
    "question_ID": "q1",
    "history": [
        {"role": "human", "content": QUESTION},
        {"role": "Orchestrator (-> Timetable)", "content": "Please look it up."},
        {"role": "user", "name": "Timetable", "content": ANSWER},
    ],
}


def _orchestration(**held: Any) -> dict[str, Any]:
    return {"trace": {"sessionId": "s1", "trace": {"orchestrationTrace": held}}}


_GROUP = {
    "actionGroupName": "travel",
    "function": "trains",
    "parameters": [{"name": "to", "type": "string", "value": "Oslo"}],
}
BEDROCK: list[Any] = [
    _orchestration(rationale={"text": "Look it up.", "traceId": "t-0"}),
    _orchestration(invocationInput={"traceId": "t-0", "actionGroupInvocationInput": _GROUP}),
    _orchestration(
        observation={"traceId": "t-0", "actionGroupInvocationOutput": {"text": "09:14"}}
    ),
    _orchestration(observation={"traceId": "t-1", "finalResponse": {"text": ANSWER}}),
]

ROWS: list[Row] = [
    ("bedrock_agent_trace", "events", BEDROCK, ONE, ANSWER),
    (
        "bedrock_agent_trace",
        "chunks",
        {
            "request": {"inputText": QUESTION},
            "events": [*BEDROCK[:3], {"chunk": {"bytes": "WWVzLCBhdCAwOToxNC4="}}],
        },
        ONE,
        ANSWER,
    ),
    ("tau_bench", "run", TAU, ONE, ANSWER),
    ("atif", "trajectory", ATIF, ONE, ANSWER),
    (
        "browser_use",
        "history",
        BROWSER,
        [CALL, ("wait", {"seconds": 3}), ("done", {"text": ANSWER, "success": True})],
        ANSWER,
    ),
    ("inspect_eval_log", "log", INSPECT, ONE, ANSWER),
    ("inspect_eval_log", "sample", INSPECT["samples"][0], ONE, ANSWER),
    ("openai_agents_run_state", "state", RUN_STATE, ONE, ANSWER),
    ("adk_session", "session", ADK_SESSION, ONE, ANSWER),
    ("adk_session", "events", ADK_EVENTS, ONE, ANSWER),
    ("adk_evalset", "set", ADK_EVALSET, ONE, ANSWER),
    ("adk_evalset", "case", ADK_EVALSET["eval_cases"][0], ONE, ANSWER),
    ("adk_evalset", "old", [ADK_OLD], ONE, ANSWER),
    ("adk_evalset", "grouped", [{"name": "oslo", "data": [ADK_OLD]}], ONE, ANSWER),
    ("autogen_history", "who_and_when", AUTOGEN, [], ANSWER),
    ("bfcl", "turns", {"id": "m_0", "ground_truth": [["trains(to='Oslo')"]]}, ONE, None),
    ("bfcl", "choices", {"id": "s_0", "ground_truth": [{"trains": {"to": ["Oslo"]}}]}, ONE, None),
    ("bfcl", "written", {"id": "s_0", "result": "[trains(to='Oslo')]"}, ONE, None),
    ("bfcl", "called", {"id": "s_0", "result": [{"trains": TEXT}]}, ONE, None),
    (
        "bfcl",
        "question",
        {"id": "m_0", "question": [[{"role": "user", "content": QUESTION}]], "path": ["x"]},
        [],
        None,
    ),
]
