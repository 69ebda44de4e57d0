"""LangChain's agentevals on graph trajectories, under Potato's names. Needs the extra `langgraph`.

    is_available()                       whether the package is installed
    graph_trajectory_strict_match()      its strict match
    graph_trajectory_llm_judge(…)        its judge, asked by a model of LangChain's

The package is imported when one of them is made. Without it, `graph_trajectory_match` compares in
all modes, and says where the two differ. `extract_langgraph_trajectory` needs nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar, Literal

from trajgrade.errors import JudgeError, MalformedTraceError, MissingExtraError, shorten
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.wording import clip
from trajgrade.graph_thread import aextract_langgraph_trajectory, extract_langgraph_trajectory
from trajgrade.result import EvaluationResult

__all__ = [
    "GraphTrajectoryJudge",
    "GraphTrajectoryStrictMatch",
    "aextract_langgraph_trajectory",
    "extract_langgraph_trajectory",
    "graph_trajectory_llm_judge",
    "graph_trajectory_strict_match",
    "is_available",
]


def is_available() -> bool:
    """Whether the package agentevals can be imported."""
    try:
        return find_spec("agentevals") is not None
    except ValueError:  # what a test puts in its place has no spec
        return False


def graph_trajectory_strict_match(
    key: str = "graph_trajectory_strict_match",
) -> GraphTrajectoryStrictMatch:
    """Return an evaluator: 1 if every run went through exactly the reference's nodes.

    Raises:
        MissingExtraError: The package agentevals is not installed.
    """
    made = GraphTrajectoryStrictMatch(key)
    made.prepare()
    return made


def graph_trajectory_llm_judge(
    model: str | None = None,
    prompt: Any = None,
    *,
    judge: Any = None,
    continuous: bool = False,
    choices: list[float] | None = None,
    key: str = "graph_trajectory_llm_judge",
) -> GraphTrajectoryJudge:
    """Return an evaluator that has a model grade the runs of a thread.

    Args:
        model: The model's name, as LangChain spells it: `openai:gpt-5-mini`.
        prompt: The prompt, a template with `{thread}`; by default that of agentevals.
        judge: A chat model of LangChain's, or an OpenAI client, instead of a name.
        continuous: Whether scores lie between 0 and 1; else the answer is yes or no.
        choices: The scores that may be given.
        key: The metric's name.

    Raises:
        MissingExtraError: The package agentevals is not installed.
    """
    made = GraphTrajectoryJudge(
        model, prompt, judge, key, continuous=continuous, choices=tuple(choices or ())
    )
    made.prepare()
    return made


def _agentevals(part: str, feature: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(f"agentevals.graph_trajectory.{part}")
    except ImportError as absent:
        raise MissingExtraError(feature, "agentevals", "langgraph") from absent


def _graph(data: Any, side: str) -> dict[str, Any]:
    """Return the graph trajectory that the data is or wraps.

    Raises:
        MalformedTraceError: It is none.
    """
    if isinstance(data, Mapping) and data.keys() == {"inputs", "outputs"}:
        data = {"inputs": data["inputs"], **data["outputs"]}
    if not isinstance(data, Mapping) or not isinstance(data.get("steps"), list):
        raise MalformedTraceError(
            f"the {side} are no graph trajectory, "
            f'{{"inputs": […], "results": […], "steps": [["node", …], …]}}: {shorten(data)}'
        )
    steps, results = data["steps"], data.get("results", [None] * len(data["steps"]))
    inputs = data.get("inputs") or [{}] * len(steps)
    if not isinstance(results, list) or not len(steps) == len(results) == len(inputs):
        raise MalformedTraceError(
            f"the {side} have {len(steps)} lists of steps, and not as many results and inputs"
        )
    return {"inputs": inputs, "results": results, "steps": steps}


@dataclass(frozen=True)
class GraphTrajectoryStrictMatch(Evaluator):
    """1 if every run went through exactly the reference's nodes, by agentevals.

    Args:
        key: The metric's name.
    """

    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"
    needs_reference: ClassVar[bool] = True

    key: str = "graph_trajectory_strict_match"

    def prepare(self) -> None:
        """Import the package.

        Raises:
            MissingExtraError: It is not installed.
        """
        _agentevals("strict", self.key)

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Compare the nodes.

        Args:
            outputs: The graph trajectory.
            reference_outputs: The expected one.
            inputs: Not read.
            extra: Not read.

        Raises:
            MalformedTraceError: Either is no graph trajectory.
        """
        if reference_outputs is None:
            return self.unscored("no_reference", "there is no reference")
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        ours, theirs = _graph(outputs, "outputs"), _graph(reference_outputs, "reference outputs")
        strict = _agentevals("strict", self.key).graph_trajectory_strict_match
        matched = bool(strict(outputs=ours, reference_outputs=theirs)["score"])
        comment = "the same nodes in every run" if matched else _first_apart(ours, theirs)
        return EvaluationResult(self.key, float(matched), matched, clip(comment))


def _first_apart(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    if len(ours["steps"]) != len(theirs["steps"]):
        return f"{len(ours['steps'])} runs against {len(theirs['steps'])}"
    for at, (got, wanted) in enumerate(zip(ours["steps"], theirs["steps"], strict=True)):
        if got != wanted:
            return f"run {at}: expected {shorten(wanted, 160)}, got {shorten(got, 160)}"
    return "the runs differ"


@dataclass(frozen=True)
class GraphTrajectoryJudge(Evaluator):
    """What a model says of the runs of a thread, asked by agentevals.

    A reference is optional: an example of a good thread.

    Args:
        model: The model's name, as LangChain spells it.
        prompt: The prompt, a template with `{thread}`; by default that of agentevals.
        judge: A chat model of LangChain's, or an OpenAI client, instead of a name.
        key: The metric's name.
        continuous: Whether scores lie between 0 and 1; else the answer is yes or no.
        choices: The scores that may be given.
    """

    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    model: str | None = None
    prompt: Any = None
    judge: Any = field(default=None, compare=False)
    key: str = "graph_trajectory_llm_judge"
    continuous: bool = field(default=False, kw_only=True)
    choices: tuple[float, ...] = field(default=(), kw_only=True)

    def prepare(self) -> None:
        """Import the package.

        Raises:
            MissingExtraError: It is not installed.
        """
        _agentevals("llm", self.key)

    def _settings(self, part: ModuleType) -> dict[str, Any]:
        return {
            "prompt": part.DEFAULT_REF_COMPARE_PROMPT if self.prompt is None else self.prompt,
            "model": self.model,
            "judge": self.judge,
            "feedback_key": self.key,
            "continuous": self.continuous,
            "choices": list(self.choices) or None,
        }

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Have the model grade the thread.

        Args:
            outputs: The graph trajectory.
            reference_outputs: A good one, or None.
            inputs: Not read: the graph trajectory holds them.
            extra: Not read.

        Raises:
            MalformedTraceError: Either is no graph trajectory.
            JudgeError: The model cannot be asked.
        """
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        graph = _graph(outputs, "outputs")
        wanted = None
        if reference_outputs is not None:
            wanted = _graph(reference_outputs, "reference outputs")
        part = _agentevals("llm", self.key)
        make: Callable[..., Any] = part.create_async_graph_trajectory_llm_as_judge
        try:
            ask = make(**self._settings(part))
            said = await ask(inputs=graph["inputs"], outputs=graph, reference_outputs=wanted)
        except Exception as broken:  # whatever a client of some model raises
            raise JudgeError(f"{self.key}: {type(broken).__name__}: {broken}") from broken
        return self._verdict(said)

    def _verdict(self, said: Mapping[str, Any]) -> EvaluationResult:
        score = said.get("score")
        comment = clip(str(said.get("comment") or "the judge gave no reason"))
        if not isinstance(score, (bool, int, float)) or not 0 <= score <= 1:
            return self.unscored(
                "unreadable_verdict", f"the judge's score is {shorten(score)}", {"reply": said}
            )
        return EvaluationResult(self.key, float(score), score, comment)
