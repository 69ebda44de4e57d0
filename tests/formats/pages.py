"""The pages of docs/formats, written from the formats' own docstrings.

    python -m tests.formats.pages

A page for each family: the raw shape of every format in it, what recognises it, and what becomes
of the shape as trajgrade reads it.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from trajgrade.formats import BUILTINS
from trajgrade.trajectory import Trajectory

FOLDER = Path(__file__).parents[2] / "docs" / "formats"
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "apis": (
        "Messages of model APIs",
        (
            "openai_chat", "openai_chat_stream", "openai_function_call", "openai_responses",
            "anthropic_messages", "gemini_contents", "bedrock_converse", "cohere_chat",
            "mistral_chat",
        ),
    ),
    "frameworks": (
        "Runs of agent frameworks",
        (
            "langchain_messages", "langchain_agent_executor", "langgraph_state",
            "graph_trajectory", "pydantic_ai_messages", "openai_agents_run_state", "adk_session",
            "autogen_history", "smolagents_memory", "vercel_ui_messages", "browser_use",
            "llama_index_messages", "bedrock_agent_trace", "anthropic_managed_events",
        ),
    ),
    "spans": (
        "Spans and traces of recorders",
        (
            "otlp_tempo", "otel_jaeger", "langfuse_trace", "langsmith_run", "mlflow_trace",
            "deepeval_trace",
        ),
    ),
    "sessions": (
        "Session logs of coding agents",
        (
            "claude_code", "codex_rollout", "gemini_cli", "openhands_events", "mini_swe_agent",
            "swe_agent_traj", "mcp_jsonrpc",
        ),
    ),
    "text": (
        "Calls written as text",
        ("react_text", "crewai_react", "hermes_chatml", "text"),
    ),
    "datasets": (
        "Datasets, benchmarks and plain shapes",
        (
            "trajgrade", "calls", "chat", "vertex_trajectory", "potato_conversation", "atif",
            "adk_evalset", "bfcl", "inspect_eval_log", "sharegpt", "tau_bench", "toolbench",
        ),
    ),
}  # fmt: skip
_BLOCK = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)


def pages() -> Iterator[tuple[Path, str]]:
    """Every page: where it stands, and what it says."""
    lines = ["# Formats", "", _HEAD, ""]
    for name, (title, formats) in FAMILIES.items():
        lines.append(f"- [{title}]({name}.md): {', '.join(f'`{one}`' for one in formats)}")
        sections = "\n\n".join(_section(one) for one in formats)
        yield FOLDER / f"{name}.md", f"# {title}\n\n{_NOTE}\n\n{sections}\n"
    yield FOLDER / "index.md", "\n".join([*lines, "", _PYTHON]) + "\n"


_HEAD = """\
trajgrade finds the format of a trace by marks that only its origin has. Name it with
`--format NAME` or `format="NAME"` where it should not be found. `trajgrade list formats` lists all;
`trajgrade show FILE` shows how a file is read."""
_PYTHON = """\
In Python, `read_traces` yields the trajectories that a file, a folder or data hold, and `read_steps`
the steps of one run, of which it keeps none: so it reads the log of a session of Codex, Claude Code
or Gemini CLI in memory that does not grow with the log.

```python
>>> from pathlib import Path
>>> from trajgrade import read_steps, read_traces
>>> _ = Path("session.jsonl").write_text(
...     '{"type": "response_item", "payload": {"type": "function_call", "name": "trains",'
...     ' "call_id": "c1", "arguments": "{}"}}\\n'
...     '{"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1",'
...     ' "output": "09:14"}}\\n'
... )
>>> for run in read_traces("session.jsonl"):
...     print(run.format, [call.name for call in run.tool_calls])
codex_rollout ['trains']
>>> for step in read_steps("session.jsonl"):
...     print(step.role, [(call.name, call.result) for call in step.tool_calls])
assistant [('trains', '09:14')]
tool []
```"""
_NOTE = """\
This page is written from the formats' docstrings by `python -m tests.formats.pages`. A shape is
followed by the calls and the final response that are read from it."""


def _section(name: str) -> str:
    module = importlib.import_module(str(BUILTINS[name].target).partition(":")[0])
    text = str(module.__doc__).strip() + "\n"
    parts = [f"## `{name}`", "", f"Recognised by: {BUILTINS[name].description}.", ""]
    at = 0
    for found in _BLOCK.finditer(text):
        parts += [text[at : found.start()].strip(), "", *_shape(found[0]), ""]
        at = found.end()
    parts.append(text[at:].strip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip()


def _shape(block: str) -> list[str]:
    text = "\n".join(line[4:] for line in block.rstrip().splitlines())
    if "…" in block:  # a part of a shape, which nothing is read from
        return ["```text", text, "```"]
    run = Trajectory.from_any(json.loads(text))
    calls = [f"{call.name}({_json(call.args)})" for call in run.tool_calls]
    calls += [f"{call.name}({_json(call.args)}), hosted" for call in run.hosted_calls]
    read = [*(f"call: {call}" for call in calls), f"final response: {_json(run.final_response)}"]
    return ["```json", text, "```", "", "```text", *read, "```"]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, page in pages():
        path.write_text(page, encoding="utf-8")
