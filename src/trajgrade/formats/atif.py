"""The Agent Trajectory Interchange Format (Harbor). The mark: `schema_version` that says ATIF.

    {"schema_version": "ATIF-v1.5", "session_id": "s1",
     "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": "gpt-4o"},
     "steps": [
       {"step_id": 1, "source": "user", "message": "Any trains to Oslo?"},
       {"step_id": 2, "source": "agent", "message": "Let me look.",
        "tool_calls": [
          {"tool_call_id": "call_1", "function_name": "trains", "arguments": {"to": "Oslo"}}],
        "observation": {"results": [{"source_call_id": "call_1", "content": "09:14"}]}},
       {"step_id": 3, "source": "agent", "message": "Yes, at 09:14."}]}

A result without `source_call_id` belongs to the step's calls in order, where the step has any. The
final response is the last message of the agent, also beside a call. Steps marked as
`is_copied_context` repeat another trajectory: what they call is not called again. A sub-agent's own
trajectory, in a file of its own or under `subagent_trajectories`, is not part of this one.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_atif
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = {"user": "user", "agent": "assistant", "system": "system"}


class ATIF:
    """The interchange format; the module shows it."""

    keys = frozenset({"schema_version"})
    measure = staticmethod(of_atif)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the schema version says so."""
        data = seen.data
        if not isinstance(data, dict) or "steps" not in data:
            return False
        version = data.get("schema_version")
        return isinstance(version, str) and version.upper().startswith("ATIF")

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one trajectory."""
        record = expect.record(data, "the trajectory")
        agent = record.get("agent")
        name = agent.get("name") if isinstance(agent, dict) else None
        assembly = Assembly("atif")
        assembly.agent = name if isinstance(name, str) else None
        copied = 0
        for at, item in enumerate(expect.array(record.get("steps"), "steps")):
            step = expect.record(item, f"step {at}")
            if step.get("is_copied_context") is True:
                copied += 1
                _said(assembly, step, f"step {at}")
            else:
                _step(assembly, step, f"step {at}")
        if copied:
            assembly.notes.append(f"{copied} steps are copies of another trajectory's")
        key = record.get("trajectory_id") or record.get("session_id")
        return [assembly.trajectory(id=expect.identifier(key, "session_id"))]


def _said(assembly: Assembly, step: dict[str, Any], place: str) -> None:
    source = step.get("source")
    if not isinstance(source, str) or source not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the source is {shorten(source)}; known are {', '.join(_ROLES)}"
        )
    assembly.message(_ROLES[source], text_of(step.get("message"), f"{place}, message"))


def _step(assembly: Assembly, step: dict[str, Any], place: str) -> None:
    _said(assembly, step, place)
    keys: list[str | None] = []
    assembly.now = instant(step.get("timestamp"))
    for number, item in enumerate(expect.array(step.get("tool_calls"), f"{place}, tool_calls")):
        where = f"{place}, call {number}"
        raw = expect.record(item, where)
        key = expect.identifier(raw.get("tool_call_id"), f"{where}, tool_call_id")
        name = expect.name(raw.get("function_name"), f"{where}, function_name")
        args = given(raw, "arguments", f"{where} ({name})", ("function_name",))
        assembly.call(name, args, key)
        keys.append(key)
    assembly.now = None  # the step's time is that of its calls; when results came is not recorded
    observation = expect.record(step.get("observation") or {}, f"{place}, observation")
    results = expect.array(observation.get("results"), f"{place}, observation, results")
    for number, item in enumerate(results):
        raw = expect.record(item, f"{place}, result {number}")
        content = result_of(raw.get("content"), f"{place}, result {number}")
        source = expect.identifier(raw.get("source_call_id"), f"{place}, source_call_id")
        if source is None and number < len(keys):
            source = keys[number]
        if source is None and not keys:
            assembly.message("tool", text_of(content, place))
        else:
            assembly.result(content, source)


FORMAT = ATIF()
