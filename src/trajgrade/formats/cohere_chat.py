r"""Cohere's chat API. The marks: `tool_plan`, `citations` with sources; `chat_history` (version 1).

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "tool_plan": "I will look.", "tool_calls": [
        {"id": "trains_0", "type": "function",
         "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]},
      {"role": "tool", "tool_call_id": "trains_0", "content": "09:14"},
      {"role": "assistant", "content": [{"type": "text", "text": "Yes, at 09:14."}],
       "citations": [{"start": 8, "end": 13, "text": "09:14",
                      "sources": [{"type": "tool", "id": "trains_0:0"}]}]}
    ]

    {"chat_history": [
       {"role": "USER", "message": "Any trains to Oslo?"},
       {"role": "CHATBOT", "message": "I will look.",
        "tool_calls": [{"name": "trains", "parameters": {"to": "Oslo"}}]},
       {"role": "TOOL", "tool_results": [
         {"call": {"name": "trains", "parameters": {"to": "Oslo"}},
          "outputs": [{"answer": "09:14"}]}]},
       {"role": "CHATBOT", "message": "Yes, at 09:14."}]}

Version 2 is a dialect of OpenAI's chat; also as the list under `messages`, and the response with
its one `message`. In version 1 the response stands beside the history, under `text` and
`tool_calls`; results name their call. A plan is no text of the answer.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import conversation
from trajgrade.formats.chat_origins import origin_of
from trajgrade.formats.content import result_of
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}


class CohereChat:
    """Cohere's chat API; the module shows its shapes."""

    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data bears Cohere's mark."""
        return origin_of(seen) == "cohere_chat" or _is_first(seen.data)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        if _is_first(data):
            return [_first(data)]
        if isinstance(data, dict) and isinstance(data.get("message"), dict):
            data = {"messages": [data["message"]], "id": data.get("id")}
        return [conversation(data, "cohere_chat")]


def _is_first(data: Any) -> bool:
    history = data.get("chat_history") if isinstance(data, dict) else None
    return isinstance(history, list) and any(
        isinstance(item, dict)
        and isinstance(item.get("role"), str)
        and item["role"] in _ROLES
        and ("message" in item or "tool_results" in item)
        for item in history
    )


def _first(data: dict[str, Any]) -> Trajectory:
    assembly = Assembly("cohere_chat")
    for at, item in enumerate(data["chat_history"]):
        place = f"message {at}"
        _message(assembly, expect.record(item, place), place)
    if data.get("message"):
        asked = expect.text(data["message"], "message")
        assembly.message("user", asked or "")
    _results(assembly, data, "tool_results")
    if data.get("text") is not None or data.get("tool_calls"):
        assembly.message("assistant", expect.text(data.get("text"), "text") or "")
        _calls(assembly, data, "tool_calls")
    key = data.get("generation_id")
    return assembly.trajectory(id=key if isinstance(key, str) else None)


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(_ROLES)}"
        )
    if role != "TOOL":
        text = expect.text(raw.get("message"), f"{place}, message")
        assembly.message(_ROLES[role], text or "")
        _calls(assembly, raw, f"{place}, tool_calls")
    _results(assembly, raw, f"{place}, tool_results")


def _calls(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    for at, item in enumerate(expect.array(raw.get("tool_calls"), place)):
        call = expect.record(item, f"{place} {at}")
        name = expect.name(call.get("name"), f"{place} {at}, name")
        assembly.call(name, given(call, "parameters", f"{place} {at} ({name})"))


def _results(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    for at, item in enumerate(expect.array(raw.get("tool_results"), place)):
        result = expect.record(item, f"{place} {at}")
        call = expect.record(result.get("call"), f"{place} {at}, call")
        name = expect.text(call.get("name"), f"{place} {at}, name")
        assembly.result(result_of(result.get("outputs"), place), None, name)


FORMAT = CohereChat()
