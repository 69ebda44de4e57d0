"""Inspect's evaluation logs (JSON). The marks: `eval` beside `samples`; a sample with `epoch`.

    {"version": 2, "status": "success", "eval": {"task": "trains", "model": "openai/gpt-4o"},
     "samples": [
       {"id": 1, "epoch": 1, "input": "Any trains to Oslo?", "target": "09:14",
        "messages": [
          {"role": "user", "content": "Any trains to Oslo?"},
          {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "function": "trains", "arguments": {"to": "Oslo"}}]},
          {"role": "tool", "tool_call_id": "call_1", "function": "trains", "content": "09:14"},
          {"role": "assistant", "content": "Yes, at 09:14."}]}]}

Each sample is a trajectory. `events` repeat the calls of `messages` and are not read. A message by
a tool with an `error` says that the call failed. Arguments that Inspect could not parse
(`parse_error`) are unknown but for what it kept. `tool_use` blocks are tools that the provider ran:
hosted calls. Long texts stand under `attachments`, and are put back.
"""

from __future__ import annotations

import re
from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.logged import of_inspect
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_ROLES = frozenset({"system", "user", "assistant", "tool"})
_ATTACHED = re.compile(r"attachment://(\w+)")
_BESIDE = frozenset({
    "function", "view", "internal", "parse_error", "tool_type", "context", "progress",
})  # fmt: skip
_LEVELS = 20


class InspectEvalLog:
    """Inspect's logs; the module shows one."""

    keys = frozenset({"eval", "epoch"})
    measure = staticmethod(of_inspect)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is a log, or a sample of one."""
        data = seen.data
        if not isinstance(data, dict):
            return False
        if isinstance(data.get("eval"), dict) and "version" in data:
            return "samples" in data or "plan" in data
        return _is_sample(data)

    def read(self, data: Any) -> list[Trajectory]:
        """Read each sample."""
        record = expect.record(data, "the log")
        if _is_sample(record):
            return [_sample(record, "the sample")]
        samples = expect.array(record.get("samples"), "samples")
        if not samples:
            raise MalformedTraceError(
                "the log holds no samples: it was written without them (log_samples), "
                "or read with its header only"
            )
        return [
            _sample(expect.record(sample, f"sample {at}"), f"sample {at}")
            for at, sample in enumerate(samples)
        ]


def _is_sample(data: dict[str, Any]) -> bool:
    return "epoch" in data and "target" in data and isinstance(data.get("messages"), list)


def _sample(sample: dict[str, Any], place: str) -> Trajectory:
    assembly = Assembly("inspect_eval_log")
    attached = sample.get("attachments")
    for at, item in enumerate(expect.array(sample.get("messages"), f"{place}, messages")):
        where = f"{place}, message {at}"
        raw = expect.record(item, where)
        _message(assembly, _whole(raw, attached) if attached else raw, where)
    name = expect.identifier(sample.get("id"), f"{place}, id")
    epoch = expect.identifier(sample.get("epoch"), f"{place}, epoch")
    key = "/".join(part for part in (name, epoch) if part is not None)
    error = sample.get("error")
    notes = [f"the sample ended with an error: {shorten(error)}"] if error else []
    return assembly.trajectory(id=key or None, notes=notes)


def _whole(value: Any, attached: Any, levels: int = _LEVELS) -> Any:
    """Return the value with the texts that it refers to in place."""
    if not isinstance(attached, dict) or not levels:
        return value
    if isinstance(value, str):
        return _ATTACHED.sub(
            lambda found: text if isinstance(text := attached.get(found[1]), str) else found[0],
            value,
        )
    if isinstance(value, dict):
        return {key: _whole(item, attached, levels - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item, attached, levels - 1) for item in value]
    return value


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
        )
    content = raw.get("content")
    if role == "tool":
        failed = raw.get("error", raw.get("tool_error")) is not None
        assembly.result(
            result_of(content, place),
            expect.identifier(raw.get("tool_call_id"), f"{place}, tool_call_id"),
            expect.text(raw.get("function"), f"{place}, function"),
            status="error" if failed else "ok",
        )
        return
    assembly.message(role, text_of(content, place))
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            _hosted(assembly, block, place)
    for at, item in enumerate(expect.array(raw.get("tool_calls"), f"{place}, tool_calls")):
        _call(assembly, expect.record(item, f"{place}, call {at}"), f"{place}, call {at}")


def _call(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    name = expect.name(raw.get("function"), f"{place}, function")
    key = expect.identifier(raw.get("id"), f"{place}, id")
    args = given(raw, "arguments", f"{place} ({name})", _BESIDE)
    if raw.get("parse_error") is None:
        assembly.call(name, args, key)
        return
    why = shorten(raw["parse_error"])
    assembly.notes.append(f"{assembly.place(name)}: its arguments are not JSON ({why})")
    assembly.call(name, result_of(args, place), key, state="unparseable" if args else "unknown")


def _hosted(assembly: Assembly, block: dict[str, Any], place: str) -> None:
    name = expect.name(block.get("name") or block.get("tool_type"), f"{place}, tool_use")
    key = expect.identifier(block.get("id"), f"{place}, id")
    failed: CallStatus = "error" if block.get("error") else "unknown"
    args = given(block, "arguments", f"{place}, tool_use ({name})", _BESIDE)
    assembly.call(name, args, key, hosted=True, status=failed)
    if block.get("result") is not None:
        assembly.result(result_of(block["result"], place), key, name, step=False)


FORMAT = InspectEvalLog()
