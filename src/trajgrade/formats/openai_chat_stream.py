r"""A stream of OpenAI's chat API. The mark: `choices` with a `delta`.

    [{"id": "c1", "object": "chat.completion.chunk", "model": "gpt-4.1", "choices": [
       {"index": 0, "delta": {"role": "assistant", "content": "Let me look. "}}]},
     {"id": "c1", "object": "chat.completion.chunk", "choices": [
       {"index": 0, "delta": {"tool_calls": [
         {"index": 0, "id": "call_1",
          "function": {"name": "trains", "arguments": "{\"to\": "}}]}}]},
     {"id": "c1", "object": "chat.completion.chunk", "choices": [
       {"index": 0, "delta": {"tool_calls": [
         {"index": 0, "function": {"arguments": "\"Oslo\"}"}}]}}]},
     {"id": "c1", "object": "chat.completion.chunk", "choices": [
       {"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
      "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}}]

    data: {"id": "c1", "object": "chat.completion.chunk", "choices": […]}        as it is sent

Also one chunk on each line, and the text of server-sent events with its `data: [DONE]`. The pieces
of a call are those of one `index`. Each choice is a trajectory of one message; where chunks of
several responses follow each other, each response is a message.
"""

from __future__ import annotations

from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_origins import is_stream
from trajgrade.formats.metering import measured
from trajgrade.formats.recorded import response_of
from trajgrade.glimpse import Glimpse
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import Trajectory

_PREFIX = "data:"
_DONE = "[DONE]"
_BESIDE = ("event:", "id:", "retry:", ":")
_Pieces = dict[int, dict[str, Any]]
_Messages = dict[tuple[str, int], tuple[list[str], _Pieces]]


class OpenAIChatStream:
    """A stream of chunks; the module shows one."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is chunks, or the text of events that hold them."""
        data = seen.data
        if isinstance(data, str):
            return is_stream(data)
        chunks = data if isinstance(data, list) else [data]
        return bool(chunks) and any(map(_has_delta, chunks)) and all(map(_is_chunk, chunks))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each choice."""
        messages: _Messages = {}
        for at, item in enumerate(_chunks(data)):
            _chunk(messages, expect.record(item, f"chunk {at}"), f"chunk {at}")
        if not messages:
            raise MalformedTraceError("no chunk holds a choice with a delta")
        runs: dict[int, Assembly] = {}
        for (_, choice), (texts, pieces) in messages.items():
            assembly = runs.setdefault(choice, Assembly("openai_chat_stream"))
            assembly.message("assistant", "".join(texts))
            for number in sorted(pieces):
                piece = pieces[number]
                name = expect.name("".join(piece["name"]), f"call {number}")
                assembly.call(name, "".join(piece["arguments"]), piece["id"])
        key = next(iter(messages))[0] or None
        return [assembly.trajectory(id=key) for assembly in runs.values()]

    def measure(self, data: Any) -> list[Telemetry]:
        """Read the usage, which the last chunk of a response tells."""
        try:
            chunks = [chunk for chunk in _chunks(data) if isinstance(chunk, dict)]
        except MalformedTraceError:
            return []
        whole: dict[Any, dict[str, Any]] = {}
        for chunk in chunks:
            told = {key: value for key, value in chunk.items() if value is not None}
            key = chunk.get("id") if isinstance(chunk.get("id"), str) else ""
            whole[key] = {**whole.get(key, {}), **told}
        return [measured(map(response_of, whole.values()))]


def _chunks(data: Any) -> list[Any]:
    if not isinstance(data, str):
        return data if isinstance(data, list) else [data]
    found = []
    for number, raw in enumerate(data.lstrip("\ufeff").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(_BESIDE):
            continue
        text = line.removeprefix(_PREFIX).strip()
        if text == _DONE:
            continue
        try:
            found.append(jsontext.loads(text))
        except ValueError as broken:
            raise MalformedTraceError(
                f"line {number}: no JSON ({broken}): {shorten(raw)}"
            ) from None
    return found


def _is_chunk(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("choices"), list):
        return False
    return all(isinstance(one, dict) and "message" not in one for one in item["choices"])


def _has_delta(item: Any) -> bool:
    choices = item.get("choices") if isinstance(item, dict) else None
    return isinstance(choices, list) and any(
        isinstance(one, dict) and isinstance(one.get("delta"), dict) for one in choices
    )


def _chunk(messages: _Messages, chunk: dict[str, Any], place: str) -> None:
    key = expect.identifier(chunk.get("id"), f"{place}, id") or ""
    for at, item in enumerate(expect.array(chunk.get("choices"), f"{place}, choices")):
        choice = expect.record(item, f"{place}, choice {at}")
        index = _index(choice.get("index", at), f"{place}, choice {at}")
        delta = choice.get("delta")
        if delta is None:
            continue
        texts, pieces = messages.setdefault((key, index), ([], {}))
        raw = expect.record(delta, f"{place}, delta")
        for name in ("content", "refusal"):
            texts.append(expect.text(raw.get(name), f"{place}, {name}") or "")
        calls = expect.array(raw.get("tool_calls"), f"{place}, tool_calls")
        if raw.get("function_call") is not None:
            calls = [*calls, {"index": 0, "function": raw["function_call"]}]
        for number, call in enumerate(calls):
            _piece(pieces, expect.record(call, f"{place}, call {number}"), number, place)


def _piece(pieces: _Pieces, call: dict[str, Any], number: int, place: str) -> None:
    index = _index(call.get("index", number), f"{place}, call {number}")
    held = pieces.setdefault(index, {"id": None, "name": [], "arguments": []})
    held["id"] = held["id"] or expect.identifier(call.get("id"), f"{place}, id") or None
    function = call.get("function")
    told = expect.record({} if function is None else function, f"{place}, call {number}")
    for name in ("name", "arguments"):
        held[name].append(expect.text(told.get(name), f"{place}, {name}") or "")


def _index(value: Any, place: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise MalformedTraceError(f"{place}: expected an index, found {shorten(value)}")


FORMAT = OpenAIChatStream()
