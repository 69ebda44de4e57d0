r"""Saved runs of OpenAI's Agents SDK (`RunState`). The mark: `$schemaVersion`.

    {"$schemaVersion": "1.9", "current_agent": {"name": "guide"},
     "original_input": "Any trains to Oslo?",
     "model_responses": [],
     "generated_items": [
       {"type": "tool_call_item", "agent": {"name": "guide"},
        "raw_item": {"type": "function_call", "call_id": "call_1", "name": "trains",
                     "arguments": "{\"to\": \"Oslo\"}"}},
       {"type": "tool_call_output_item", "agent": {"name": "guide"},
        "raw_item": {"type": "function_call_output", "call_id": "call_1", "output": "09:14"},
        "output": "09:14"},
       {"type": "message_output_item", "agent": {"name": "guide"},
        "raw_item": {"type": "message", "role": "assistant",
                     "content": [{"type": "output_text", "text": "Yes, at 09:14."}]}}]}

Names in snake case (Python) or camel case (JavaScript). The items generated are the run; where the
session kept more of them, those are. A call stands in many places of one state: what the model
responses hold beyond the items is added, and no other place is read. An item that waits for
approval is a call that was not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import force_setattr

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.logged import of_run_state
from trajgrade.formats.response_items import CALLS, HOSTED, add_item
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_APPROVAL = "tool_approval_item"
_ITEMS = ("generated_items", "generatedItems", "session_items", "sessionItems")
_Key = tuple[str, ...]


class OpenAIAgentsRunState:
    """A saved run; the module shows one."""

    keys = frozenset({"$schemaVersion"})
    measure = staticmethod(of_run_state)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object has the schema's version, and items or responses."""
        data = seen.data
        return (
            isinstance(data, dict)
            and "$schemaVersion" in data
            and any(key in data for key in (*_ITEMS, "model_responses", "modelResponses"))
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        state = expect.record(data, "the state")
        assembly = Assembly("openai_agents_run_state")
        _input(assembly, _first(state, "original_input", "originalInput"))
        waiting = _waiting(state)
        made: Counter[_Key] = Counter()
        items = _items(state)
        for at, item in enumerate(items):
            if item.get("type") != _APPROVAL:
                _item(assembly, item, f"item {at}", waiting, made)
        asked: Counter[_Key] = Counter()
        for item, place in _asked(state, items):
            key = _key(item["raw_item"])
            asked[key] += 1
            if asked[key] > made[key]:
                _item(assembly, item, place, waiting, made)
        return [assembly.trajectory(id=_trace_id(state))]


def _first(record: dict[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _input(assembly: Assembly, given: Any) -> None:
    if isinstance(given, str):
        assembly.message("user", given)
        return
    for at, item in enumerate(expect.array(given, "original_input")):
        add_item(assembly, _snake(expect.record(item, f"input {at}")), f"input {at}")


def _items(state: dict[str, Any]) -> list[dict[str, Any]]:
    most: list[Any] = []
    for key in _ITEMS:
        held = expect.array(state.get(key), key)
        most = held if len(held) > len(most) else most
    return [_flat(item, f"item {at}") for at, item in enumerate(most)]


def _flat(item: Any, place: str) -> dict[str, Any]:
    raw = expect.record(item, place)
    held = expect.record(_first(raw, "raw_item", "rawItem") or {}, f"{place}, raw_item")
    return {**raw, "raw_item": _snake(held)}


def _snake(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the item with the names that the API has; the JavaScript SDK writes its own."""
    kind = raw.get("type")
    renamed = {"call_id" if key == "callId" else key: value for key, value in raw.items()}
    if kind == "function_call_result":
        renamed["type"] = "function_call_output"
    elif kind == "hosted_tool_call":
        renamed["type"] = f"{raw.get('name')}".removesuffix("_call") + "_call"
    return renamed


def _key(raw: dict[str, Any]) -> _Key:
    # Whoever approves a call may change its arguments; the id then tells which call it is.
    rest = () if raw.get("call_id") else ("arguments", "input")
    return tuple(str(raw.get(key)) for key in ("type", "call_id", "name", *rest))


def _waiting(state: dict[str, Any]) -> Counter[_Key]:
    step = _first(state, "current_step", "currentStep")
    inner = step.get("data") if isinstance(step, dict) else None
    held = inner.get("interruptions") if isinstance(inner, dict) else None
    items = held if isinstance(held, list) else []
    return Counter(
        _key(_flat(item, f"interruption {at}")["raw_item"]) for at, item in enumerate(items)
    )


def _asked(
    state: dict[str, Any], items: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the calls that may be missing among the items: of the responses, of the approvals."""
    responses = expect.array(_first(state, "model_responses", "modelResponses"), "model_responses")
    told: Counter[_Key] = Counter()
    for at, response in enumerate(responses):
        output = expect.record(response, f"response {at}").get("output")
        for number, raw in enumerate(expect.array(output, f"response {at}, output")):
            place = f"response {at}, item {number}"
            held = _snake(expect.record(raw, place))
            if held.get("type") in (*CALLS, *HOSTED) or (not items and "type" in held):
                told[_key(held)] += 1
                yield {"raw_item": held}, place
    approvals: Counter[_Key] = Counter()
    for at, item in enumerate(items):
        if item.get("type") == _APPROVAL:
            key = _key(item["raw_item"])
            approvals[key] += 1
            if approvals[key] > told[key]:
                yield item, f"item {at}"


def _item(
    assembly: Assembly,
    item: dict[str, Any],
    place: str,
    waiting: Counter[_Key],
    made: Counter[_Key],
) -> None:
    raw = item["raw_item"]
    agent = _first(item, "agent", "source_agent", "sourceAgent")
    name = agent.get("name") if isinstance(agent, dict) else None
    key = _key(raw)
    made[key] += 1
    if not raw:
        assembly.notes.append(f"{place}: an item without raw_item is not read")
        return
    # The SDK's own value is the object that the tool returned; the API's is its text.
    assembly.agent = name if isinstance(name, str) else None
    call = add_item(assembly, raw, place)
    if waiting[key] and call is not None:
        waiting[key] -= 1
        force_setattr(call, "status", "not_run")


def _trace_id(state: dict[str, Any]) -> str | None:
    trace = state.get("trace")
    key = trace.get("id") if isinstance(trace, dict) else None
    return key if isinstance(key, str) else None


FORMAT = OpenAIAgentsRunState()
