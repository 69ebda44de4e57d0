r"""tau-bench's runs. The mark: `traj` beside `task_id` or `reward`.

    {"task_id": 0, "trial": 1, "reward": 1.0,
     "info": {"task": {"actions": [{"name": "trains", "kwargs": {"to": "Oslo"}}]}},
     "traj": [
       {"role": "user", "content": "Any trains to Oslo?"},
       {"role": "assistant", "content": null, "tool_calls": [
         {"id": "call_1", "type": "function",
          "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]},
       {"role": "tool", "tool_call_id": "call_1", "name": "trains", "content": "09:14"},
       {"role": "assistant", "content": "Yes, at 09:14."},
       {"role": "user", "content": "###STOP###"}]}

`traj` holds OpenAI chat messages; a list of runs is one trajectory for each. The calls are those
that the agent made: the reference under `info.task.actions` is not read here. As the rows of a
data set the columns are named by `fields` (`outputs: traj`).
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.chat_loose import conversation
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class TauBench:
    """tau-bench's runs; the module shows one."""

    keys = frozenset({"traj"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is a run, or a list of runs."""
        data = seen.data
        if isinstance(data, list):
            return bool(data) and all(map(_is_run, data))
        return _is_run(data)

    def read(self, data: Any) -> list[Trajectory]:
        """Read each run."""
        if not isinstance(data, list):
            return [_read(data, "the run")]
        return [_read(run, f"run {at}") for at, run in enumerate(data)]


def _is_run(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("traj"), list)
        and ("reward" in data or "task_id" in data)
    )


def _read(data: Any, place: str) -> Trajectory:
    run = expect.record(data, place)
    messages = expect.array(run.get("traj"), f"{place}, traj")
    task = expect.identifier(run.get("task_id"), f"{place}, task_id")
    trial = expect.identifier(run.get("trial"), f"{place}, trial")
    parts = [f"{name}{key}" for name, key in (("task", task), ("trial", trial)) if key is not None]
    return conversation({"messages": messages, "id": "_".join(parts) or None}, "tau_bench")


FORMAT = TauBench()
