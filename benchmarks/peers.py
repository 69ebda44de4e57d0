"""Other libraries on the same rows: run by `score` with the Python of `.venv-peers`.

Usage: peers.py FILE ROWS. Prints one JSON object, contestant to its number of rows, then answers
each contestant's name on standard input with the CPU seconds of one round. Each library does what
its users would let it do: one metric, on the messages as they are. Slow ones get fewer rows.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Score = Callable[[Any, Any], Any]


def read(path: Path, count: int) -> Iterator[Any]:
    """Yield the first rows of the file."""
    with path.open("rb") as file:
        for line in itertools.islice(file, count):
            yield json.loads(line)


def calls(messages: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and arguments of each call, for libraries that do not read messages."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            yield call["function"]["name"], json.loads(call["function"]["arguments"])


def potato() -> Score:
    """Strict match."""
    evaluators = importlib.import_module("potato.evaluators")
    match = evaluators.TrajectoryMatchEvaluator(mode="strict")
    return lambda outputs, reference: (
        match.evaluate(outputs=outputs, reference_outputs=reference).score
    )


def agentevals() -> Score:
    """Unordered match; its strict match also compares the messages between the calls."""
    module = importlib.import_module("agentevals.trajectory.match")
    match = module.create_trajectory_match_evaluator(trajectory_match_mode="unordered")
    return lambda outputs, reference: float(
        match(outputs=outputs, reference_outputs=reference)["score"]
    )


def adk() -> Score:
    """Exact match of names and arguments; each conversation is one invocation."""
    case = importlib.import_module("google.adk.evaluation.eval_case")
    module = importlib.import_module("google.adk.evaluation.trajectory_evaluator")
    types = importlib.import_module("google.genai.types")
    evaluator = module.TrajectoryEvaluator(threshold=1.0)
    asked = types.Content(role="user", parts=[types.Part(text="asked")])

    def made(messages: list[Any]) -> Any:
        uses = [types.FunctionCall(name=name, args=args) for name, args in calls(messages)]
        return case.Invocation(
            user_content=asked, intermediate_data=case.IntermediateData(tool_uses=uses)
        )

    return lambda outputs, reference: (
        evaluator.evaluate_invocations([made(outputs)], [made(reference)]).overall_score
    )


def ragas() -> Score:
    """Tool call accuracy in strict order: a share, so not the same number as a strict match."""
    metrics = importlib.import_module("ragas.metrics.collections.tool_call_accuracy")
    messages = importlib.import_module("ragas.messages")
    metric = metrics.ToolCallAccuracy()
    loop = asyncio.new_event_loop()

    def made(found: list[Any]) -> list[Any]:
        return [messages.ToolCall(name=name, args=args) for name, args in calls(found)]

    def score(outputs: list[Any], reference: list[Any]) -> Any:
        said = [messages.AIMessage(content="", tool_calls=made(outputs))]
        return loop.run_until_complete(metric.ascore(said, made(reference))).value

    return score


def pydantic_evals() -> Score:
    """Exact match of names only; it reads calls from spans, so spans are made of them."""
    evaluators = importlib.import_module("pydantic_evals.evaluators")
    spans = importlib.import_module("pydantic_evals.otel.span_tree")
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def made(messages: list[Any]) -> Any:
        nodes = [
            spans.SpanNode(
                name=f"execute_tool {name}",
                trace_id=1,
                span_id=number,
                parent_span_id=None,
                start_timestamp=start + timedelta(seconds=number),
                end_timestamp=start + timedelta(seconds=number),
                attributes={"gen_ai.tool.name": name},
            )
            for number, (name, _) in enumerate(calls(messages), start=1)
        ]
        tree = spans.SpanTree()
        tree.add_spans(nodes)
        return tree

    def score(outputs: list[Any], reference: list[Any]) -> Any:
        names = [name for name, _ in calls(reference)]
        context = evaluators.EvaluatorContext(
            name=None, inputs=None, metadata=None, expected_output=None, output=None, duration=0.0,
            _span_tree=made(outputs), attributes={}, metrics={},
        )  # fmt: skip
        return evaluators.TrajectoryMatch(names, order="exact").evaluate(context).value

    return score


LIBRARIES: dict[str, tuple[Callable[[], Score], int]] = {
    "potato": (potato, 2000),
    "agentevals": (agentevals, 300),
    "google-adk": (adk, 1000),
    "ragas": (ragas, 1000),
    "pydantic-evals (names only)": (pydantic_evals, 1000),
}


def contestants(path: Path, rows: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return what each library that is installed can be timed at, and on how many rows."""
    found: dict[str, tuple[Callable[[], Any], int]] = {}
    for name, (load, most) in LIBRARIES.items():
        try:
            score = load()
        except ImportError:
            continue
        count = min(rows, most)
        kept = list(read(path, count))

        def whole(score: Score = score, count: int = count) -> None:
            for row in read(path, count):
                score(row["outputs"], row["reference_outputs"])

        def parsed(score: Score = score, kept: list[Any] = kept) -> None:
            for row in kept:
                score(row["outputs"], row["reference_outputs"])

        found[f"{name}, from the file"] = (whole, count)
        found[f"{name} on parsed messages"] = (parsed, count)
    return found


def main() -> None:
    """Say what there is, then time what is asked for."""
    # Some libraries print as they load; only the answers may go to the other process.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    found = contestants(Path(sys.argv[1]), int(sys.argv[2]))
    answers.write(json.dumps({name: rows for name, (_, rows) in found.items()}) + "\n")
    answers.flush()
    for line in sys.stdin:
        run, _ = found[line.strip()]
        gc.collect()
        gc.freeze()
        start = time.process_time()
        run()
        answers.write(f"{time.process_time() - start}\n")
        answers.flush()
        gc.unfreeze()


if __name__ == "__main__":
    main()
