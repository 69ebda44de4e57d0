"""The tokens, costs, models and times of a run, however they are spelled → `Telemetry`.

    {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}           OpenAI, Mistral
    {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": 5}       Anthropic
    {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}        Gemini
    {"input_tokens": 10, "output_tokens": 5, "input_token_details": {…}}        LangChain

Whether what came from a cache stands in the input or beside it is told by the total; without one,
it stands beside the input where Anthropic and Amazon spell it, and in it elsewhere. Requests of one
key are one request, told several times as it streams: the last tells it whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from trajgrade.formats.instant import instant
from trajgrade.telemetry import Telemetry, Usage

_INPUT = (
    "input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "promptTokenCount",
    "prompt_token_count", "inputTokenCount", "input_token_count", "inputUsage", "input",
    "tokens_sent", "total_prompt_tokens", "total_input_tokens", "request_tokens", "prompt",
)  # fmt: skip
_OUTPUT = (
    "output_tokens", "completion_tokens", "outputTokens", "completionTokens",
    "candidatesTokenCount", "candidates_token_count", "responseTokenCount", "outputTokenCount",
    "output_token_count", "outputUsage", "output", "tokens_received", "total_completion_tokens",
    "total_output_tokens", "response_tokens", "completion",
)  # fmt: skip
_TOTAL = (
    "total_tokens", "totalTokens", "totalTokenCount", "total_token_count", "totalUsage", "total",
)  # fmt: skip
_CACHED = (
    "cache_read_input_tokens", "cacheReadInputTokens", "cacheReadInputTokenCount",
    "input_tokens_cache_read", "cachedContentTokenCount", "cached_content_token_count",
    "cached_input_tokens", "cachedInputTokens", "cached_tokens", "num_cached_tokens", "cached",
    "cache_read_tokens", "total_cached_tokens", "prompt_cached_tokens",
)  # fmt: skip
_DETAILS = (
    "prompt_tokens_details", "input_tokens_details", "input_token_details", "inputTokenDetails",
)  # fmt: skip
_IN_DETAILS = ("cached_tokens", "cache_read", "cacheReadTokens")
_WRITTEN = (
    "cache_creation_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount",
    "input_tokens_cache_write", "cache_write_tokens",
)  # fmt: skip
_BESIDE = ("cache_read_input_tokens", "cacheReadInputTokens", *_WRITTEN[:2])
_MORE_INPUT = ("toolUsePromptTokenCount", "tool_use_prompt_token_count", "tool")
_MORE_OUTPUT = ("thoughtsTokenCount", "thoughts_token_count", "thoughts")
_COST = (
    "cost", "cost_usd", "total_cost", "totalCost", "total_cost_usd", "instance_cost",
    "accumulated_cost", "calculatedTotalCost",
)  # fmt: skip
_MOST = 1 << 62


class Request(NamedTuple):
    """One request to a model, as far as it is recorded; whatever the values are."""

    usage: Any = None
    model: Any = None
    began: Any = None
    ended: Any = None
    key: Any = None
    cost: Any = None


def measured(
    requests: Iterable[Request],
    times: Iterable[Any] = (),
    *,
    sums: Any = None,
    latency: Any = None,
    models: Iterable[Any] = (),
) -> Telemetry:
    """Return what requests and moments come to.

    Args:
        requests: The requests; those of one key count once, as the last tells them.
        times: Moments of the run.
        sums: A record of the run's sums, where it keeps them; they go before what requests tell.
        latency: How long the run took, in seconds.
        models: Models named apart from requests, for where no request names one.
    """
    once: dict[Any, Request] = {}
    moments = [found for one in times if (found := instant(one)) is not None]
    begins, ends = list(moments), moments if len(moments) > 1 else []
    for number, request in enumerate(requests):
        key = request.key if isinstance(request.key, str) and request.key else number
        once[key] = request
        began, ended = instant(request.began), instant(request.ended)
        begins += [at for at in (began, ended) if at is not None]
        ends += [ended] if ended is not None else []
    usages = [usage_in(one.usage, one.cost) for one in once.values()]
    usage = _filled(added([one for one in usages if one is not None]), usage_in(sums))
    first, last = min(begins, default=None), max(ends, default=None)
    took = number_in(latency)
    if took is None and first is not None and last is not None and first != last:
        took = (last - first).total_seconds()
    names = _names(one.model for one in once.values()) or _names(models)
    return Telemetry(names, usage, first, last, took)


def _names(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in values if isinstance(name, str) and name))


def usage_in(record: Any, cost: Any = None) -> Usage | None:
    """Return the tokens that a record tells of one request; None where it tells none.

    Args:
        record: The record, in any spelling.
        cost: The cost, where it stands apart.
    """
    held = record if isinstance(record, dict) else {}
    given, made, total = (_count(held, keys) for keys in (_INPUT, _OUTPUT, _TOTAL))
    cached, written = _cached(held), _count(held, _WRITTEN)
    given = _plus(given, _count(held, _MORE_INPUT))
    made = _made(held, given, made, total)
    beside = (cached or 0) + (written or 0)
    if given is not None and beside and _is_beside(held, given, made, total, beside):
        given += beside
    if total is None and given is not None and made is not None:
        total = given + made
    price = _first_number(held, _COST)
    price = number_in(cost) if price is None else price
    if given is made is total is price is None:
        return None
    return Usage(given, made, total, cached, price, 1)


def _made(
    held: dict[str, Any], given: int | None, made: int | None, total: int | None
) -> int | None:
    """Return the output with the thoughts, which some count beside it."""
    thoughts = _count(held, _MORE_OUTPUT)
    if thoughts and total is not None and (given or 0) + (made or 0) == total:
        return made
    return _plus(made, thoughts)


def _is_beside(
    held: dict[str, Any], given: int, made: int | None, total: int | None, beside: int
) -> bool:
    if total is not None:
        return given + (made or 0) + beside == total
    plain = "prompt_tokens" not in held and "promptTokens" not in held
    return plain and any(key in held for key in _BESIDE)


def _cached(held: dict[str, Any]) -> int | None:
    found = _count(held, _CACHED)
    for key in _DETAILS if found is None else ():
        inner = held.get(key)
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict):
            found = _count(inner, _IN_DETAILS)
        if found is not None:
            break
    return found


def _count(held: dict[str, Any], keys: Iterable[str]) -> int | None:
    for key in keys:
        value = held.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if 0 <= value < _MOST and value == int(value):
            return int(value)
    return None


def _first_number(held: dict[str, Any], keys: Iterable[str]) -> float | None:
    return next((found for key in keys if (found := number_in(held.get(key))) is not None), None)


def number_in(value: Any) -> float | None:
    """Return a number of at least 0; None where the value is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < _MOST and math.isfinite(value) else None


def _plus(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


def added(usages: list[Usage]) -> Usage | None:
    """Return the usages added up; None where there are none."""
    if not usages:
        return None
    costs = [one.cost for one in usages if one.cost is not None]
    return _usage(
        [_added(values) for values in zip(*map(_tokens, usages), strict=True)],
        math.fsum(costs) if costs else None,
        sum(one.requests for one in usages),
    )


def _tokens(usage: Usage) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.cached_tokens


def _added(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _filled(usage: Usage | None, sums: Usage | None) -> Usage | None:
    """Return the sums of the run, with what only its requests tell; empty ones do not count."""
    if sums is None or (usage is not None and not any((*_tokens(sums), sums.cost))):
        return usage
    if usage is None:
        return msgspec.structs.replace(sums, requests=0)
    pairs = zip(_tokens(sums), _tokens(usage), strict=True)
    tokens = [one if one is not None else other for one, other in pairs]
    return _usage(tokens, usage.cost if sums.cost is None else sums.cost, usage.requests)


def _usage(tokens: Sequence[int | None], cost: float | None, requests: int) -> Usage:
    given, made, total, cached = tokens
    return Usage(given, made, total, cached, cost, requests)
