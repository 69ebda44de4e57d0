"""What answers the prompts of a task: a runnable, or a model; and what it answered, kept.

A model is a function from prompt to text, an object with `generate_content`, or the name of a model
that trajgrade can ask. A runnable is an agent (`trajgrade.agent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajgrade.agent import Agent
from trajgrade.contracts import Judge, JudgeRequest, JudgeTurn
from trajgrade.dataset import Example
from trajgrade.errors import ConfigError
from trajgrade.evaluation.columns import PREDICTED, RESPONSE, Row
from trajgrade.jsontext import dumps
from trajgrade.judging.chosen import judges_of
from trajgrade.measured import FAILURE, LATENCY
from trajgrade.reply import calls_of, said_in
from trajgrade.run import Row as Graded
from trajgrade.run import Run


class Answers:
    """What an agent answered, row by row: the row of the task with its answer in it.

    Args:
        rows: The rows whose prompts are answered.
        agent: What answers them.
    """

    def __init__(self, rows: Sequence[Row], agent: Agent) -> None:
        self._asked = rows
        self._traces = agent.traces
        self._kept: dict[int, Row] = {}

    def __call__(self, example: Example, graded: Graded) -> None:
        """Keep what was answered for one row."""
        said, trace = example.response, example.outputs
        row = {
            **self._asked[example.row],
            RESPONSE: said_in(trace) if said is None else said,
            LATENCY: graded.latency_in_seconds,
            FAILURE: graded.failure,
        }
        if self._traces or trace is not None:
            row[PREDICTED] = calls_of(trace)
        self._kept[example.row] = row

    def of(self, run: Run) -> list[Row]:
        """Return the rows of a run, answered."""
        return [self._kept[row.row] for row in run.rows]


def answering(runnable: Any, model: Any, *, max_concurrency: int) -> Agent | None:
    """Return what answers; None where the dataset holds the answers.

    Raises:
        ConfigError: Both are given, or one that cannot answer.
    """
    if runnable is not None and model is not None:
        raise ConfigError("evaluate: runnable and model are given; one of them answers a prompt")
    target = runnable if model is None else model
    if isinstance(model, str):
        target = _Asking(judges_of(model)[0])
    generate = getattr(model, "generate_content", None)
    if callable(generate) and not callable(model):
        target = _Generating(generate)
    if target is None:
        return None
    return Agent(target, max_concurrency=max_concurrency, traces=model is None)


class _Asking:
    """A model that is named, as a function from prompt to text."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def __call__(self, prompt: Any) -> str:
        said = prompt if isinstance(prompt, str) else dumps(prompt).decode()
        return (await self._judge.ask(JudgeRequest(turns=(JudgeTurn("user", said),)))).text


class _Generating:
    """A model's `generate_content` as a function from prompt to text."""

    def __init__(self, generate: Any) -> None:
        self._generate = generate

    def __call__(self, prompt: Any) -> Any:
        return self._generate(prompt).text
