"""The models, tokens and times that spans tell of → `Telemetry`.

    gen_ai.usage.input_tokens, gen_ai.usage.output_tokens; before: prompt_tokens, completion_tokens
    llm.usage.total_tokens, llm.token_count.prompt, llm.token_count.completion      OpenInference
    ai.usage.promptTokens, mlflow.chat.tokenUsage, langfuse.observation.usage_details

Agents and recorders around a model call count its tokens once more: a span's own count where no
span inside it has one.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats.metering import added, usage_in
from trajgrade.formats.spans import Count, Span, Tree
from trajgrade.formats.utterances import parsed
from trajgrade.telemetry import Telemetry

_COUNTS = {
    "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "inputTokens": "input_tokens", "outputTokens": "output_tokens",
    "promptTokens": "input_tokens", "completionTokens": "output_tokens",
    "total_tokens": "total_tokens", "totalTokens": "total_tokens",
    "cache_read_input_tokens": "cached_tokens", "cache_read.input_tokens": "cached_tokens",
    "cachedInputTokens": "cached_tokens", "cost": "cost",
}  # fmt: skip
_BEFORE = ("gen_ai.usage.", "llm.usage.", "ai.usage.")
_ALSO = {
    "llm.token_count.prompt": "input_tokens", "llm.token_count.completion": "output_tokens",
    "llm.token_count.total": "total_tokens",
    "llm.token_count.prompt_details.cache_read": "cached_tokens",
    "llm.cost.total": "cost", "operation.cost": "cost",
}  # fmt: skip
_NAMES = {f"{before}{key}": name for before in _BEFORE for key, name in _COUNTS.items()} | _ALSO
_RECORDS = ("mlflow.chat.tokenUsage", "langfuse.observation.usage_details")
_MODELS = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model",
    "ai.model.id", "mlflow.llm.model", "langfuse.observation.model.name", "llm.request.model",
)  # fmt: skip


def counts(attributes: dict[str, Any]) -> Count:
    """Return the model that the attributes of a span name, and the tokens that they count."""
    names = (attributes.get(key) for key in _MODELS)
    model = next((name for name in names if isinstance(name, str) and name), None)
    held: dict[str, Any] = {}
    for key, name in _NAMES.items():
        if key in attributes:
            held.setdefault(name, _number(attributes[key]))
    for key in () if held else _RECORDS:
        record = attributes.get(key)
        record = parsed(record) if isinstance(record, str) else record
        if isinstance(record, dict):
            held = record
    return model, usage_in(held) if held else None


def _number(value: Any) -> Any:
    """Return a count that the exporter wrote as a text, as OTLP JSON does."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


def told(tree: Tree) -> Telemetry:
    """Return what the spans of one run tell."""
    seen = [span for root in tree.roots for span in _within(root, tree)]
    counted = {id(span): _counted(span) for span in seen}
    usages = [usage for root in tree.roots for _, usage in _inner(root, tree, counted, 1)]
    names = [name for root in tree.roots for name, _ in _inner(root, tree, counted, 0)]
    relevant = [span for span in seen if span.kind != "other"]
    began = min((span.began for span in relevant if span.began), default=None)
    ended = max((span.ended for span in relevant if span.ended), default=None)
    took = (ended - began).total_seconds() if began and ended and ended > began else None
    return Telemetry(
        tuple(dict.fromkeys(name for name in names if name is not None)),
        added([usage for usage in usages if usage is not None]), began, ended, took,
    )  # fmt: skip


def _within(span: Span, tree: Tree) -> list[Span]:
    return [span, *(one for part in tree.inner(span) for one in _within(part, tree))]


def _counted(span: Span) -> Count:
    if span.counted is None:
        return None, None
    read, data = span.counted
    try:
        return read(data)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return None, None  # what a trace says of itself beside its steps is no reason to refuse it


def _inner(span: Span, tree: Tree, counted: dict[int, Count], at: int) -> list[Count]:
    """Return what the innermost spans count that count a model, or tokens."""
    inner = [found for part in tree.inner(span) for found in _inner(part, tree, counted, at)]
    own = counted[id(span)]
    return inner or ([own] if own[at] is not None else [])
