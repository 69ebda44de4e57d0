r"""SWE-agent's trajectories. The marks: a `history` with agents, steps with `observation`.

    {"history": [
       {"role": "system", "content": "You are a programmer.", "agent": "main"},
       {"role": "user", "content": "Any trains to Oslo?", "agent": "main"},
       {"role": "assistant", "agent": "main", "content": "Let me look.",
        "thought": "Let me look.", "action": "trains Oslo", "tool_calls": [
          {"id": "call_1", "type": "function",
           "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]},
       {"role": "tool", "agent": "main", "content": "09:14", "tool_call_ids": ["call_1"]},
       {"role": "assistant", "agent": "main", "content": "Yes, at 09:14.", "action": ""}],
     "trajectory": [
       {"action": "trains Oslo", "observation": "09:14", "response": "Let me look.",
        "thought": "Let me look.", "state": "{}"}],
     "info": {"exit_status": "submitted"}}

The older agents only write commands: those are actions, not calls. `trajectory` tells the same as
`history` once more, and is read where there is none. What follows an action in the user's name is
the environment's answer; demonstrations (`is_demo`) are none of this run.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import loosened
from trajgrade.formats.chat_wire import Loose
from trajgrade.formats.content import shown, text_of
from trajgrade.formats.logged import of_swe_agent
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_STEP = frozenset({"action", "observation"})
_BESIDE = frozenset({"thought", "response", "state"})


class SWEAgentTraj:
    """SWE-agent's trajectories; the module shows their shape."""

    keys = frozenset({"trajectory", "history"})
    measure = staticmethod(of_swe_agent)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a step has action and observation, or a message its agent and action."""
        data = seen.data
        if not isinstance(data, dict):
            return False
        steps, history = data.get("trajectory"), data.get("history")
        if isinstance(steps, list) and any(map(_is_step, steps)):
            return True
        return isinstance(history, list) and any(map(_is_own, history))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("swe_agent_traj")
        raw = expect.record(data, "the run")
        history = expect.array(raw.get("history"), "history")
        steps = expect.array(raw.get("trajectory"), "trajectory")
        if not history and not steps:
            raise MalformedTraceError("neither history nor trajectory holds anything")
        if history:
            _history(assembly, history)
        for at, item in enumerate(steps):
            step = expect.record(item, f"step {at}")
            if not history:
                _step(assembly, step, f"step {at}")
        if not assembly.actions:
            assembly.actions = [
                action for step in steps if isinstance(action := step.get("action"), str) and action
            ]
        key = raw.get("instance_id")
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and step.keys() >= _STEP and bool(_BESIDE & step.keys())


def _is_own(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and "role" in message
        and isinstance(message.get("agent"), str)
        and ("action" in message or "message_type" in message)
    )


def _history(assembly: Assembly, history: list[Any]) -> None:
    raws = [expect.record(message, f"message {at}") for at, message in enumerate(history)]
    acted = False
    for at, (raw, message) in enumerate(zip(raws, loosened(raws, assembly.notes), strict=True)):
        if raw.get("is_demo") is True:
            continue
        assembly.agent = expect.text(raw.get("agent"), f"message {at}, agent")
        if message.role == "assistant":
            acted = True
            _said(assembly, raw, message, f"message {at}")
        elif message.role == "tool":
            _answered(assembly, raw, message, f"message {at}")
        else:
            text = text_of(message.content, f"message {at}")
            role = "tool" if acted and message.role == "user" else message.role
            assembly.message("system" if role == "developer" else role, text)


def _said(assembly: Assembly, raw: dict[str, Any], message: Loose, place: str) -> None:
    assembly.message("assistant", text_of(message.content, place))
    action = expect.text(raw.get("action"), f"{place}, action")
    if action:
        assembly.actions.append(action)
    for call in message.tool_calls:
        force_setattr(call, "agent", assembly.agent)
        assembly.add(call)


def _answered(assembly: Assembly, raw: dict[str, Any], message: Loose, place: str) -> None:
    several = expect.array(raw.get("tool_call_ids"), f"{place}, tool_call_ids")
    keys = [expect.identifier(key, f"{place}, tool_call_ids") for key in several]
    for key in keys or [message.tool_call_id]:
        assembly.result(message.content, key, message.name, step=False)
    assembly.message("tool", shown(message.content, place))


def _step(assembly: Assembly, step: dict[str, Any], place: str) -> None:
    said = step.get("response") or step.get("thought")
    assembly.message("assistant", text_of(said, place))
    action = expect.text(step.get("action"), f"{place}, action")
    if action:
        assembly.actions.append(action)
    assembly.message("tool", text_of(step.get("observation"), place))


FORMAT = SWEAgentTraj()
