"""The parts of a Gemini content → text, calls, results.

    {"text": "Let me look."}
    {"functionCall": {"name": "trains", "args": {"to": "Oslo"}}}
    {"functionResponse": {"name": "trains", "response": {"output": "09:14"}}}

Names in camel or snake case. A response that holds an `error` and no `output` says that the call
failed. `executableCode` is run by Google: a hosted call. Parts marked as `thought` are no text.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import SPELLINGS, given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.trajectory import CallStatus

_CALL = ("functionCall", "function_call")
_ANSWERED = ("functionResponse", "function_response")
_RESPONSE = frozenset(_ANSWERED)
_CODE = ("executableCode", "executable_code")
_OUTCOME = ("codeExecutionResult", "code_execution_result")
MARKS = (
    "text", *_CALL, *_ANSWERED, *_CODE, *_OUTCOME,
    "inlineData", "inline_data", "fileData", "file_data",
)  # fmt: skip
_OTHERS = SPELLINGS - {"args"}
_SPOKEN = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})
_KNOWN = frozenset({*MARKS, "thought", "thoughtSignature", "thought_signature", "videoMetadata"})


def add_content(assembly: Assembly, role: str, parts: list[Any], place: str) -> None:
    """Add one content: its results, then its text, then its calls.

    Args:
        assembly: What is being put together.
        role: `user`, `assistant` or `system`.
        parts: Its parts; a bare text is one.
        place: Where it stands, for a message.

    Raises:
        MalformedTraceError: A part breaks the rules.
    """
    others: list[dict[str, Any]] = []
    texts: list[str] = []
    for at, part in enumerate(parts):
        raw = part if type(part) is dict else _record(part, f"{place}, part {at}")
        if not _RESPONSE.isdisjoint(raw):
            response = _first(raw, _ANSWERED)
            if response is not None:
                _response(assembly, expect.record(response, place), place)
                continue
        elif raw and _KNOWN.isdisjoint(raw):
            assembly.notes.append(f"{place}, part {at}: of no known kind: {shorten(raw)}")
        others.append(raw)
        text = raw.get("text")
        if text is not None and raw.get("thought") is not True:
            texts.append(text if type(text) is str else expect.text(text, f"{place}, text") or "")
    if others or not parts:
        assembly.message(role, "".join(texts))
    for raw in others:
        if not raw.keys() <= _SPOKEN:
            _call(assembly, raw, place)


def _record(part: Any, place: str) -> dict[str, Any]:
    return {"text": part} if isinstance(part, str) else expect.record(part, place)


def _first(raw: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        found = raw.get(key)
        if found is not None:
            return found
    return None


def _call(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    call = _first(raw, _CALL)
    if call is not None:
        # Where all is as it nearly always is, no place is written out for a message.
        record = call if type(call) is dict else expect.record(call, f"{place}, functionCall")
        name, key = record.get("name"), record.get("id")
        if type(name) is not str or not name:
            name = expect.name(name, f"{place}, functionCall")
        if key is not None and type(key) is not str:
            key = expect.identifier(key, f"{place}, functionCall, id")
        if "args" in record and _OTHERS.isdisjoint(record):
            args = record["args"]
        else:
            args = given(record, "args", f"{place}, functionCall ({name})")
        assembly.call(name, args, key)
        return
    code, outcome = _first(raw, _CODE), _first(raw, _OUTCOME)
    if code is not None:
        args = expect.record(code, place)
        assembly.call("code_execution", args, hosted=True)
    elif outcome is not None:
        record = expect.record(outcome, place)
        failed = "OK" not in str(record.get("outcome", "OK"))
        assembly.result(
            result_of(record.get("output"), place),
            None,
            "code_execution",
            status="error" if failed else "ok",
            step=False,
        )


def _response(assembly: Assembly, record: dict[str, Any], place: str) -> None:
    name, key, value = record.get("name"), record.get("id"), record.get("response")
    if type(name) is not str:
        name = expect.text(name, f"{place}, functionResponse")
    if key is not None and type(key) is not str:
        key = expect.identifier(key, f"{place}, functionResponse, id")
    failed = isinstance(value, dict) and bool(value.get("error")) and "output" not in value
    status: CallStatus = "error" if failed else "unknown"
    assembly.result(result_of(value, place), key, name, status=status)
