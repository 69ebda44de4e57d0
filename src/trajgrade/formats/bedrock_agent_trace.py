"""Traces of Amazon Bedrock agents (`InvokeAgent`). The mark: parts like `orchestrationTrace`.

    {"request": {"inputText": "Any trains to Oslo?"},
     "events": [
       {"trace": {"sessionId": "s1", "trace": {"orchestrationTrace": {"invocationInput": {
          "invocationType": "ACTION_GROUP", "traceId": "t-0",
          "actionGroupInvocationInput": {"actionGroupName": "travel", "function": "trains",
            "parameters": [{"name": "to", "type": "string", "value": "Oslo"}]}}}}}},
       {"trace": {"sessionId": "s1", "trace": {"orchestrationTrace": {"observation": {
          "type": "ACTION_GROUP", "traceId": "t-0",
          "actionGroupInvocationOutput": {"text": "09:14"}}}}}},
       {"chunk": {"bytes": "WWVzLCBhdCAwOToxNC4="}}]}

Also the list of events alone. Values of parameters stay texts, as Bedrock has them; a call is named
without its action group, an API operation by verb and path. What the client is to run
(`returnControl`) is a call; where the trace tells it too, it counts once. Look-ups in knowledge
bases and the code interpreter are run by Bedrock: hosted calls. A collaborator is a call, which
holds those that it makes. The final response is that of the chunks, else the last `finalResponse`.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import bounded
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_bedrock_agent
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import ToolCall, Trajectory

_PARTS = frozenset({
    "orchestrationTrace", "customOrchestrationTrace", "preProcessingTrace", "postProcessingTrace",
    "routingClassifierTrace", "guardrailTrace", "failureTrace",
})  # fmt: skip
_ACTION, _AGENT = "actionGroupInvocation", "agentCollaboratorInvocation"
_BASE, _CODE = "knowledgeBaseLookup", "codeInterpreterInvocation"
_HOSTED = {_BASE: "knowledge_base", _CODE: "code_interpreter"}
_KINDS = (_ACTION, _AGENT, _BASE, _CODE)


class BedrockAgentTrace:
    """The events of one invocation; the module shows them."""

    keys = frozenset({"events", "trace"})
    measure = staticmethod(of_bedrock_agent)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether an event holds a part of a trace."""
        data = seen.data
        events = data.get("events") if isinstance(data, dict) else data
        return isinstance(events, list) and any(_part(event) for event in events)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one invocation."""
        record = data if isinstance(data, dict) else {"events": data}
        request = record.get("request")
        asked = request.get("inputText") if isinstance(request, dict) else None
        reading = _Reading()
        if asked is not None:
            reading.assembly.message("user", text_of(asked, "request, inputText"))
        for at, event in enumerate(expect.array(record.get("events"), "events")):
            reading.event(expect.record(event, f"event {at}"), f"event {at}")
        return [reading.trajectory()]


def _part(event: Any) -> bool:
    outer = event.get("trace") if isinstance(event, dict) else None
    inner = outer.get("trace") if isinstance(outer, dict) else None
    return isinstance(inner, dict) and not _PARTS.isdisjoint(inner)


class _Reading:
    """What is known of the invocation so far."""

    def __init__(self) -> None:
        self.assembly = Assembly("bedrock_agent_trace")
        self.id: str | None = None
        self._open: list[tuple[str, Any, ToolCall]] = []
        self._returned: dict[str, ToolCall] = {}
        self._chunks: list[str] = []
        self._final: str | None = None

    def trajectory(self) -> Trajectory:
        """Return what was read."""
        final = "".join(self._chunks) if self._chunks else self._final
        if final is not None:
            self.assembly.message("assistant", final)
        return self.assembly.trajectory(final=final, id=self.id)

    def event(self, event: dict[str, Any], place: str) -> None:
        """Read one event of the stream."""
        if event.get("chunk") is not None:
            chunk = expect.record(event["chunk"], f"{place}, chunk")
            self._chunks.append(_decoded(chunk.get("bytes"), place))
        if event.get("returnControl") is not None:
            self._return(expect.record(event["returnControl"], place), f"{place}, returnControl")
        if event.get("trace") is None:
            return
        outer = expect.record(event["trace"], f"{place}, trace")
        self.id = self.id or expect.text(outer.get("sessionId"), f"{place}, sessionId")
        self.assembly.now = instant(outer.get("eventTime"))
        inner = expect.record(outer.get("trace") or {}, f"{place}, trace, trace")
        collaborator = expect.text(outer.get("collaboratorName"), f"{place}, collaboratorName")
        for key, held in inner.items():
            if key not in _PARTS:
                continue
            part = expect.record(held or {}, f"{place}, {key}")
            if key == "failureTrace":
                self.assembly.notes.append(f"{place}: {shorten(part.get('failureReason'))}")
            elif key == "orchestrationTrace":
                self._orchestration(part, collaborator, f"{place}, {key}")

    def _orchestration(self, part: dict[str, Any], agent: str | None, place: str) -> None:
        rationale = part.get("rationale")
        if isinstance(rationale, dict) and agent is None:
            self.assembly.message(
                "assistant", text_of(rationale.get("text"), f"{place}, rationale")
            )
        asked = part.get("invocationInput")
        if asked is not None:
            held = expect.record(asked, f"{place}, invocationInput")
            for kind in _KINDS:
                given = held.get(f"{kind}Input")
                if given is not None:
                    given = expect.record(given, f"{place}, {kind}Input")
                    self._call(kind, given, held.get("traceId"), agent, f"{place}, {kind}Input")
        seen = part.get("observation")
        if seen is not None:
            self._observe(expect.record(seen, f"{place}, observation"), agent, place)

    def _call(
        self, kind: str, given: dict[str, Any], step: Any, agent: str | None, place: str
    ) -> None:
        key = expect.identifier(given.get("invocationId"), f"{place}, invocationId")
        if kind == _ACTION:
            name, args = _operation(given, place)
        elif kind == _AGENT:
            name = expect.name(given.get("agentCollaboratorName"), f"{place}, name")
            args = {"input": result_of(given.get("input"), f"{place}, input")}
        else:
            name, args = _HOSTED[kind], result_of(given, place)
        call = self._added(name, args, key, agent, hosted=kind in _HOSTED)
        self._open.append((kind, step, call))
        if given.get("executionType") == "RETURN_CONTROL" and key is not None:
            self._returned[key] = call

    def _added(
        self, name: str, args: Any, key: str | None, agent: str | None, *, hosted: bool = False
    ) -> ToolCall:
        """Add a call to the run, or to that of the collaborator which makes it."""
        callers = [call for kind, _, call in self._open if kind == _AGENT and call.name == agent]
        if not callers:
            return self.assembly.call(name, args, key, hosted=hosted, agent=agent)
        bounded(args, name)
        inner = ToolCall(name, args, "ok", key, hosted=hosted, agent=agent, turn=callers[-1].turn)
        force_setattr(inner, "started_at", self.assembly.now)
        force_setattr(callers[-1], "children", (*callers[-1].children, inner))
        return inner

    def _return(self, control: dict[str, Any], place: str) -> None:
        key = expect.identifier(control.get("invocationId"), f"{place}, invocationId")
        inputs = expect.array(control.get("invocationInputs"), f"{place}, invocationInputs")
        if key is not None and key in self._returned:
            return  # the trace told it, and tells all of them
        for at, item in enumerate(inputs):
            held = expect.record(item, f"{place}, input {at}")
            given = held.get("functionInvocationInput") or held.get("apiInvocationInput")
            name, args = _operation(expect.record(given, f"{place}, input {at}"), place)
            self._added(name, args, key, None)

    def _observe(self, seen: dict[str, Any], agent: str | None, place: str) -> None:
        final = seen.get("finalResponse")
        if isinstance(final, dict) and agent is None:
            self._final = text_of(final.get("text"), f"{place}, finalResponse")
        reprompt = seen.get("repromptResponse")
        if isinstance(reprompt, dict):
            self.assembly.notes.append(f"{place}: asked again: {shorten(reprompt.get('text'))}")
        for kind in _KINDS:
            held = seen.get(f"{kind}Output")
            if held is None:
                continue
            output = expect.record(held, f"{place}, {kind}Output")
            value, failed = _outcome(kind, output, f"{place}, {kind}Output")
            self._answer(kind, seen.get("traceId"), value, failed, place)

    def _answer(self, kind: str, step: Any, value: Any, failed: bool, place: str) -> None:
        waiting = [entry for entry in self._open if entry[0] == kind]
        entry = next((entry for entry in waiting if entry[1] == step), None)
        if entry is None:
            self.assembly.notes.append(f"{place}: a result that belongs to no call before it")
            return
        self._open.remove(entry)
        force_setattr(entry[2], "result", value)
        force_setattr(entry[2], "status", "error" if failed else entry[2].status)
        force_setattr(entry[2], "ended_at", self.assembly.now)


def _operation(given: dict[str, Any], place: str) -> tuple[str, dict[str, Any]]:
    name = given.get("function")
    if name is None and given.get("apiPath") is not None:
        verb = given.get("verb", given.get("httpMethod"))
        name = " ".join(part for part in (verb, given["apiPath"]) if isinstance(part, str))
    args = _parameters(given.get("parameters"), f"{place}, parameters")
    body = given.get("requestBody")
    content = body.get("content") if isinstance(body, dict) else None
    for held in content.values() if isinstance(content, dict) else ():
        inner = held.get("properties") if isinstance(held, dict) else held
        args.update(_parameters(inner, f"{place}, requestBody"))
    return expect.name(name, f"{place}, function"), args


def _parameters(given: Any, place: str) -> dict[str, Any]:
    records = [expect.record(item, place) for item in expect.array(given, place)]
    return {expect.name(item.get("name"), place): item.get("value") for item in records}


def _outcome(kind: str, output: dict[str, Any], place: str) -> tuple[Any, bool]:
    if kind == _CODE:
        fault = output.get("executionError")
        timeout = output.get("executionTimeout") is True
        value = output.get("executionOutput") or fault
        return result_of(value, place), bool(fault) or timeout
    if kind == _AGENT:
        inner = output.get("output")
        value = inner.get("text", inner) if isinstance(inner, dict) else inner
    else:
        value = output.get("text", output.get("retrievedReferences"))
    return result_of(value, place), False


def _decoded(held: Any, place: str) -> str:
    if isinstance(held, (bytes, bytearray)):
        return bytes(held).decode("utf-8", errors="replace")
    text = expect.text(held, f"{place}, chunk, bytes") or ""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise MalformedTraceError(f"{place}: a chunk that is not base64: {shorten(text)}") from None


FORMAT = BedrockAgentTrace()
