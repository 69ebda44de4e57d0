"""Gemini's `contents`. The mark: `parts` that hold `text`, `functionCall`, `functionResponse`, ….

    {"contents": [
      {"role": "user", "parts": [{"text": "Any trains to Oslo?"}]},
      {"role": "model", "parts": [{"functionCall": {"name": "trains", "args": {"to": "Oslo"}}}]},
      {"role": "user", "parts": [
        {"functionResponse": {"name": "trains", "response": {"output": "09:14"}}}]},
      {"role": "model", "parts": [{"text": "Yes, at 09:14."}]}
    ]}

Also the list alone, one content alone, and the response of the API,
`{"candidates": [{"content": {…}}]}`, one trajectory for each candidate; names in camel or snake
case. Calls often have no id: a response belongs to the first call of its name that has none yet. A
response that holds an `error` and no `output` says that the call failed. `executableCode` is run by
Google: a hosted call, `code_execution`. Parts marked as `thought` are no text.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.gemini_parts import MARKS, add_content
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_FOREIGN = frozenset({"type", "kind", "part_kind"})
_MARKS = frozenset(MARKS)
_ROLES = {"user": "user", "model": "assistant", "function": "user", "system": "system"}


class GeminiContents:
    """Gemini's contents; the module shows their shape."""

    keys = frozenset({"contents", "candidates", "parts"})
    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are contents, and each has `parts` with Gemini's keys."""
        contents = [content for contents in _conversations(seen.data) for content in contents]
        return bool(contents) and all(map(_is_content, contents))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the conversation, or one for each candidate of a response."""
        return [_read(contents) for contents in _conversations(data)]


def _conversations(data: Any) -> list[list[Any]]:
    if isinstance(data, list):
        return [data]
    if not isinstance(data, dict):
        return []
    contents = data.get("contents")
    before = contents if isinstance(contents, list) else [] if contents is None else [contents]
    candidates = data.get("candidates")
    if isinstance(candidates, list):
        answers = [
            candidate["content"]
            for candidate in candidates
            if isinstance(candidate, dict) and isinstance(candidate.get("content"), dict)
        ]
        if answers:
            return [[*before, {"role": "model", **_given(answer)}] for answer in answers]
    return [before] if contents is not None else [[data]]


def _given(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value is not None}


def _is_content(content: Any) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
        return False
    if "content" in content or "type" in content:
        return False
    return all(map(_is_part, content["parts"])) and (
        bool(content["parts"]) or content.get("role") == "model"
    )


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return isinstance(part, str)
    marked = False
    for key, value in part.items():
        if value is None:
            continue
        if key in _FOREIGN:
            return False
        marked = marked or key in _MARKS
    return marked


def _read(contents: list[Any]) -> Trajectory:
    assembly = Assembly("gemini_contents")
    for at, content in enumerate(contents):
        place = f"content {at}"
        raw = expect.record(content, place)
        if raw and "parts" not in raw and "role" not in raw:
            raise MalformedTraceError(
                f"{place}: no content: it has neither role nor parts: {shorten(raw)}"
            )
        role = raw.get("role") or "user"
        if not isinstance(role, str) or role not in _ROLES:
            raise MalformedTraceError(
                f"{place}: the role is {shorten(role)}; known are {', '.join(_ROLES)}"
            )
        parts = expect.array(raw.get("parts"), f"{place}, parts")
        add_content(assembly, _ROLES[role], parts, place)
    return assembly.trajectory()


FORMAT = GeminiContents()
