"""LangSmith's runs. The mark: `run_type` beside a run's inputs, outputs, trace.

    {"id": "a", "trace_id": "a", "run_type": "chain", "name": "guide",
     "start_time": "2026-01-02T03:04:05Z", "inputs": {"input": "Any trains to Oslo?"},
     "outputs": {"output": "Yes, at 09:14."},
     "child_runs": [
       {"id": "b", "trace_id": "a", "parent_run_id": "a", "run_type": "tool", "name": "trains",
        "start_time": "2026-01-02T03:04:06Z",
        "inputs": {"input": "{'to': 'Oslo'}"}, "outputs": {"output": "09:14"}},
       {"id": "c", "trace_id": "a", "parent_run_id": "a", "run_type": "llm", "name": "ChatOpenAI",
        "start_time": "2026-01-02T03:04:07Z", "inputs": {},
        "outputs": {"choices": [
          {"message": {"role": "assistant", "content": "Yes, at 09:14."}}]}}]}

Also a list or lines of runs, and the body of a batch, `{"post": [run], "patch": [run]}`, where a
run is begun by the one and ended by the other, joined by id. Each trace is a trajectory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.metering import Request, usage_in
from trajgrade.formats.recorded import first, langchain_request, response_of
from trajgrade.formats.span_runs import trajectory_of
from trajgrade.formats.span_tools import ended, unwrapped
from trajgrade.formats.spans import Count, Kind, Span
from trajgrade.formats.utterances import last_text, utterances
from trajgrade.glimpse import Glimpse, members
from trajgrade.trajectory import Trajectory

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool", "chain": "agent"}
_MARKS = ("inputs", "outputs", "trace_id", "dotted_order", "parent_run_id", "child_runs")
_COUNTED = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_LEVELS = 200


class LangSmithRun:
    """A run with those inside it; the module shows one."""

    keys = frozenset({"post", "patch", "run_type"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are runs, each with its type."""
        data = seen.data
        if isinstance(data, dict) and ("post" in data or "patch" in data):
            batch = [data.get("post"), data.get("patch")]
            runs = [run for part in batch if isinstance(part, list) for run in part]
            return any(map(_is_run, runs)) and all(isinstance(run, dict) for run in runs)
        runs = data if isinstance(data, list) else [data]
        return bool(runs) and all(map(_is_run, runs))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each trace."""
        spans: dict[str, list[Span]] = {}
        answers: dict[str, str | None] = {}
        for run, place in _joined(data):
            span = _span(run, place)
            trace = expect.identifier(run.get("trace_id"), f"{place}, trace_id") or run["_root"]
            spans.setdefault(trace, []).append(span)
            if span.parent is None:
                answers[trace] = last_text(run.get("outputs"))
        return [
            trajectory_of(held, "langsmith_run", id=key, answer=answers.get(key))
            for key, held in spans.items()
        ]


def _is_run(run: Any) -> bool:
    return (
        isinstance(run, dict)
        and isinstance(run.get("run_type"), str)
        and any(key in run for key in _MARKS)
    )


def _joined(data: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each run once, whole, and where it stands; runs inside others after these."""
    if isinstance(data, dict) and ("post" in data or "patch" in data):
        parts = [
            (run, f"{part}[{at}]")
            for part in ("post", "patch")
            for at, run in enumerate(expect.array(data.get(part), part))
        ]
    else:
        runs = data if isinstance(data, list) else [data]
        parts = [(run, f"run {at}") for at, run in enumerate(runs)]
    whole: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    for given, place in parts:
        for run, where in _nested(given, place, None, None, _LEVELS):
            key = expect.identifier(run.get("id"), f"{where}, id") or where
            places.setdefault(key, where)
            told = {name: value for name, value in run.items() if value not in (None, {}, [])}
            whole[key] = {**run, **whole.get(key, {}), **told}
    for key, run in whole.items():
        yield run, places[key]


def _nested(
    given: Any, place: str, parent: str | None, root: str | None, levels: int
) -> Iterator[tuple[dict[str, Any], str]]:
    run = expect.record(given, place)
    if not levels:
        raise MalformedTraceError(f"{place}: runs are nested deeper than {_LEVELS} levels")
    key = expect.identifier(run.get("id"), f"{place}, id") or place
    above = run.get("parent_run_id") or parent
    yield {**run, "id": key, "parent_run_id": above, "_root": root or key}, place
    for at, child in enumerate(expect.array(run.get("child_runs"), f"{place}, child_runs")):
        yield from _nested(child, f"{place}, child {at}", key, root or key, levels - 1)


def _span(run: dict[str, Any], place: str) -> Span:
    kind = run.get("run_type")
    span = Span(
        id=run["id"],
        parent=expect.identifier(run.get("parent_run_id"), f"{place}, parent_run_id"),
        name=expect.text(run.get("name"), f"{place}, name") or "",
        kind=_KINDS.get(kind, "other") if isinstance(kind, str) else "other",
        began=instant(run.get("start_time")),
        ended=instant(run.get("end_time")),
    )
    given, output = run.get("inputs"), run.get("outputs")
    if span.kind == "tool":
        span.tool = expect.name(run.get("name"), f"{place}, name")
        span.raw = msgspec.UNSET if given is None else unwrapped(given)
        span.status = "error" if run.get("error") else "unknown"
        if isinstance(output, dict) and output.keys() == {"output"}:
            output = output["output"]
        ended(span, run.get("error") if output in (None, {}) and run.get("error") else output)
    elif span.kind != "other":
        span.told, span.said = utterances(given, "user"), utterances(output)
    if span.kind == "model":
        span.counted = (_counts, (run, output))
    return span


def _counts(told: tuple[dict[str, Any], Any]) -> Count:
    """Return the tokens that the output tells: there, at its messages, or of the client."""
    run, output = told
    extra = run.get("extra")
    metadata = first(extra, ("metadata",))
    requests = [response_of(output)] if isinstance(output, dict) else []
    client = first(output, ("llm_output",))
    requests += [Request(first(client, ("token_usage", "usage")), first(client, ("model_name",)))]
    generations = first(output, ("generations",))
    for inner in generations if isinstance(generations, list) else ():
        for one in members([inner]) or ([inner] if isinstance(inner, dict) else []):
            found = langchain_request(one.get("message"))
            requests += [] if found is None else [found]
    names = [one.model for one in requests] + [first(metadata, ("ls_model_name",))]
    model = next((name for name in names if isinstance(name, str) and name), None)
    usages = (usage_in(one.usage) for one in requests)
    usage = next((usage for usage in usages if usage is not None), None)
    return model, usage or usage_in({key: run.get(key) for key in _COUNTED})


FORMAT = LangSmithRun()
