r"""mini-swe-agent's trajectories. The mark: a `trajectory_format` of `mini-swe-agent-1`, ….

    {"info": {"exit_status": "Submitted", "mini_version": "1.13.4"},
     "messages": [
       {"role": "system", "content": "You can run commands."},
       {"role": "user", "content": "Any trains to Oslo?"},
       {"role": "assistant", "content": "THOUGHT: Look.\n\n```bash\ntrains Oslo\n```"},
       {"role": "user", "content": "<returncode>0</returncode>\n<output>\n09:14\n</output>"},
       {"role": "assistant", "content": "Yes, at 09:14."}],
     "trajectory_format": "mini-swe-agent-1"}

A command in a block of `bash` (or of `mswea_bash_command`) in what the assistant says is an action,
no call. From version 2 on the model calls a tool instead: as in OpenAI's chat or Responses, with
the commands once more under `extra.actions`. What follows in the user's name is the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import loosened
from trajgrade.formats.content import text_of
from trajgrade.formats.logged import of_swe_agent
from trajgrade.formats.response_items import add_item
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_FENCE = re.compile(r"```(?:bash|mswea_bash_command)[ \t\r]*\n")
_END = "\n```"


class MiniSWEAgent:
    """mini-swe-agent's trajectories; the module shows their shape."""

    keys = frozenset({"trajectory_format"})
    measure = staticmethod(of_swe_agent)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object names its format."""
        named = seen.data.get("trajectory_format") if isinstance(seen.data, dict) else None
        return isinstance(named, str) and named.startswith("mini-swe-agent")

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("mini_swe_agent")
        raw = expect.record(data, "the run")
        acted = False
        for at, item in enumerate(expect.array(raw.get("messages"), "messages")):
            message = expect.record(item, f"message {at}")
            acted = _message(assembly, message, f"message {at}", acted=acted)
        key = raw.get("instance_id")
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _message(assembly: Assembly, raw: dict[str, Any], place: str, *, acted: bool) -> bool:
    """Add a message, and return whether the assistant has spoken so far."""
    output = raw.get("output")
    if isinstance(output, list):  # a response of the Responses API
        for at, item in enumerate(output):
            add_item(
                assembly, expect.record(item, f"{place}, output {at}"), f"{place}, output {at}"
            )
        _commanded(assembly, raw, "", place)
        return True
    if "role" not in raw and isinstance(raw.get("type"), str):
        add_item(assembly, raw, place)
        return acted
    if raw.get("role") == "exit":
        assembly.message("system", text_of(raw.get("content"), place))
        return acted
    (message,) = loosened([raw], assembly.notes, place)
    if message.role == "tool":
        assembly.result(message.content, message.tool_call_id, message.name)
        return acted
    text = text_of(message.content, place)
    if message.role == "assistant":
        assembly.message("assistant", text)
        for call in message.tool_calls:
            assembly.add(call)
        _commanded(assembly, raw, "" if message.tool_calls else text, place)
        return True
    role = "tool" if acted and message.role == "user" else message.role
    assembly.message("system" if role == "developer" else role, text)
    return acted


def _commanded(assembly: Assembly, raw: dict[str, Any], text: str, place: str) -> None:
    extra = raw.get("extra")
    if isinstance(extra, dict) and isinstance(extra.get("actions"), list):
        for at, action in enumerate(extra["actions"]):
            where = f"{place}, action {at}"
            told = (
                action if isinstance(action, str) else expect.record(action, where).get("command")
            )
            command = expect.text(told, where)
            if command:
                assembly.actions.append(command)
    else:
        assembly.actions += commands_in(text)


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands in the text's blocks."""
    done = 0
    for fence in _FENCE.finditer(text):
        if fence.start() < done:
            continue
        end = text.find(_END, fence.end() - 1)
        if end < 0:
            return
        done = end + len(_END)
        command = text[fence.end() : end].strip()
        if command:
            yield command


FORMAT = MiniSWEAgent()
