"""What judges said in a run, and what that took: verdicts by metric, tokens and dollars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trajgrade.report.plain import count, printable
from trajgrade.result import EvaluationResult

HEADINGS = ("metric", "judge", "verdicts", "replies", "tokens in", "tokens out", "cost")
_MOST = 8


class Verdicts:
    """What the judges of a run said, row by row."""

    def __init__(self) -> None:
        self._metrics: dict[str, _Metric] = {}

    def add(self, result: EvaluationResult) -> None:
        """Note one result; one that no judge was asked for is none of it."""
        asked = result.metadata.get("judge")
        if isinstance(asked, dict) and "asked" in asked:
            self._metrics.setdefault(result.key, _Metric()).add(result, asked)

    def rows(self) -> Iterator[list[str]]:
        """Yield what was said under each metric, in the order of `HEADINGS`."""
        for key, metric in self._metrics.items():
            yield [printable(key), *metric.cells()]

    @property
    def total(self) -> str:
        """What all verdicts cost, in a sentence; empty where none was asked for."""
        if not self._metrics:
            return ""
        costs = [metric.cost for metric in self._metrics.values()]
        replies = sum(metric.replies for metric in self._metrics.values())
        unpriced = sum(metric.unpriced for metric in self._metrics.values())
        told = f"{replies:,} {'reply' if replies == 1 else 'replies'} cost ${sum(costs):,.4f}"
        return (
            f"{told}; of {count(unpriced, 'verdict')} the price is not known" if unpriced else told
        )


class _Metric:
    def __init__(self) -> None:
        self.judges: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.replies = self.tokens_in = self.tokens_out = self.unpriced = 0
        self.cost = 0.0

    def add(self, result: EvaluationResult, asked: dict[str, Any]) -> None:
        self.judges[str(asked.get("model") or asked.get("judge") or "?")] += 1
        self.said[result.error.kind if result.error is not None else _word(result)] += 1
        self.replies += int(asked.get("asked") or 0)
        self.tokens_in += int(asked.get("tokens_in") or 0)
        self.tokens_out += int(asked.get("tokens_out") or 0)
        self.cost += float(asked.get("cost") or 0.0)
        self.unpriced += asked.get("cost") is None

    def cells(self) -> list[str]:
        cost = f"${self.cost:,.4f}" if self.cost or not self.unpriced else "-"
        counts = (self.replies, self.tokens_in, self.tokens_out)
        return [_told(self.judges), _told(self.said), *(f"{number:,}" for number in counts), cost]


def _word(result: EvaluationResult) -> str:
    value = result.score if result.value is None else result.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)[:40]


def _told(counted: Counter[str]) -> str:
    told = [f"{printable(word)} × {number:,}" for word, number in counted.most_common(_MOST)]
    left = len(counted) - _MOST
    return ", ".join([*told, f"{left} more"] if left > 0 else told)
