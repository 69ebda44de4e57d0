"""Models, tokens, costs and times of a run: from every family, each request counted once."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.mutations import documents
from trajgrade.formats import BUILTINS
from trajgrade.formats.metering import usage_in
from trajgrade.registry import formats
from trajgrade.telemetry import Telemetry, Usage
from trajgrade.trajectory import Trajectory

ASKED = {"role": "user", "content": "Any trains?"}
SAID = {"role": "assistant", "content": "Yes."}


def spans(*some: dict[str, Any]) -> dict[str, Any]:
    """An OTLP export: each span with its attributes as an object."""
    held = [
        {
            "traceId": "t", "spanId": one["id"], "parentSpanId": one.get("in", ""), "name": "x",
            "startTimeUnixNano": 1_000_000_000_000_000_000 + number,
            "endTimeUnixNano": 1_000_000_002_000_000_000,
            "attributes": [
                {"key": key, "value": {"intValue" if isinstance(value, int) else "stringValue": value}}
                for key, value in one["told"].items()
            ],
        }
        for number, one in enumerate(some)
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": held}]}]}


CHAT_SPAN = {
    "gen_ai.operation.name": "chat", "gen_ai.response.model": "m",
    "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}]',
}  # fmt: skip
OLD = {"gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 5}


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, (10, 5, 15, None)),
        (
            {
                "prompt_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 8},
                "total_tokens": 10,
            },
            (10, None, 10, 8),
        ),
        (
            {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": 5},
            (10, 5, 15, 8),
        ),
        (
            {"input_tokens": 1, "cache_creation_input_tokens": 4, "output_tokens": 5},
            (5, 5, 10, None),
        ),
        (  # a proxy that spells both, the cached ones in the prompt
            {"prompt_tokens": 10, "cache_creation_input_tokens": 9, "completion_tokens": 5},
            (10, 5, 15, None),
        ),
        (
            {"inputTokens": 2, "outputTokens": 5, "totalTokens": 15, "cacheReadInputTokens": 8},
            (10, 5, 15, 8),
        ),
        (
            {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 2},
            (7, 5, 12, None),
        ),
        ({"input_tokens": 4, "input_token_details": {"cache_read": 3}}, (4, None, None, 3)),
        ({"input_tokens": True, "output_tokens": -1, "total_tokens": float("nan")}, None),
        ({}, None),
        ("many", None),
    ],
)
def test_tokens_are_counted_however_they_are_spelled(record: Any, told: Any):
    found = usage_in(record)
    counts = found and (
        found.input_tokens,
        found.output_tokens,
        found.total_tokens,
        found.cached_tokens,
    )
    assert counts == told


def test_a_history_that_each_request_repeats_is_counted_once():
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    response = {"model": "m-1", "choices": [{"message": SAID}], "usage": usage}
    lines = [
        {"request": {"model": "m", "messages": [ASKED]}, "response": {**response, "id": "a"}},
        {"request": {"model": "m", "messages": [ASKED, SAID, ASKED]}, "response": response},
    ]
    run = Trajectory.from_any(lines)
    assert run.usage == Usage(20, 10, 30, None, None, 2)
    assert run.model == "m-1"


def test_the_lines_of_one_message_of_claude_code_are_one_request():
    def line(at: int, block: dict[str, Any], tokens: int, key: str = "msg_1") -> dict[str, Any]:
        usage = {"input_tokens": 3, "output_tokens": tokens}
        message = {"id": key, "role": "assistant", "model": "c", "content": [block], "usage": usage}
        return {
            "type": "assistant", "sessionId": "s", "uuid": f"{at}", "parentUuid": None,
            "timestamp": f"2026-01-02T03:04:0{at}Z", "message": message,
        }  # fmt: skip

    text = {"type": "text", "text": "Yes."}
    call = {"type": "tool_use", "id": "t1", "name": "trains", "input": {}}
    run = Trajectory.from_any([line(1, text, 2), line(2, call, 9), line(4, text, 5, "msg_2")])
    assert run.usage == Usage(6, 14, 20, None, None, 2)
    assert run.latency_in_seconds == 3
    assert run.tool_calls[0].started_at is not None
    assert run.tool_calls[0].started_at.second == 2


def test_codex_keeps_sums_of_which_the_last_counts():
    def line(payload: dict[str, Any], kind: str = "event_msg") -> dict[str, Any]:
        return {"timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload}

    def count(total: int) -> dict[str, Any]:
        sums = {"input_tokens": total, "cached_input_tokens": 1, "output_tokens": 1}
        return line({"type": "token_count", "info": {"total_token_usage": sums}})

    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}],
    }
    turn = line({"model": "m"}, "turn_context")
    silent = line({"type": "token_count", "info": None})
    run = Trajectory.from_any([turn, count(5), line(said, "response_item"), count(9), silent])
    assert run.usage == Usage(9, 1, 10, 1)
    assert run.model == "m"


def test_messages_of_langchain_keep_one_usage_in_two_places():
    message = {
        "type": "ai", "content": "Yes.", "id": "r1", "tool_calls": [],
        "usage_metadata": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        "response_metadata": {"model_name": "m", "token_usage": {"total_tokens": 15}},
    }  # fmt: skip
    run = Trajectory.from_any([{"type": "human", "content": "Any?"}, message])
    assert (run.usage, run.model) == (Usage(10, 5, 15, None, None, 1), "m")


def test_the_names_of_two_conventions_in_one_span_do_not_add_up():
    new = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
    told = {**CHAT_SPAN, **OLD, **new, "llm.token_count.total": 15}
    assert Trajectory.from_any(spans({"id": "a", "told": told})).usage == Usage(
        10, 5, 15, None, None, 1
    )


def test_a_request_that_was_kept_alone_says_which_model_was_asked():
    run = Trajectory.from_any({"model": "m", "messages": [ASKED, SAID]})
    assert (run.model, run.usage) == ("m", None)
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    run = Trajectory.from_any({"model": "m", "messages": [ASKED, {**SAID, "usage": usage}]})
    assert (run.model, run.usage) == ("m", Usage(10, 5, 15, None, None, 1))


def test_an_agent_that_sums_up_its_model_calls_is_not_added_to_them():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 20}
    some = spans(
        {"id": "a", "told": agent},
        {"id": "b", "in": "a", "told": {**CHAT_SPAN, **OLD}},
        {"id": "c", "in": "a", "told": {**CHAT_SPAN, **OLD}},
    )
    run = Trajectory.from_any(some)
    assert run.usage == Usage(20, 10, 30, None, None, 2)
    assert run.latency_in_seconds == 2
    alone = Trajectory.from_any(spans({"id": "a", "told": agent}))
    assert alone.usage == Usage(20, None, None, None, None, 1)


def test_what_several_choices_took_together_is_nobodys_own():
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    response = {"choices": [{"message": SAID}, {"message": SAID}], "usage": usage, "model": "m"}
    from trajgrade import detection

    assert [run.usage for run in detection.read(response)] == [None, None]


def test_telemetry_is_read_when_it_is_asked_for_and_survives_copies_and_files():
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3}
    content = {"role": "model", "parts": [{"text": "Yes."}]}
    response = {"candidates": [{"content": content}], "usageMetadata": usage, "modelVersion": "g"}
    run = Trajectory.from_any(response)
    assert not isinstance(run.telemetry_source, Telemetry)
    told = run.telemetry
    assert told == Telemetry(("g",), Usage(7, 3, 10, None, None, 1))
    for other in (
        Trajectory.from_any(run.to_dict()),
        pickle.loads(pickle.dumps(Trajectory.from_any(response))),  # noqa: S301 our own
        copy.deepcopy(run),
        Trajectory.from_any(response, unwrap=True),
    ):
        assert other.telemetry == told


def test_a_trace_that_records_nothing_tells_nothing():
    run = Trajectory.from_any([ASKED, SAID])
    assert run.telemetry == Telemetry()
    assert (run.model, run.usage, run.started_at, run.ended_at) == (None, None, None, None)
    assert "usage" not in run.to_dict()


@given(documents, st.sampled_from(sorted(BUILTINS)))
def test_measuring_never_raises(data: Any, name: str):
    measure = getattr(formats.find(name), "measure", None)
    if measure is not None:
        assert all(isinstance(one, Telemetry) for one in measure(data))
