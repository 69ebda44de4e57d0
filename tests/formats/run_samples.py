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


NOON = 1_767_355_200


def _typed(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def otlp(*spans: tuple[str, int, dict[str, Any]]) -> dict[str, Any]:
    """An OTLP document of spans: each an id, when it began in seconds, and its attributes."""
    made = [
        {
            "traceId": "t1",
            "spanId": key,
            "name": "span",
            "startTimeUnixNano": str((NOON + began) * 10**9),
            "endTimeUnixNano": str((NOON + began) * 10**9 + 1000),
            "attributes": [
                {"key": name, "value": _typed(value)} for name, value in attributes.items()
            ],
        }
        for key, began, attributes in spans
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": made}]}]}


ASKS = {
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.tool_calls.0.id": "call_1",
    "gen_ai.completion.0.tool_calls.0.name": "trains",
    "gen_ai.completion.0.tool_calls.0.arguments": TEXT,
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": QUESTION,
}
RUNS = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "trains",
    "gen_ai.tool.call.id": "call_1",
    "gen_ai.tool.call.arguments": TEXT,
    "gen_ai.tool.call.result": "09:14",
}
SAYS = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ANSWER}
OTLP = otlp(("c", 3, SAYS), ("a", 1, ASKS), ("b", 2, RUNS))
JAEGER: dict[str, Any] = {
    "data": [
        {
            "traceID": "t1",
            "processes": {},
            "spans": [
                {
                    "traceID": "t1",
                    "spanID": key,
                    "operationName": "span",
                    "references": [],
                    "startTime": (NOON + began) * 10**6,
                    "duration": 5,
                    "tags": [{"key": k, "type": "string", "value": v} for k, v in tags.items()],
                }
                for key, began, tags in (("c", 3, SAYS), ("a", 1, ASKS), ("b", 2, RUNS))
            ],
        }
    ]
}


def _observed(key: str, kind: str, second: int, given: Any, output: Any) -> dict[str, Any]:
    return {
        "id": key,
        "traceId": "t1",
        "parentObservationId": None,
        "type": kind,
        "name": "trains",
        "startTime": f"2026-01-02T03:04:0{second}Z",
        "input": given,
        "output": output,
    }


LANGFUSE: dict[str, Any] = {
    "trace": {"id": "t1", "name": "guide"},
    "observations": [
        _observed("c", "GENERATION", 3, MESSAGES[:3], MESSAGES[3]),
        _observed("b", "TOOL", 2, TEXT, "09:14"),
        _observed("a", "GENERATION", 1, MESSAGES[:1], MESSAGES[1]),
    ],
}
DEEPEVAL: dict[str, Any] = {
    "uuid": "t1",
    "baseSpans": [],
    "llmSpans": [
        {"uuid": "c", "type": "llm", "startTime": "2026-01-02T03:04:03Z", "output": ANSWER},
        {
            "uuid": "a",
            "type": "llm",
            "startTime": "2026-01-02T03:04:01Z",
            "input": QUESTION,
            "output": {
                "role": "AI",
                "content": "",
                "tool_calls": [{"name": "trains", "args": ARGS}],
            },
        },
    ],
    "toolSpans": [
        {
            "uuid": "b",
            "type": "tool",
            "name": "Function tool: trains",
            "startTime": "2026-01-02T03:04:02Z",
            "input": ARGS,
            "output": "09:14",
        }
    ],
}


def _run(key: str, kind: str, second: int, given: Any, outputs: Any) -> dict[str, Any]:
    return {
        "id": key,
        "trace_id": "r",
        "parent_run_id": "r",
        "run_type": kind,
        "name": "trains",
        "start_time": f"2026-01-02T03:04:0{second}Z",
        "inputs": given,
        "outputs": outputs,
    }


LANGSMITH: list[Any] = [
    {**_run("r", "chain", 0, {"input": QUESTION}, {"output": ANSWER}), "parent_run_id": None},
    _run("c", "llm", 3, {"messages": MESSAGES[:3]}, {"choices": [{"message": MESSAGES[3]}]}),
    _run("b", "tool", 2, {"input": "{'to': 'Oslo'}"}, {"output": "09:14"}),
    _run("a", "llm", 1, {"messages": MESSAGES[:1]}, {"choices": [{"message": MESSAGES[1]}]}),
]

ROWS: list[Row] = [
    ("otlp_tempo", "resource_spans", OTLP, ONE, ANSWER),
    ("otlp_tempo", "trace", {"trace": OTLP}, ONE, ANSWER),
    ("otlp_tempo", "documents", [otlp(("a", 1, ASKS)), otlp(("c", 3, SAYS))], ONE, ANSWER),
    ("otel_jaeger", "traces", JAEGER, ONE, ANSWER),
    ("otel_jaeger", "trace", JAEGER["data"][0], ONE, ANSWER),
    ("langfuse_trace", "exported", LANGFUSE, ONE, ANSWER),
    (
        "langfuse_trace",
        "api",
        {"id": "t1", "observations": LANGFUSE["observations"]},
        ONE,
        ANSWER,
    ),
    ("deepeval_trace", "trace", DEEPEVAL, ONE, ANSWER),
    ("langsmith_run", "runs", LANGSMITH, ONE, ANSWER),
    ("langsmith_run", "tree", {**LANGSMITH[0], "child_runs": LANGSMITH[1:]}, ONE, ANSWER),
    ("langsmith_run", "batch", {"post": LANGSMITH, "patch": []}, ONE, ANSWER),
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
