r"""LangChain's AgentExecutor. The mark: pairs of an action and an observation.

    [[["trains", "Oslo", "Let me look.\nAction: trains\nAction Input: Oslo"], "09:14"]]

    {"input": "Any trains to Oslo?", "output": "Yes, at 09:14.",
     "intermediate_steps": [
       [{"tool": "trains", "tool_input": {"to": "Oslo"}, "log": "", "type": "AgentAction"},
        "09:14"]]}

An action is a list, as JSON writes LangChain's tuples, or an object, also as `dumps` writes it. An
input that is text stays text. The steps alone hold no answer.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_STEPS = "intermediate_steps"


class LangChainAgentExecutor:
    """LangChain's AgentExecutor; the module shows its shapes."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each step is a pair that begins with an action."""
        data = seen.data
        if isinstance(data, dict):
            steps = data.get(_STEPS)
            return isinstance(steps, list) and all(map(_is_step, steps))
        return isinstance(data, list) and bool(data) and all(map(_is_step, data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("langchain_agent_executor")
        around = data if isinstance(data, dict) else {}
        asked = around.get("input")
        if isinstance(asked, str):
            assembly.message("user", asked)
        steps = expect.array(around.get(_STEPS) if around else data, _STEPS)
        for at, step in enumerate(steps):
            place = f"step {at}"
            pair = expect.array(step, place)
            if len(pair) != 2:
                raise MalformedTraceError(
                    f"{place}: expected an action and an observation, found {shorten(step)}"
                )
            _step(assembly, pair[0], pair[1], place)
        told = around.get("output")
        if isinstance(told, dict):
            told = told.get("output")
        if isinstance(told, str):
            assembly.message("assistant", told)
        return [assembly.trajectory(final=told if isinstance(told, str) else None)]


def _is_step(step: Any) -> bool:
    return isinstance(step, (list, tuple)) and len(step) == 2 and _action(step[0]) is not None


def _action(action: Any) -> dict[str, Any] | None:
    """Return the action as an object; None where it is none."""
    if isinstance(action, (list, tuple)):
        if len(action) != 3:
            return None
        name, given, log = action
        if not isinstance(name, str) or not isinstance(log, str):
            return None
        return {"tool": name, "tool_input": given, "log": log}
    if not isinstance(action, dict):
        return None
    if isinstance(action.get("kwargs"), dict) and action.get("type") == "constructor":
        action = action["kwargs"]
    return action if "tool" in action and "tool_input" in action else None


def _step(assembly: Assembly, action: Any, observation: Any, place: str) -> None:
    raw = _action(action)
    if raw is None:
        raise MalformedTraceError(f"{place}: no action: {shorten(action)}")
    name = expect.name(raw["tool"], f"{place}, tool")
    key = expect.identifier(raw.get("tool_call_id"), f"{place}, tool_call_id")
    args = given(raw, "tool_input", f"{place} ({name})")
    assembly.message("assistant", expect.text(raw.get("log"), f"{place}, log") or "")
    assembly.call(name, args, key, state="text" if isinstance(args, str) and args else None)
    if observation is not None:
        assembly.result(result_of(observation, place), key, name)


FORMAT = LangChainAgentExecutor()
