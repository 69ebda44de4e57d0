"""`rubric_dag`: a decision tree that the judge walks, node by node, to a score that you wrote.

    root: answers
    nodes:
      answers:
        question: Does the response answer the question?
        choices: [yes, partly, no]
        branches:
          yes: sources                            another node
          partly: {score: 0.5, label: partial}    a leaf
          no: {score: 0, label: no answer}
      sources: …

The judge chooses one of the choices at each node, and never a number: scores are authored. The path
is in the metadata, with the reasons, so that one decision can be corrected alone. Without
`choices`, those of `branches` are meant. A tree with a circle, a branch that leads nowhere, a
choice without a branch are refused when it is made. YAML's bare yes and no are read as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from trajgrade.contracts import Judge
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.evaluators.judged import JudgedEvaluator, spoken, template, text_of
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.spec import VerdictSpec
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult

_NODE_KEYS = ("question", "choices", "branches")
_LEAF_KEYS = ("score", "label")


class Leaf(NamedTuple):
    """Where a path ends."""

    score: float
    label: str


class Node(NamedTuple):
    """One question; each choice leads to a leaf or to the node of that name."""

    question: str
    branches: dict[str, Leaf | str]


PRESETS: dict[str, dict[str, Any]] = {
    "answer_quality": {
        "root": "answers",
        "nodes": {
            "answers": {
                "question": "Does the response answer the question that was asked, correctly?",
                "branches": {
                    "yes": "supported",
                    "partially": {"score": 0.5, "label": "partial answer"},
                    "no": {"score": 0.0, "label": "no answer"},
                },
            },
            "supported": {
                "question": "Is every claim of the response supported by what the agent was told?",
                "branches": {
                    "yes": {"score": 1.0, "label": "correct and supported"},
                    "no": {"score": 0.7, "label": "correct, not supported"},
                },
            },
        },
    },
    "task_completion": {
        "root": "done",
        "nodes": {
            "done": {
                "question": "Did the agent reach the goal of the task?",
                "branches": {"yes": "side_effects", "partially": "honest", "no": "honest"},
            },
            "side_effects": {
                "question": "Did it change anything that nobody asked it to change?",
                "branches": {
                    "no": {"score": 1.0, "label": "done"},
                    "yes": {"score": 0.5, "label": "done, with side effects"},
                },
            },
            "honest": {
                "question": "Does its last message say plainly what was not done?",
                "branches": {
                    "yes": {"score": 0.3, "label": "not done, and said so"},
                    "no": {"score": 0.0, "label": "not done, and not said"},
                },
            },
        },
    },
}


@dataclass(frozen=True)
class RubricDag(JudgedEvaluator):
    """A decision tree that the judge walks to an authored score.

    `value` is the leaf's label, or its score where it has none; `metadata["path"]` holds each node
    with question, choice and reasoning.

    Attributes:
        dag: The tree: `{root, nodes}`, and `key`, the metric's name, if it has one; or the name of
            one of ours, `answer_quality` or `task_completion`.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        key: The metric's name; by default the tree's own, else `rubric_dag`.

    Raises:
        ConfigError: The tree is wrong; holds all faults.
    """

    counts_votes: ClassVar[bool] = True

    dag: Mapping[str, Any] | str
    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    key: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Read the tree."""
        super().__post_init__()
        written = self.written
        if not self.key:
            own = written.get("key")
            object.__setattr__(self, "key", own if isinstance(own, str) and own else "rubric_dag")
        faults = [*_faults(written)]
        if faults:
            raise ConfigError(*faults)

    @property
    def written(self) -> Mapping[str, Any]:
        """The tree as it is written.

        Raises:
            ConfigError: There is none.
        """
        if isinstance(self.dag, Mapping):
            return self.dag
        if not isinstance(self.dag, str):
            raise ConfigError(f"dag: {{root, nodes}} is needed, got {shorten(self.dag)}")
        if self.dag not in PRESETS:
            raise ConfigError(f"dag: {unknown('preset', self.dag, sorted(PRESETS))}")
        return {"key": self.dag, **PRESETS[self.dag]}

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Walk the tree.

        Args:
            outputs: A trace in any shape, or the answer.
            reference_outputs: Shown to the judge, if there is one.
            inputs: The task, shown to the judge, if there is one.
            extra: `response` and `context` are read.

        Raises:
            JudgeError: The judge cannot be reached.
        """
        said = spoken(outputs, extra.get("response"))
        if said is None:
            return self.unscored("no_output", "there is no response")
        shown = {
            "task": inputs, "context": extra.get("context"), "response": said,
            "reference": reference_outputs,
        }  # fmt: skip
        return await self.voted({k: text_of(v) for k, v in shown.items() if v is not None})

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge walk to a leaf."""
        nodes = _nodes(self.written)
        path: list[dict[str, Any]] = []
        place: Leaf | str = str(self.written["root"])
        while isinstance(place, str):
            node = nodes[place]
            spec = VerdictSpec.choice(dict.fromkeys(node.branches, None))
            prompt = Prompt(template("rubric_dag"), example, {"question": node.question})
            verdict = await asked(judge, prompt, spec, sample=sample)
            if verdict.unread:
                return verdict.result(self.key, metadata={"path": path, "at": place})
            path.append(
                {
                    "node": place, "question": node.question, "choice": verdict.value,
                    "reasoning": verdict.reasoning, "judge": verdict.evidence,
                }
            )  # fmt: skip
            place = node.branches[verdict.value]
        steps = " → ".join(f"{step['node']}: {step['choice']}" for step in path)
        value = place.label or place.score
        return EvaluationResult(self.key, place.score, value, f"{steps}: {value}", {"path": path})


def _nodes(written: Mapping[str, Any]) -> dict[str, Node]:
    """Return the nodes of a tree that has no faults."""
    return {
        name: Node(node["question"], {_word(c): _led(to) for c, to in node["branches"].items()})
        for name, node in written["nodes"].items()
    }


def _led(to: Any) -> Leaf | str:
    if isinstance(to, Mapping):
        return Leaf(float(to["score"]), str(to.get("label", "")))
    return str(to)


def _word(choice: Any) -> str:
    """Return a choice as text; YAML reads a bare yes and no as flags."""
    return {True: "yes", False: "no"}[choice] if isinstance(choice, bool) else str(choice)


def _faults(written: Mapping[str, Any]) -> Iterator[str]:
    known = ("key", "root", "nodes")
    yield from (f"dag: {unknown('key', name, known)}" for name in written if name not in known)
    nodes = written.get("nodes")
    if not isinstance(nodes, Mapping) or not nodes:
        yield f"dag.nodes: nodes by name are needed, got {shorten(nodes)}"
        return
    names = [str(name) for name in nodes]
    if written.get("root") not in names:
        yield f"dag.root: {unknown('node', written.get('root'), names)}"
    broken = [fault for name, node in nodes.items() for fault in _node_faults(name, node, names)]
    yield from broken
    if not broken and written.get("root") in names:
        circle = _circle(_nodes(written), str(written["root"]))
        if circle:
            yield f"dag.nodes: a path comes back to where it was: {' → '.join(circle)}"


def _node_faults(name: Any, node: Any, names: list[str]) -> Iterator[str]:
    where = f"dag.nodes.{name}"
    if not isinstance(node, Mapping):
        yield f"{where}: {{question, branches}} is needed, got {shorten(node)}"
        return
    yield from (f"{where}: {unknown('key', k, _NODE_KEYS)}" for k in node if k not in _NODE_KEYS)
    if not isinstance(node.get("question"), str) or not node["question"].strip():
        yield f"{where}.question: a text is needed, got {shorten(node.get('question'))}"
    branches = node.get("branches")
    if not isinstance(branches, Mapping) or len(branches) < 2:
        yield f"{where}.branches: two choices or more are needed, got {shorten(branches)}"
        return
    for choice, to in branches.items():
        yield from _branch_faults(f"{where}.branches.{_word(choice)}", to, names)
    choices = node.get("choices", [*branches])
    if not isinstance(choices, list):
        yield f"{where}.choices: a list is needed, got {shorten(choices)}"
        return
    words, led = {_word(choice) for choice in choices}, {_word(choice) for choice in branches}
    yield from (f"{where}.branches: none for the choice {w!r}" for w in sorted(words - led))
    yield from (f"{where}.choices: {w!r} has a branch and is none" for w in sorted(led - words))


def _branch_faults(where: str, to: Any, names: list[str]) -> Iterator[str]:
    if not isinstance(to, Mapping):
        if str(to) not in names:
            yield f"{where}: {unknown('node', to, names)}; or a leaf: {{score, label}}"
        return
    yield from (f"{where}: {unknown('key', k, _LEAF_KEYS)}" for k in to if k not in _LEAF_KEYS)
    score: Any = to.get("score")
    if not is_number(score) or not 0 <= score <= 1:
        yield f"{where}.score: a number from 0 to 1 is needed, got {shorten(score)}"


def _circle(nodes: Mapping[str, Node], root: str) -> list[str]:
    """Return a path that comes back to where it was; empty where none does."""
    path: list[str] = []
    left: set[str] = set()

    def walk(at: str) -> list[str]:
        if at in path:
            return [*path[path.index(at) :], at]
        if at in left:
            return []
        path.append(at)
        onward = (to for to in nodes[at].branches.values() if isinstance(to, str))
        circle = next((found for to in onward if (found := walk(to))), [])
        left.add(path.pop())
        return circle

    return walk(root)


def make_rubric_dag(
    config: Mapping[str, Any] | None = None,
    dag: Mapping[str, Any] | None = None,
    preset: str | None = None,
    endpoint: Any = None,
) -> RubricDag:
    """Return the evaluator of a tree, or of a preset where no tree is given.

    Args:
        config: Potato's block, with `ai_support`.
        dag: The tree.
        preset: The name of a tree of ours.
        endpoint: What answers prompts.

    Raises:
        ConfigError: The tree is wrong, or there is none.
    """
    if dag is None and preset is None:
        raise ConfigError("rubric_dag: give a dag, or a preset: " + ", ".join(sorted(PRESETS)))
    return RubricDag(dag if dag is not None else str(preset), config, endpoint)


RubricDagEvaluator = RubricDag
RUBRIC_PRESETS = PRESETS
