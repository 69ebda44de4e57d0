"""What APIs and frameworks record beside messages: who answered, with how many tokens, when.

    {"model": "gpt-4.1", "created": 1769105302, "usage": {…}, "choices": […]}       a response
    {"request": {"model": "gpt-4.1", …}, "response": {…}}                           an exchange
    {"model": "gpt-4.1", "messages": […]}                                           a request
    {"role": "assistant", "content": …, "usage": {…}}                               a message
    {"type": "ai", "usage_metadata": {…}, "response_metadata": {"model_name": …}}   LangChain's

A request that a later one repeats in its messages has the usage of its own response only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajgrade.formats.metering import Request, measured, number_in
from trajgrade.telemetry import Telemetry

_USAGES = ("usage", "usageMetadata", "usage_metadata", "models_usage", "token_usage")
_MODELS = ("model", "modelVersion", "model_version", "model_name", "modelName", "model_id")
_TIMES = ("created", "created_at", "createTime", "create_time", "timestamp", "createdAt")
_INNER = ("token_usage", "tokenUsage", "usage", "usage_metadata")


def of_api(data: Any) -> list[Telemetry]:
    """Read responses, exchanges, or messages that keep their responses' usage."""
    lines = data if isinstance(data, list) else [data]
    requests = [request for line in lines for request in _requests(line)]
    ends = [line.get("completed_at") for line in lines if isinstance(line, dict)]
    waits = [wait for line in lines if (wait := _latency(line)) is not None]
    return [measured(requests, ends, latency=sum(waits) if waits else None)]


def _requests(line: Any) -> Iterator[Request]:
    if not isinstance(line, dict):
        return
    response, request = line.get("response"), line.get("request")
    if isinstance(response, dict) and isinstance(request, dict):
        found = response_of(response)
        yield found._replace(model=found.model or request.get("model"))
        return
    if any(isinstance(line.get(key), dict) for key in _USAGES):
        yield response_of(line)
        return
    if "choices" in line or "output" in line or "candidates" in line:
        yield response_of(line)
        return
    messages = line.get("messages")
    if not isinstance(messages, list):
        yield from _of_message(line)
        return
    asked = first(line, _MODELS)  # a request that was kept alone says who was asked
    told = [one for held in messages if isinstance(held, dict) for one in _of_message(held)]
    yield from (one._replace(model=one.model or asked) for one in told)
    if asked is not None and not told:
        yield Request(None, asked)


def _of_message(message: dict[str, Any]) -> Iterator[Request]:
    extra = message.get("extra")
    response = extra.get("response") if isinstance(extra, dict) else None
    if isinstance(response, dict):
        yield response_of(response)
        return
    told = message.get("metadata")  # Strands keeps it there
    for held in (message, told if isinstance(told, dict) else {}):
        if any(isinstance(held.get(key), dict) for key in _USAGES):
            yield response_of(held)
            return


def response_of(response: dict[str, Any]) -> Request:
    """Return what a response tells of its request."""
    usage = next((response[key] for key in _USAGES if isinstance(response.get(key), dict)), None)
    if usage is not None and isinstance(usage.get("tokens"), dict):  # Cohere's
        usage = usage["tokens"]
    return Request(
        usage,
        first(response, _MODELS),
        first(response, _TIMES),
        key=response.get("id"),
        cost=response.get("cost"),
    )


def _latency(line: Any) -> float | None:
    metrics = line.get("metrics") if isinstance(line, dict) else None
    took = number_in(metrics.get("latencyMs")) if isinstance(metrics, dict) else None
    return None if took is None else took / 1000


def first(record: Any, keys: tuple[str, ...]) -> Any:
    """Return the first value under one of the keys; None where there is none."""
    if not isinstance(record, dict):
        return None
    return next((record[key] for key in keys if record.get(key) is not None), None)


def of_langchain(data: Any) -> list[Telemetry]:
    """Read LangChain's messages, also as the state of a graph."""
    return [measured(langchain_requests(data))]


def langchain_requests(data: Any) -> list[Request]:
    """Return the request that each message by a model answers."""
    for key in ("values", "messages"):
        if isinstance(data, dict) and isinstance(data.get(key), (dict, list)):
            data = data[key]
    items = data if isinstance(data, list) else [data]
    return [found for item in items if (found := langchain_request(item)) is not None]


def langchain_request(message: Any) -> Request | None:
    """Return what a message of LangChain's tells of its request; None where it tells nothing."""
    for key in ("kwargs", "data"):
        if isinstance(message, dict) and isinstance(message.get(key), dict):
            message = message[key]
    if not isinstance(message, dict):
        return None
    told = message.get("response_metadata")
    usage = message.get("usage_metadata")
    if not isinstance(usage, dict):
        usage = first(told, _INNER)
    model = first(told, _MODELS)
    if usage is None and model is None:
        return None
    return Request(usage, model, first(told, _TIMES), key=message.get("id"))


def records_in(data: Any, *keys: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list, which may stand under one of the keys."""
    held = first(data, keys) if isinstance(data, dict) else data
    yield from (item for item in (held if isinstance(held, list) else [data]) if _is_object(item))


def _is_object(item: Any) -> bool:
    return isinstance(item, dict)
