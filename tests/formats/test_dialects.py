"""Dialects of chat: Cohere, Mistral, Bedrock Converse; requests with their responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.formats.session_samples import (
    ANSWER,
    BLOCKS,
    COHERE,
    COHERE_1,
    CONVERSE,
    MISTRAL,
    OPENAI,
    exchanges,
)
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError, UnknownTraceError


def asking(*keys: str) -> dict[str, Any]:
    calls = [{"id": key, "function": {"name": "f", "arguments": "{}"}} for key in keys]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(key: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": key}


USER = {"role": "user", "content": "Hi"}
LAST = {"role": "assistant", "content": "Done."}


def test_every_request_repeats_what_came_before_and_the_last_counts():
    log = exchanges([USER, asking("a"), answered("a"), asking("b"), answered("b"), LAST], "gpt")
    assert len(log) == 3
    (trajectory,) = read_traces(log)
    assert [(c.id, c.result) for c in trajectory.tool_calls] == [("a", "a"), ("b", "b")]
    assert (trajectory.format, trajectory.final_response) == ("openai_chat", "Done.")
    assert trajectory.notes == ()


def test_a_call_that_the_client_dropped_is_noted():
    log = exchanges([USER, asking("a"), answered("a"), LAST], "gpt")
    log[0]["response"]["choices"][0]["message"] = asking("a", "lost")
    (trajectory,) = read_traces(log)
    assert [c.id for c in trajectory.tool_calls] == ["a"]
    assert "'lost'" in trajectory.notes[0]


def test_a_log_that_ends_with_an_error_holds_the_last_request():
    log = exchanges([USER, asking("a"), answered("a"), LAST], "gpt")
    log[-1]["response"] = {"error": {"message": "overloaded"}}
    (trajectory,) = read_traces(log)
    assert [c.result for c in trajectory.tool_calls] == ["a"]
    assert trajectory.final_response is None


@pytest.mark.parametrize("model", ["gpt-4.1", "mistral-large-latest"])
def test_a_file_of_exchanges_is_one_trajectory(model: str, tmp_path: Path):
    path = tmp_path / "log.jsonl"
    log = exchanges(OPENAI, model)
    path.write_bytes(b"\n\n".join(map(msgspec.json.encode, log)))
    name = "mistral_chat" if model.startswith("mistral") else "openai_chat"
    for named in (None, name):
        (trajectory,) = read_traces(path, named)
        assert (trajectory.format, len(trajectory.tool_calls)) == (name, 1)


def test_exchanges_whose_responses_are_of_no_known_shape_are_nobodys():
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any({"request": {"messages": [USER]}, "response": {"text": "Hi"}})


def test_exchanges_with_anthropic_lose_no_call():
    log = [
        {
            "request": {"messages": BLOCKS[:1]},
            "response": {"type": "message", "stop_reason": "tool_use", **BLOCKS[1]},
        }
    ]
    trajectory = Trajectory.from_any(log)
    assert [c.name for c in trajectory.tool_calls] == ["trains"]
    assert trajectory.format == "anthropic_messages"


def test_mistral_is_told_by_its_models_and_its_prefix():
    plain = [{k: v for k, v in m.items() if k != "prefix"} for m in MISTRAL]
    assert Trajectory.from_any(plain).format == "openai_chat"
    assert Trajectory.from_any({"model": "gpt-4.1", "messages": plain}).format == "openai_chat"
    named = Trajectory.from_any({"model": "codestral-latest", "messages": plain})
    assert named.format == "mistral_chat"
    (call,) = Trajectory.from_any(MISTRAL).tool_calls
    assert (call.id, call.result) == ("KikbB849t", "09:14")


def test_coheres_plan_is_no_answer_and_documents_are_a_result():
    trajectory = Trajectory.from_any(COHERE)
    (call,) = trajectory.tool_calls
    assert call.result == [{"type": "document", "document": {"data": "09:14"}}]
    assert [step.content for step in trajectory.steps][-1] == ANSWER
    assert Trajectory.from_any(COHERE[:2]).final_response is None


def test_citations_without_sources_are_not_coheres():
    other = [USER, {**LAST, "citations": [{"url": "https://example.org"}]}]
    assert Trajectory.from_any(other).format == "chat"


def test_coheres_first_version():
    trajectory = Trajectory.from_any(COHERE_1)
    (call,) = trajectory.tool_calls
    assert (call.result, call.turn) == ([{"answer": "09:14"}], 0)
    assert trajectory.id == "g1"
    more = {**COHERE_1, "text": "", "tool_calls": [{"name": "g", "parameters": {}}]}
    assert [c.name for c in Trajectory.from_any(more).tool_calls] == ["trains", "g"]
    asked = {"chat_history": COHERE_1["chat_history"], "message": "And back?"}
    assert Trajectory.from_any(asked).steps[-1].role == "user"


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ({"role": "WIZARD"}, "message 1"),
        ({"role": "CHATBOT", "tool_calls": [{"name": ""}]}, "message 1, tool_calls 0, name"),
        ({"role": "TOOL", "tool_results": [{"call": 5}]}, "message 1, tool_results 0, call"),
        ({"role": "USER", "message": 5}, "message 1, message"),
    ],
)
def test_what_is_broken_in_coheres_history_is_named(broken: Any, place: str):
    history = [{"role": "USER", "message": "Hi"}, broken]
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any({"chat_history": history})


def use(key: str, **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": key, "name": "f", "input": {"x": key}, **more}}


def result(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": key, "content": content, **more}}


def test_parallel_calls_of_bedrock_and_their_results():
    trajectory = Trajectory.from_any(
        [
            {"role": "assistant", "content": [{"text": "Both."}, use("a"), use("b")]},
            {
                "role": "user",
                "content": [
                    result("b", [{"json": {"n": 1}}], status="success"),
                    result("a", [{"text": "no"}], status="error"),
                ],
            },
        ]
    )
    assert [(c.result, c.status) for c in trajectory.tool_calls] == [
        ("no", "error"),
        ({"n": 1}, "ok"),
    ]
    assert [step.role for step in trajectory.steps] == ["assistant", "tool", "tool"]
    assert Trajectory.from_any(CONVERSE).tool_calls[0].turn == 0


def test_what_bedrock_runs_itself_is_hosted():
    content = [use("a", type="server_tool_use"), result("a", [{"text": "x"}]), {"text": "Done."}]
    trajectory = Trajectory.from_any([{"role": "assistant", "content": content}])
    assert trajectory.tool_calls == ()
    assert [(c.name, c.result) for c in trajectory.hosted_calls] == [("f", "x")]


def test_a_request_and_its_response_of_bedrock():
    whole = {"messages": CONVERSE[:3], "output": {"message": CONVERSE[3]}, "stopReason": "end_turn"}
    trajectory = Trajectory.from_any(whole)
    assert len(trajectory.tool_calls) == 1
    assert trajectory.final_response == ANSWER


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ([use("a", name="")], "message 1, toolUse, name"),
        ([{"toolUse": 5}], "message 1, toolUse"),
        ([5], "message 1, block 0"),
        (5, "message 1, content"),
        ([{"toolUse": {"name": "f", "toolUseId": []}}], "message 1, toolUseId"),
    ],
)
def test_what_is_broken_in_bedrocks_messages_is_named(content: Any, place: str):
    first = {"role": "assistant", "content": [use("z")]}
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any([first, {"role": "assistant", "content": content}])
