"""Eval sets of Google's Agent Development Kit. The marks: `eval_cases`, `expected_tool_use`.

    {"eval_set_id": "trains", "eval_cases": [
      {"eval_id": "oslo", "conversation": [
        {"invocation_id": "e1",
         "user_content": {"role": "user", "parts": [{"text": "Any trains to Oslo?"}]},
         "intermediate_data": {
           "tool_uses": [{"id": "adk-1", "name": "trains", "args": {"to": "Oslo"}}],
           "tool_responses": [{"id": "adk-1", "name": "trains", "response": {"result": "09:14"}}]},
         "final_response": {"role": "model", "parts": [{"text": "Yes, at 09:14."}]}}]}]}

    [{"query": "Any trains to Oslo?", "reference": "Yes, at 09:14.",
      "expected_tool_use": [{"tool_name": "trains", "tool_input": {"to": "Oslo"}}]}]

    [{"name": "oslo", "data": [{"query": "Any trains to Oslo?", "expected_tool_use": [], …}]}]

Each invocation is a trajectory: the calls and the answer that are expected of it. Names in snake or
camel case; one case alone, one invocation alone. Newer sets keep `invocation_events` in place of
`tool_uses`. A case without a conversation (a scenario) holds none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.formats.gemini_parts import add_content
from trajgrade.glimpse import Glimpse, members
from trajgrade.trajectory import Trajectory

_CASES = ("eval_cases", "evalCases")
_TOOLS = ("expected_tool_use", "expectedToolUse")
_ASKED = ("user_content", "userContent")
_ANSWERED = ("final_response", "finalResponse")
_BETWEEN = ("intermediate_data", "intermediateData")
_KEPT = frozenset({
    "tool_uses", "toolUses", "tool_responses", "toolResponses", "invocation_events",
    "invocationEvents", "intermediate_responses", "intermediateResponses",
})  # fmt: skip


class ADKEvalSet:
    """An eval set; the module shows its schemas, new and old."""

    keys = frozenset({*_CASES, *_ASKED, "conversation", "query", "data"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are cases, a case, or rows with expected tool use."""
        data = seen.data
        if isinstance(data, dict):
            return isinstance(_first(data, *_CASES), list) or _is_case(data) or _is_invocation(data)
        if not isinstance(data, list) or not data:
            return False
        return all(map(_is_old, data)) or all(map(_is_group, data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each invocation."""
        found = [
            _old(item, key, place) if _is_old(item) else _read(item, key, place)
            for item, key, place in _invocations(data)
        ]
        if not found:
            raise MalformedTraceError("no case of the eval set holds a conversation")
        return found


def _first(record: dict[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _is_old(item: Any) -> bool:
    return isinstance(item, dict) and "query" in item and any(key in item for key in _TOOLS)


def _is_group(item: Any) -> bool:
    rows = item.get("data") if isinstance(item, dict) else None
    return isinstance(rows, list) and bool(rows) and all(map(_is_old, rows))


def _is_invocation(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(_first(item, *_ASKED), dict)


def _is_case(item: Any) -> bool:
    turns = item.get("conversation") if isinstance(item, dict) else None
    return isinstance(turns, list) and bool(turns) and all(map(_is_invocation, turns))


def _invocations(data: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield each invocation, its id, and where it stands."""
    if isinstance(data, list):
        for at, item in enumerate(data):
            if not _is_group(item):
                yield item, str(at), f"row {at}"
                continue
            for number, row in enumerate(item["data"]):
                yield row, f"{item.get('name', at)}#{number}", f"set {at}, row {number}"
        return
    record = expect.record(data, "the eval set")
    if _is_invocation(record):
        yield record, str(_first(record, "invocation_id", "invocationId") or 0), "the invocation"
        return
    cases = [record] if _is_case(record) else expect.array(_first(record, *_CASES), "eval_cases")
    for at, item in enumerate(cases):
        case = expect.record(item, f"case {at}")
        name = _first(case, "eval_id", "evalId") or at
        turns = expect.array(case.get("conversation"), f"case {at}, conversation")
        for number, turn in enumerate(turns):
            yield turn, f"{name}#{number}", f"case {at}, invocation {number}"


def _old(row: dict[str, Any], key: str, place: str) -> Trajectory:
    assembly = Assembly("adk_evalset")
    assembly.message("user", expect.text(row.get("query"), f"{place}, query") or "")
    uses = expect.array(_first(row, *_TOOLS), f"{place}, expected_tool_use")
    for at, item in enumerate(uses):
        where = f"{place}, call {at}"
        raw = expect.record(item, where)
        name = expect.name(raw.get("tool_name"), where)
        beside = ("tool_name", "mock_tool_output")
        assembly.call(name, given(raw, "tool_input", f"{where} ({name})", beside))
        mocked = raw.get("mock_tool_output")
        if mocked is not None:
            assembly.result(result_of(mocked, where))
    told = row.get("expected_intermediate_agent_responses")
    if isinstance(told, list) and any("tool_name" in one for one in members([told])):
        assembly.notes.append(f"{place}: a call among the intermediate responses, left out")
    final = expect.text(row.get("reference"), f"{place}, reference")
    if final is not None:
        assembly.message("assistant", final)
    return assembly.trajectory(final=final, id=key)


def _read(item: Any, key: str, place: str) -> Trajectory:
    raw = expect.record(item, place)
    assembly = Assembly("adk_evalset")
    if raw and raw.keys().isdisjoint((*_ASKED, *_BETWEEN, *_ANSWERED)):
        raise MalformedTraceError(f"{place}: no invocation: {shorten(raw)}")
    _content(assembly, "user", _first(raw, *_ASKED), f"{place}, user_content")
    between = expect.record(_first(raw, *_BETWEEN) or {}, f"{place}, intermediate_data")
    if between and _KEPT.isdisjoint(between):
        raise MalformedTraceError(
            f"{place}, intermediate_data: of no known kind: {shorten(between)}"
        )
    uses = _first(between, "tool_uses", "toolUses")
    for at, use in enumerate(expect.array(uses, f"{place}, tool_uses")):
        _part(assembly, {"function_call": use}, f"{place}, call {at}")
    answers = _first(between, "tool_responses", "toolResponses")
    for at, answer in enumerate(expect.array(answers, f"{place}, tool_responses")):
        _part(assembly, {"function_response": answer}, f"{place}, response {at}")
    events = _first(between, "invocation_events", "invocationEvents")
    for at, item_ in enumerate(expect.array(events, f"{place}, invocation_events")):
        event = expect.record(item_, f"{place}, event {at}")
        assembly.agent = expect.text(event.get("author"), f"{place}, event {at}, author")
        _content(assembly, "assistant", event.get("content"), f"{place}, event {at}")
    for told in _first(between, "intermediate_responses", "intermediateResponses") or ():
        if isinstance(told, dict) and "name" in told and "args" in told:
            assembly.notes.append(f"{place}: a call among the intermediate responses, left out")
    assembly.agent = None
    answer = _first(raw, *_ANSWERED)
    _content(assembly, "assistant", answer, f"{place}, final_response")
    return assembly.trajectory(final=_said(answer), id=key)


def _said(content: Any) -> str | None:
    """Return the text of a content that was read; None where it has none."""
    parts = content.get("parts") if isinstance(content, dict) else None
    texts = [
        part if isinstance(part, str) else part.get("text") or ""
        for part in parts or ()
        if isinstance(part, str) or part.get("thought") is not True
    ]
    return "".join(texts) or None


def _content(assembly: Assembly, role: str, content: Any, place: str) -> None:
    if content is None:
        return
    held = expect.record(content, place)
    if "parts" not in held and held.keys() - {"role"}:
        raise MalformedTraceError(f"{place}: no content: it has no parts: {shorten(held)}")
    parts = held.get("parts")
    add_content(assembly, role, expect.array(parts, f"{place}, parts"), place)


def _part(assembly: Assembly, part: dict[str, Any], place: str) -> None:
    add_content(assembly, "assistant", [part], place)


FORMAT = ADKEvalSet()
