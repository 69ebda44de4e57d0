"""Traces of Bedrock agents."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.formats.run_samples import BEDROCK
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def part(step: str = "t-0", collaborator: str | None = None, **held: Any) -> dict[str, Any]:
    inner = {key: {"traceId": step, **value} for key, value in held.items()}
    outer = {"collaboratorName": collaborator} if collaborator else {}
    return {"trace": {**outer, "eventTime": "2026-01-02T03:04:05Z",
                      "trace": {"orchestrationTrace": inner}}}  # fmt: skip


def asks(step: str = "t-0", collaborator: str | None = None, **given: Any) -> dict[str, Any]:
    return part(step, collaborator, invocationInput=given)


def sees(step: str = "t-0", **given: Any) -> dict[str, Any]:
    return part(step, observation=given)


def group(function: str | None = "f", **fields: Any) -> dict[str, Any]:
    return {"actionGroupName": "g", "function": function, "parameters": [], **fields}


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(BEDROCK)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.name, call.args, call.result) == (
        "s1",
        "trains",
        {"to": "Oslo"},
        "09:14",
    )


def test_calls_of_one_kind_that_are_open_together_are_told_apart_by_the_step():
    trajectory = Trajectory.from_any([
        asks("a", actionGroupInvocationInput=group("f")),
        asks("b", actionGroupInvocationInput=group("g")),
        sees("b", actionGroupInvocationOutput={"text": "2"}),
        sees("a", actionGroupInvocationOutput={"text": "1"}),
    ])  # fmt: skip
    assert [(c.name, c.result) for c in trajectory.tool_calls] == [("f", "1"), ("g", "2")]
    assert trajectory.tool_calls[0].started_at is not None


def test_an_operation_of_an_api():
    given = group(None, verb="post", apiPath="/book", requestBody={"content": {"application/json": [
        {"name": "n", "type": "integer", "value": "2"}]}})  # fmt: skip
    (call,) = Trajectory.from_any([asks(actionGroupInvocationInput=given)]).tool_calls
    assert (call.name, call.args) == ("post /book", {"n": "2"})


def test_what_bedrock_runs_is_hosted():
    trajectory = Trajectory.from_any([
        asks(knowledgeBaseLookupInput={"text": "q", "knowledgeBaseId": "k"}),
        sees(knowledgeBaseLookupOutput={"retrievedReferences": [{"content": {"text": "a"}}]}),
        asks(codeInterpreterInvocationInput={"code": "1/0"}),
        sees(codeInterpreterInvocationOutput={"executionError": "ZeroDivisionError"}),
    ])  # fmt: skip
    assert trajectory.tool_calls == ()
    assert [(c.name, c.status) for c in trajectory.hosted_calls] == [
        ("knowledge_base", "unknown"),
        ("code_interpreter", "error"),
    ]


def test_a_collaborator_is_a_call_that_holds_its_own():
    trajectory = Trajectory.from_any([
        asks("a", agentCollaboratorInvocationInput={
            "agentCollaboratorName": "clerk", "input": {"type": "TEXT", "text": "look"}}),
        asks("b", "clerk", actionGroupInvocationInput=group("f")),
        sees("b", actionGroupInvocationOutput={"text": "1"}),
        sees("a", agentCollaboratorInvocationOutput={"output": {"type": "TEXT", "text": "done"}}),
    ])  # fmt: skip
    (call,) = trajectory.tool_calls
    assert (call.name, call.result, [(c.name, c.result) for c in call.children]) == (
        "clerk",
        "done",
        [("f", "1")],
    )


def test_what_the_client_is_to_run_counts_once():
    control = {"returnControl": {"invocationId": "i", "invocationInputs": [
        {"functionInvocationInput": {"actionGroup": "g", "function": "f", "parameters": [
            {"name": "a", "type": "string", "value": "1"}]}}]}}  # fmt: skip
    (call,) = Trajectory.from_any([*BEDROCK[:1], control]).tool_calls
    assert (call.name, call.args, call.id) == ("f", {"a": "1"}, "i")
    traced = asks(
        actionGroupInvocationInput=group(executionType="RETURN_CONTROL", invocationId="i")
    )
    assert len(Trajectory.from_any([traced, control]).tool_calls) == 1


def test_the_chunks_are_the_answer_as_text_or_bytes():
    words = ["Yes, ", "Zürich."]
    texts: list[Any] = [base64.b64encode(word.encode()).decode() for word in words]
    for held in (texts, [word.encode() for word in words]):
        events = [*BEDROCK, *({"chunk": {"bytes": one}} for one in held)]
        assert Trajectory.from_any(events).final_response == "Yes, Zürich."


def test_a_failure_is_noted():
    failed = {"trace": {"trace": {"failureTrace": {"failureReason": "throttled"}}}}
    assert "throttled" in Trajectory.from_any([*BEDROCK, failed]).notes[0]


@pytest.mark.parametrize(
    "event",
    [5, {"chunk": {"bytes": "no base64"}}, {"chunk": 5}, asks(actionGroupInvocationInput={}),
     asks(actionGroupInvocationInput=group(parameters=[{"value": 1}])),
     {"trace": {"trace": {"orchestrationTrace": [1]}}}],
)  # fmt: skip
def test_a_broken_event_is_an_error_that_says_which(event: Any):
    with pytest.raises(MalformedTraceError, match="event 4"):
        Trajectory.from_any([*BEDROCK, event])
