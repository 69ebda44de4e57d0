"""What logs of sessions and runs record beside their steps → `Telemetry`, a function per origin.

    {"timestamp": …, "message": {"id": "msg_1", "model": …, "usage": {…}}}              Claude Code
    {"timestamp": …, "payload": {"type": "token_count", "info": {"total_token_usage": {…}}}}  Codex
    {"timestamp": …, "id": …, "type": "gemini", "model": …, "tokens": {…}}               Gemini CLI

Claude Code writes a line per content block and repeats the usage on each: those of one `message.id`
are one request. Codex keeps the sums of the session: the last counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trajgrade.formats.metering import Request, measured, number_in
from trajgrade.formats.recorded import first, of_api, response_of
from trajgrade.glimpse import members
from trajgrade.telemetry import Telemetry

_GEMINI = ("usage_metadata", "usageMetadata")


def _lines(data: Any, *keys: str) -> list[dict[str, Any]]:
    held = first(data, keys) if isinstance(data, dict) else data
    return [line for line in (held if isinstance(held, list) else [data]) if isinstance(line, dict)]


def _inner(record: Any, *path: str) -> dict[str, Any]:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, dict) else {}


def of_claude_code(data: Any) -> list[Telemetry]:
    """Read Claude Code's lines."""
    requests = []
    result: dict[str, Any] = {}
    for line in _lines(data):
        message = _inner(line, "message")
        if line.get("type") == "assistant" and message.get("model") != "<synthetic>":
            usage, cost = message.get("usage"), line.get("costUSD")
            key = message.get("id")
            requests.append(Request(usage, message.get("model"), key=key, cost=cost))
        elif line.get("type") == "result":
            result = line
    took = number_in(result.get("duration_ms"))
    times = (line.get("timestamp") for line in _lines(data) if "message" in line)
    sums = {"cost": result["total_cost_usd"]} if "total_cost_usd" in result else None
    return [measured(requests, times, sums=sums, latency=None if took is None else took / 1000)]


def of_codex(data: Any) -> list[Telemetry]:
    """Read Codex's lines."""
    sums: dict[str, Any] = {}
    models = []
    for line in _lines(data):
        payload = _inner(line, "payload")
        if line.get("type") == "turn_context":
            models.append(payload.get("model"))
        elif payload.get("type") == "token_count":
            sums = _inner(payload, "info", "total_token_usage") or sums
    times = [line.get("timestamp") for line in _lines(data)]
    return [measured((), times, sums=sums or None, models=models)]


def of_gemini_cli(data: Any) -> list[Telemetry]:
    """Read Gemini CLI's lines: each message as the last line of its id tells it."""
    lines = [
        inner
        for line in _lines(data)
        for inner in (line, *members([line.get("messages"), _inner(line, "$set").get("messages")]))
    ]
    requests = [
        Request(line.get("tokens"), line.get("model"), key=line.get("id"))
        for line in lines
        if line.get("type") == "gemini"
    ]
    times = [line.get(key) for line in lines for key in ("startTime", "timestamp")]
    return [measured(requests, times)]


def of_managed_events(data: Any) -> list[Telemetry]:
    """Read the events of Managed Agents: those that say what a request to a model took."""
    events = [line[1] if isinstance(line, list) and len(line) > 1 else line for line in _rows(data)]
    held = [event for event in events if isinstance(event, dict)]
    models = [_inner(event, "agent", "model").get("id") for event in held]
    requests = [
        Request(event.get("model_usage"), key=event.get("id"))
        for event in held
        if event.get("type") == "span.model_request_end"
    ]
    return [measured(requests, (event.get("processed_at") for event in held), models=models)]


def _rows(data: Any) -> list[Any]:
    held = data.get("data") if isinstance(data, dict) else data
    return held if isinstance(held, list) else [data]


def of_adk_session(data: Any) -> list[Telemetry]:
    """Read the events of an ADK session; older ones keep what models took in a log apart."""
    events = _lines(data, "events")
    whole = [event for event in events if event.get("partial") is not True]
    requests = [
        Request(first(event, _GEMINI), first(event, ("model_version", "modelVersion")))
        for event in whole
        if first(event, _GEMINI) is not None
    ]
    if not requests and isinstance(data, dict):
        requests = [
            Request(
                first(_inner(log, "model_response"), _GEMINI),
                _inner(log, "model_request").get("model"),
            )
            for log in members([data.get("event_logs")])
        ]
    return [measured(requests, (event.get("timestamp") for event in events))]


def of_atif(data: Any) -> list[Telemetry]:
    """Read the metrics of an ATIF trajectory's steps; those of copied steps are another run's."""
    steps = [step for step in _lines(data, "steps") if step.get("is_copied_context") is not True]
    requests = [
        Request(step.get("metrics"), step.get("model_name"))
        for step in steps
        if isinstance(step.get("metrics"), dict) or step.get("model_name")
    ]
    times = (step.get("timestamp") for step in steps)
    agent = _inner(data, "agent").get("model_name")
    return [measured(requests, times, sums=_inner(data, "final_metrics") or None, models=[agent])]


def of_browser_use(data: Any) -> list[Telemetry]:
    """Read the metadata of browser-use's steps."""
    told = [_inner(step, "metadata") for step in _lines(data, "history")]
    requests = [
        Request(one, began=one.get("step_start_time"), ended=one.get("step_end_time"))
        for one in told
    ]
    sums = _inner(data, "usage")
    return [measured(requests, sums=sums or None)]


def of_bedrock_agent(data: Any) -> list[Telemetry]:
    """Read the events of a Bedrock agent: outputs of models, in parts of any name."""
    requests: list[Request] = []
    times = []
    models = []
    for event in _lines(data, "events"):
        trace = _inner(event, "trace")
        times.append(trace.get("eventTime"))
        for part in _inner(trace, "trace").values():
            models.append(_inner(part, "modelInvocationInput").get("foundationModel"))
            told = _inner(part, "modelInvocationOutput", "metadata")
            if told:
                usage, began, ended = (told.get(k) for k in ("usage", "startTime", "endTime"))
                requests.append(Request(usage, None, began, ended))
    return [measured(requests, times, models=models)]


def of_openhands(data: Any) -> list[Telemetry]:
    """Read OpenHands' events: several of one response of a model are one request."""
    events = _lines(data, "history")
    requests = []
    sums: dict[str, Any] = {}
    for event in events:
        response = _inner(event, "tool_call_metadata", "model_response")
        if response:
            # Its time is in another zone than those of the events, which name none.
            requests.append(response_of(response)._replace(began=None))
        metrics = _inner(event, "llm_metrics")
        sums = {**_inner(metrics, "accumulated_token_usage"), **metrics} if metrics else sums
    times = (event.get("timestamp") for event in events)
    return [measured(requests, times, sums=sums or None)]


def of_swe_agent(data: Any) -> list[Telemetry]:
    """Read the statistics of SWE-agent and mini-swe-agent, and the responses that they keep."""
    (found,) = of_api(data)
    stats = _inner(data, "info", "model_stats")
    model = _inner(data, "info", "config", "model").get("model_name")
    told = {key: value for key, value in stats.items() if value}  # 0 where nothing was counted
    (summed,) = [measured((), sums=told or None, models=[model])]
    if found.usage is None:
        return [summed]
    cost = None if summed.usage is None else summed.usage.cost
    usage = msgspec.structs.replace(found.usage, cost=found.usage.cost if cost is None else cost)
    return [msgspec.structs.replace(found, usage=usage)]


def of_run_state(data: Any) -> list[Telemetry]:
    """Read the responses that a saved run of OpenAI's Agents SDK keeps, once each."""
    responses = _lines(data, "model_responses", "modelResponses")
    requests = [
        Request(one.get("usage"), key=first(one, ("response_id", "responseId")))
        for one in responses
        if one is not data
    ]
    return [measured(requests, sums=_inner(data, "context", "usage") or None)]


def of_inspect(data: Any) -> list[Telemetry]:
    """Read the samples of an Inspect log: what each took of every model."""
    default = _inner(data, "eval").get("model")
    return [_sample(sample, default) for sample in _lines(data, "samples")]


def _sample(sample: dict[str, Any], default: Any) -> Telemetry:
    output = _inner(sample, "output")
    by_model = _inner(sample, "model_usage")
    told = [Request(usage, model) for model, usage in by_model.items()]
    answered = [
        message.get("model")
        for message in members([sample.get("messages")])
        if message.get("role") == "assistant"
    ]
    if not told and len(answered) <= 1:  # with more of them, `output` is the last one's only
        told = [Request(output.get("usage"), output.get("model"))]
    latency = sample.get("total_time")
    if latency is None and len(answered) <= 1:
        latency = output.get("time")
    times = (sample.get(key) for key in ("started_at", "completed_at"))
    found = measured(told, times, latency=latency, models=[*answered, default])
    if by_model and found.usage is not None:  # sums of each model, and not its requests
        return msgspec.structs.replace(
            found, usage=msgspec.structs.replace(found.usage, requests=0)
        )
    return found


def of_bfcl(data: Any) -> list[Telemetry]:
    """Read the results of the leaderboard: counts and latencies, one for each turn and step."""
    rows = data if isinstance(data, list) else [data]
    return [_bfcl(row if isinstance(row, dict) else {}) for row in rows]


def _bfcl(row: dict[str, Any]) -> Telemetry:
    sums = {
        key: sum(numbers)
        for key in ("input_token_count", "output_token_count")
        if (numbers := list(_numbers(row.get(key))))
    }
    waits = list(_numbers(row.get("latency")))
    return measured((), sums=sums or None, latency=sum(waits) if waits else None)


def _numbers(held: Any, levels: int = 4) -> Iterator[float]:
    if isinstance(held, list) and levels:
        for item in held:
            yield from _numbers(item, levels - 1)
    elif (number := number_in(held)) is not None:
        yield number


def of_toolbench(data: Any) -> list[Telemetry]:
    """Read the tokens that ToolBench counts of the whole search."""
    total = _inner(data, "answer_generation").get("total_tokens")
    return [measured((), sums={"total_tokens": total})]
