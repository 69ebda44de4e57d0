r"""ToolBench's runs. The marks: `answer_generation` beside a `tree` or `win`.

    {"win": true, "tree": {"size": 2, "tree": {}}, "compare_candidates": [],
     "answer_generation": {"valid_data": true, "train_messages": [[
       {"role": "user", "content": "Any trains to Oslo?"},
       {"role": "assistant", "content": null,
        "function_call": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}},
       {"role": "function", "name": "trains", "content": "09:14"},
       {"role": "assistant", "content": null, "function_call": {"name": "Finish", "arguments":
        "{\"return_type\": \"give_answer\", \"final_answer\": \"Yes, at 09:14.\"}"}}]]}}

The last list of `train_messages` is the run: the way to the answer, without the branches of the
search that were given up. A run that found no answer has none there: then every branch of the
`tree` is read, in the order of the search. `Finish` is a call like others, and its `final_answer`
the final response.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import conversation
from trajgrade.formats.logged import of_toolbench
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_BESIDE = ("tree", "win", "compare_candidates", "forward_args")
_FINISH = "Finish"


class ToolBench:
    """ToolBench's runs; the module shows their shape."""

    keys = frozenset({"answer_generation"})
    measure = staticmethod(of_toolbench)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object has ToolBench's keys."""
        data = seen.data
        return (
            isinstance(data, dict)
            and isinstance(data.get("answer_generation"), dict)
            and any(key in data for key in _BESIDE)
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        raw = expect.record(data, "the run")
        answer = expect.record(raw.get("answer_generation"), "answer_generation")
        place = "answer_generation.train_messages"
        lists = expect.array(answer.get("train_messages"), place)
        if lists:
            inner = conversation(expect.array(lists[-1], f"{place}[-1]"), "toolbench")
        else:
            inner = _searched(raw.get("tree"))
        return [
            Trajectory(
                inner.steps,
                tool_calls=inner.tool_calls,
                final_response=_answer(inner),
                format="toolbench",
                notes=inner.notes,
            )
        ]


def _answer(inner: Trajectory) -> str | None:
    for call in reversed(inner.tool_calls):
        if call.name == _FINISH and isinstance(call.args, dict):
            told = call.args.get("final_answer")
            if isinstance(told, str):
                return told
    return inner.final_response


def _searched(tree: Any) -> Trajectory:
    """Read every branch of the search, each node before its children."""
    assembly = Assembly("toolbench")
    root = tree.get("tree") if isinstance(tree, dict) else None
    if not isinstance(root, dict) or "children" not in root:
        raise MalformedTraceError(
            "answer_generation.train_messages is empty, and tree.tree holds no search"
        )
    assembly.notes.append("the search found no answer; every branch of it is read")
    name: str | None = None
    # A node that is an action's input has the action for its parent.
    waiting: list[tuple[Any, str | None, str]] = [(root, name, "tree")]
    while waiting:
        node, name, place = waiting.pop()
        raw = expect.record(node, place)
        kind, text = raw.get("node_type"), expect.text(raw.get("description"), place) or ""
        if kind == "Thought":
            assembly.message("assistant", text)
        elif kind == "Action":
            name = expect.name(text, place)
        elif kind == "Action Input" and name is not None:
            assembly.call(name, text)
            if raw.get("observation") is not None:
                told = expect.text(raw["observation"], f"{place}, observation")
                assembly.result(told, None, name)
            name = None
        children = expect.array(raw.get("children"), f"{place}, children")
        waiting += [
            (child, name, f"{place}.{at}") for at, child in reversed(list(enumerate(children)))
        ]
    return assembly.trajectory()


FORMAT = ToolBench()
