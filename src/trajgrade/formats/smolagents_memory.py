"""The memory of smolagents' agents. The marks: a `step_number` with `model_output`, a `task`.

    [{"task": "Any trains to Oslo?", "task_images": null},
     {"step_number": 1, "timing": {"start_time": 1796094097.8, "end_time": 1796094098.2},
      "model_output": "I look.", "observations": "09:14", "error": null,
      "tool_calls": [{"id": "c1", "type": "function",
                      "function": {"name": "trains", "arguments": {"to": "Oslo"}}}],
      "token_usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14},
      "is_final_answer": false, "action_output": null},
     {"step_number": 2, "model_output": "", "observations": "Yes, at 09:14.", "error": null,
      "tool_calls": [{"id": "c2", "type": "function", "function": {
        "name": "final_answer", "arguments": {"answer": "Yes, at 09:14."}}}],
      "is_final_answer": true, "action_output": null}]

As `agent.memory.get_full_steps()` gives them. The code of a `CodeAgent` is a call of
`python_interpreter`, whose argument is text. `observations` are the result of a step's only call;
of several calls they are noted, since they cannot be told apart. An `error` says that the calls of
its step failed. The final response is the output of the step that is the final answer.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, shown, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.metering import Request, measured
from trajgrade.glimpse import Glimpse
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import CallStatus, Trajectory

_MARKS = frozenset({"model_output", "model_input_messages", "is_final_answer", "observations"})
_SILENT = ("plan", "system_prompt", "task")


class SmolagentsMemory:
    """The memory of an agent; the module shows one."""

    keys = frozenset({"step_number"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the items are steps, and one of them acts."""
        items = seen.data
        if not isinstance(items, list) or not any(map(_acts, items)):
            return False
        return all(isinstance(item, dict) and (_acts(item) or _is_other(item)) for item in items)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("smolagents_memory")
        final: str | None = None
        for at, item in enumerate(expect.array(data, "the memory")):
            step = expect.record(item, f"step {at}")
            if "step_number" in step:
                said = _step(assembly, step, f"step {at}")
                final = final if said is None else said
            elif "task" in step:
                assembly.message("user", text_of(step["task"], f"step {at}, task"))
            elif "system_prompt" in step:
                assembly.message("system", text_of(step["system_prompt"], f"step {at}"))
            elif "plan" in step:
                assembly.message("assistant", text_of(step["plan"], f"step {at}, plan"))
        return [assembly.trajectory(final=final)]

    def measure(self, data: Any) -> list[Telemetry]:
        """Read the tokens and times of the steps."""
        requests = []
        for step in data if isinstance(data, list) else ():
            if isinstance(step, dict) and "step_number" in step:
                held = step.get("timing")
                timing = held if isinstance(held, dict) else {}
                began, ended = timing.get("start_time"), timing.get("end_time")
                requests.append(Request(step.get("token_usage"), None, began, ended))
        return [measured(requests)]


def _acts(item: Any) -> bool:
    return isinstance(item, dict) and "step_number" in item and not _MARKS.isdisjoint(item)


def _is_other(item: dict[str, Any]) -> bool:
    return "role" not in item and any(key in item for key in _SILENT)


def _step(assembly: Assembly, step: dict[str, Any], place: str) -> str | None:
    """Add a step, and return the final response where it gives that."""
    timing = step.get("timing")
    times = timing if isinstance(timing, dict) else {}
    assembly.message("assistant", text_of(step.get("model_output"), f"{place}, model_output"))
    assembly.now = instant(times.get("start_time"))
    error = step.get("error")
    status: CallStatus = "error" if error else "unknown"
    calls = expect.array(step.get("tool_calls"), f"{place}, tool_calls")
    for at, item in enumerate(calls):
        where = f"{place}, call {at}"
        call = expect.record(item, where)
        function = expect.record(call.get("function"), f"{where}, function")
        name = expect.name(function.get("name"), f"{where}, name")
        key = expect.identifier(call.get("id"), f"{where}, id")
        raw = given(function, "arguments", f"{where} ({name})")
        if name == "python_interpreter" and isinstance(raw, str):
            assembly.call(name, raw, key, state="text", status=status)
        else:
            assembly.call(name, raw, key, status=status)
    assembly.now = instant(times.get("end_time"))
    observed = step.get("observations")
    message = error.get("message") if isinstance(error, dict) else error
    value = result_of(message if observed in (None, "") else observed, place)
    if value is not None and len(calls) == 1:
        assembly.result(value, expect.identifier(calls[0].get("id"), place))
    elif value is not None:
        assembly.notes.append(f"{place}: {len(calls)} calls with one result: {shorten(value)}")
        assembly.message("tool", shown(value, place))
    assembly.now = None
    if step.get("is_final_answer") is not True:
        return None
    output = step.get("action_output")
    return shown(value if output is None else output, f"{place}, action_output")


FORMAT = SmolagentsMemory()
