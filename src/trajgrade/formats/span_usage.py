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
from trajgrade.formats.spans import Span, Tree
from trajgrade.formats.utterances import parsed
from trajgrade.telemetry import Telemetry, Usage

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


def count(span: Span, attributes: dict[str, Any]) -> None:
    """Give the span of a model or an agent the model and the tokens that its attributes tell."""
    span.model = next(
        (name for key in _MODELS if isinstance(name := attributes.get(key), str) and name), None
    )
    held: dict[str, Any] = {}
    for key, name in _NAMES.items():
        if key in attributes:
            held.setdefault(name, _number(attributes[key]))
    for key in () if held else _RECORDS:
        record = attributes.get(key)
        record = parsed(record) if isinstance(record, str) else record
        if isinstance(record, dict):
            held = record
    if held:
        span.usage = usage_in(held)


def _number(value: Any) -> Any:
    """Return a count that the exporter wrote as a text, as OTLP JSON does."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


def told(tree: Tree) -> Telemetry:
    """Return what the spans of one run tell."""
    seen = [span for root in tree.roots for span in _within(root, tree)]
    usages = [found for root in tree.roots for found in _counts(root, tree)]
    names = [name for root in tree.roots for name in _models(root, tree)]
    relevant = [span for span in seen if span.kind != "other"]
    began = min((span.began for span in relevant if span.began), default=None)
    ended = max((span.ended for span in relevant if span.ended), default=None)
    took = (ended - began).total_seconds() if began and ended and ended > began else None
    return Telemetry(tuple(dict.fromkeys(names)), added(usages), began, ended, took)


def _within(span: Span, tree: Tree) -> list[Span]:
    return [span, *(one for part in tree.inner(span) for one in _within(part, tree))]


def _counts(span: Span, tree: Tree) -> list[Usage]:
    inner = [found for part in tree.inner(span) for found in _counts(part, tree)]
    return inner or ([span.usage] if span.usage is not None else [])


def _models(span: Span, tree: Tree) -> list[str]:
    inner = [found for part in tree.inner(span) for found in _models(part, tree)]
    return inner or ([span.model] if span.model is not None else [])
