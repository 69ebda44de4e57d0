"""What answers the prompts of a task: a runnable, or a model; and what it answered, kept.

A model is a function from prompt to text, or an object with `generate_content`. A runnable is an
agent (`trajgrade.agent`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from trajgrade.agent import Agent, Answered
from trajgrade.dataset import Example
from trajgrade.errors import ConfigError
from trajgrade.evaluation.columns import PREDICTED, RESPONSE, Row
from trajgrade.measured import FAILURE, LATENCY
from trajgrade.reply import calls_of, said_in
from trajgrade.result import AgentError


class Answering(Agent):
    """An agent that keeps, for each row, what it answered: the row with its answer in it.

    Args:
        target: What answers.
        rows: The rows whose prompts it answers.
        max_concurrency: How many prompts are being answered at once.
        traces: Whether it gives trajectories too; else those that the dataset holds count.

    Attributes:
        rows: The rows answered so far, in order.
        errors: How the agent failed on them, None where it did not.
    """

    def __init__(
        self, target: Any, rows: Sequence[Row], *, max_concurrency: int, traces: bool
    ) -> None:
        super().__init__(target, max_concurrency=max_concurrency, traces=traces)
        self._asked = rows
        self.rows: list[Row] = []
        self.errors: list[AgentError | None] = []

    def over(self, examples: Iterable[Example]) -> Generator[Answered, None, None]:
        """Answer every example, in order, and keep what was answered."""
        for example, outcome in super().over(examples):
            said, trace = example.response, example.outputs
            row = {
                **self._asked[example.row],
                RESPONSE: said_in(trace) if said is None else said,
                LATENCY: outcome.latency_in_seconds,
                FAILURE: outcome.failure,
            }
            if self.traces or trace is not None:
                row[PREDICTED] = calls_of(trace)
            self.rows.append(row)
            self.errors.append(outcome.error)
            yield example, outcome


def answering(
    runnable: Any, model: Any, rows: Sequence[Row], *, max_concurrency: int
) -> Answering | None:
    """Return what answers; None where the dataset holds the answers.

    Raises:
        ConfigError: Both are given, or one that cannot answer.
    """
    if runnable is not None and model is not None:
        raise ConfigError("evaluate: runnable and model are given; one of them answers a prompt")
    if isinstance(model, str):
        raise ConfigError(
            f"evaluate: model={model!r}: trajgrade calls no provider by name. Give a function from "
            "prompt to text that asks it: model=lambda prompt: client.….text"
        )
    target = runnable if model is None else model
    generate = getattr(model, "generate_content", None)
    if callable(generate) and not callable(model):
        target = _Generating(generate)
    if target is None:
        return None
    return Answering(target, rows, max_concurrency=max_concurrency, traces=model is None)


class _Generating:
    """A model's `generate_content` as a function from prompt to text."""

    def __init__(self, generate: Any) -> None:
        self._generate = generate

    def __call__(self, prompt: Any) -> Any:
        return self._generate(prompt).text
