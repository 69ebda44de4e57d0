"""The other response of each pair, where a model gives it: `PairwiseMetric(baseline_model=…)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajgrade.dataset import Dataset
from trajgrade.errors import ConfigError
from trajgrade.evaluation.answering import answering
from trajgrade.evaluation.columns import Columns, Row
from trajgrade.evaluation.judged import PairwiseMetric
from trajgrade.evaluators.rated import BASELINE
from trajgrade.reply import said_in


def with_baseline(
    rows: Sequence[Row], metrics: Sequence[Any], columns: Columns, *, max_concurrency: int
) -> tuple[Sequence[Row], Columns]:
    """Return the rows with the baseline's responses, where a metric names what gives them.

    A row on which the baseline fails has none, and is not evaluated by these metrics.

    Raises:
        ConfigError: Two metrics name two, or the dataset holds baseline responses, too.
    """
    named = [m.baseline_model for m in metrics if isinstance(m, PairwiseMetric)]
    models = [model for model in named if model is not None]
    if not models:
        return rows, columns
    if any(model is not models[0] for model in models):
        raise ConfigError("metrics: two baseline_models; the metrics of one task share one")
    if columns.of(BASELINE) is not None:
        raise ConfigError(
            "metrics: baseline_model gives the baseline's responses, and the dataset holds some "
            f"in {columns.of(BASELINE)!r}: leave one of them out"
        )
    agent = answering(None, models[0], max_concurrency=max_concurrency)
    if agent is None:
        return rows, columns
    asked = [{"inputs": columns.value(row, "prompt")} for row in rows]
    found = []
    for row, (example, outcome) in zip(
        rows, agent.over(Dataset.load(asked).examples()), strict=True
    ):
        said = said_in(example.outputs) if example.response is None else example.response
        found.append({**row, BASELINE: None if outcome.failure else said})
    return found, Columns(found, columns.mapping)
