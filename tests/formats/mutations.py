"""Strategies: any JSON, JSON made of the words of traces, and traces with one or two things wrong."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.formats.samples import SAMPLES

WORDS = (
    "role", "content", "tool_calls", "function", "name", "arguments", "args", "id", "type", "text",
    "input", "output", "messages", "parts", "functionCall", "functionResponse", "contents", "data",
    "kwargs", "speaker", "conversation", "structured_turns", "tool_name", "tool_input", "steps",
    "predicted_trajectory", "response", "trajgrade", "choices", "message", "function_call", "lc",
    "tool_use_id", "call_id", "is_error", "additional_kwargs", "invalid_tool_calls", "candidates",
    "tool", "user", "assistant", "model", "ai", "human", "constructor", "tool_use", "tool_result",
    "mcp_call", "custom_tool_call", "web_search_call", "function_call_output", "output_text",
    "resourceSpans", "scopeSpans", "spans", "spanId", "attributes", "key", "value", "stringValue",
    "tags", "operationName", "events", "observations", "toolSpans", "llmSpans", "run_type", "inputs",
    "outputs", "child_runs", "trace", "orchestrationTrace", "author", "eval_cases", "samples", "epoch",
    "generated_items", "raw_item", "schema_version", "history", "model_output", "action", "traj",
    "ground_truth", "question", "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "chat",
    "Agent (Action)", "f(", "f(a=1)", "f({})", '{"a": 1}', "[", "{", "", "\ud800", "\x00",
)  # fmt: skip

scalars = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=8)
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)


documents = st.recursive(scalars, _nested, max_leaves=25)


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members: Any = ()
    if isinstance(data, dict):
        members = data.items()
    elif isinstance(data, list):
        members = enumerate(data)
    return [path, *(place for key, item in members for place in _places(item, (*path, key)))]


@st.composite
def _broken(draw: st.DrawFn) -> Any:
    root = [copy.deepcopy(draw(st.sampled_from(SAMPLES)).data)]
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(_places(root)[1:] or [(0,)]))
        holder: Any = root
        for key in path[:-1]:
            holder = holder[key]
        what = draw(st.sampled_from(["replace", "remove", "repeat", "add", "borrow"]))
        if what == "replace":
            holder[path[-1]] = draw(documents)
        elif what == "remove" and holder is not root:
            del holder[path[-1]]
        elif what == "repeat" and isinstance(holder, list) and holder is not root:
            holder.append(copy.deepcopy(holder[path[-1]]))
        elif what == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(WORDS))] = draw(documents)
        elif what == "borrow":
            other = [draw(st.sampled_from(SAMPLES)).data]
            found: Any = other
            for key in draw(st.sampled_from(_places(other)[1:])):
                found = found[key]
            holder[path[-1]] = copy.deepcopy(found)
    return root[0]


broken = _broken()
