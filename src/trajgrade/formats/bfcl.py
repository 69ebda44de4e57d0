r"""The Berkeley Function-Calling Leaderboard. The marks: `ground_truth`, `question`, `result`.

    {"id": "multi_turn_base_0",
     "ground_truth": [["trains(to='Oslo')", "sort('times')"], ["book(train=914)"]]}

    {"id": "multi_turn_base_0", "question": [[{"role": "user", "content": "Trains?"}]], …}
    {"id": "simple_0", "ground_truth": [{"trains": {"to": ["Oslo", "OSL"], "via": ["", "Lund"]}}]}
    {"id": "simple_0", "result": "[trains(to='Oslo')]"}       written by the model
    {"id": "simple_0", "result": [{"trains": "{\"to\": \"Oslo\"}"}]}       called by the model

One record is one trajectory, a list of records one for each. The calls of an answer are those
expected; of several acceptable values the first is read, and the others are noted. Positional
arguments of Python stand as a list under `__positional__`. A question alone has no calls. There is
no final response.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import ROLES
from trajgrade.formats.content import text_of
from trajgrade.formats.logged import of_bfcl
from trajgrade.formats.python_calls import calls_in
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class BFCL:
    """The leaderboard's records; the module shows them."""

    keys = frozenset({"ground_truth", "question", "result"})
    measure = staticmethod(of_bfcl)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is a record, or a list of records."""
        data = seen.data
        if isinstance(data, list):
            return bool(data) and all(map(_is_record, data))
        return _is_record(data)

    def read(self, data: Any) -> list[Trajectory]:
        """Read each record."""
        if not isinstance(data, list):
            return [_read(data, "the record")]
        return [_read(record, f"record {at}") for at, record in enumerate(data)]


def _is_record(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        return False
    truth, question, result = (data.get(key) for key in ("ground_truth", "question", "result"))
    if isinstance(truth, list) and truth:
        return all(map(_is_expected, truth))
    if isinstance(question, list) and question:
        return all(isinstance(turn, list) and all(map(_is_message, turn)) for turn in question)
    return "result" in data and data.keys() <= _BESIDE and isinstance(result, (str, list))


_BESIDE = frozenset({
    "id", "result", "input_token_count", "output_token_count", "latency", "inference_log",
    "reasoning_content", "traceback", "category",
})  # fmt: skip


def _is_expected(item: Any) -> bool:
    if isinstance(item, list):
        return all(isinstance(call, str) for call in item)
    return isinstance(item, dict) and len(item) == 1 and isinstance(next(iter(item.values())), dict)


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("role"), str) and "content" in item


def _read(data: Any, place: str) -> Trajectory:
    record = expect.record(data, place)
    key = expect.identifier(record.get("id"), f"{place}, id")
    assembly = Assembly("bfcl")
    turns = expect.array(record.get("question"), f"{place}, question")
    if "ground_truth" in record:
        held = expect.array(record["ground_truth"], f"{place}, ground_truth")
    elif "result" in record:
        held = record["result"] if isinstance(record["result"], list) else [record["result"]]
    elif "question" in record:
        held = []
    else:
        raise MalformedTraceError(f"{place}: no ground_truth, result or question")
    several = bool(held) and all(isinstance(turn, list) for turn in held)
    groups = held if several else [held] if held else []
    for at in range(max(len(turns), len(groups))):
        for message in expect.array(turns[at], f"{place}, turn {at}") if at < len(turns) else ():
            _ask(assembly, message, f"{place}, turn {at}")
        if at < len(groups):
            assembly.turn = at if several or turns else None
            assembly.message("assistant")
            _calls(assembly, groups[at], f"{place}, turn {at}")
    return assembly.trajectory(final=None, id=key)


def _ask(assembly: Assembly, message: Any, place: str) -> None:
    raw = expect.record(message, place)
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise MalformedTraceError(f"{place}: the role is {shorten(role)}")
    role = ROLES[role]
    assembly.message(
        "system" if role == "developer" else "tool" if role == "function" else role,
        text_of(raw.get("content"), place),
    )


def _calls(assembly: Assembly, held: Any, place: str) -> None:
    if isinstance(held, list):
        for item in held:
            _calls(assembly, item, place)
    elif isinstance(held, str):
        found = calls_in(held, assembly.notes)
        if found is None:
            assembly.notes.append(f"{place}: a text that writes no call: {shorten(held)}")
        for name, args, state in found or ():
            assembly.call(name, args, state=state)
    else:
        for name, args in expect.record(held, place).items():
            _call(assembly, expect.name(name, place), args, place)


def _call(assembly: Assembly, name: str, args: Any, place: str) -> None:
    choices = isinstance(args, dict) and all(isinstance(value, list) for value in args.values())
    if not choices or not args:
        assembly.call(name, args)
        return
    first = {key: values[0] for key, values in args.items() if values and values[0] != ""}
    if any(len(values) != 1 for values in args.values()):
        assembly.notes.append(
            f"{place}, {name}: of several acceptable values the first is read: {shorten(args)}"
        )
    assembly.call(name, first)


FORMAT = BFCL()
