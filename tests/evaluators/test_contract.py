"""What holds for every evaluator: those that are registered, and those that users write.

A new evaluator is taken in by being in the table of names; one that cannot be built without
parameters gets a line in `MINIMAL`.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any, get_args

import pytest

from tests.matching.strategies import letters
from trajgrade import registry
from trajgrade.contracts import EvaluatorLike, Reads
from trajgrade.errors import (
    ConfigError,
    MissingExtraError,
    ParameterError,
    TraceError,
    TrajgradeError,
)
from trajgrade.evaluators import (
    EvaluationResult,
    Evaluator,
    ToolCallAccuracyEvaluator,
    ToolUseEvaluator,
    TrajectoryMatchEvaluator,
    TrajectorySingleToolUse,
    build_evaluator,
    get_supported_evaluators,
    list_evaluators,
    register_evaluator,
)
from trajgrade.evaluators.spelling import grader, graders
from trajgrade.result import ERRORS, NOT_EVALUATED
from trajgrade.trajectory import Step, ToolCall, Trajectory

JUDGED = (
    "agent_as_judge", "llm_trajectory_judge", "tool_call_quality",
    "answer_relevance", "context_relevance", "final_response_match", "final_response_quality",
    "groundedness", "rubric", "rubric_dag",
    *(name for name in get_supported_evaluators() if name.startswith(("pairwise_", "pointwise_"))),
)  # fmt: skip


def embed(text: str) -> list[float]:
    """Stand in for a model; a function of the module, so that it can be pickled."""
    return [1.0, float(len(text)), float(text.count("a"))]


def judge(prompt: str) -> str:
    """Stand in for a model: says the least of what it is asked for, in the form it is asked for."""
    said: dict[str, Any] = {"reasoning": "so it is"}
    for key, asks in re.findall(r'^- "(\w+)": (.*)$', prompt, re.MULTILINE):
        if asks.startswith("as in the JSON Schema "):
            schema = json.loads(asks.removeprefix("as in the JSON Schema "))
            said[key] = (
                []
                if schema["type"] == "array"
                else {
                    name: "so" if kind["type"] == "string" else True
                    for name, kind in schema.get("properties", {}).items()
                }
            )
            if key == "claims":
                said[key] = [{"claim": "it is yellow", "supported": True}]
        elif asks.startswith("one of "):
            said[key] = json.loads(asks.removeprefix("one of ").partition(", ")[0])
        elif key != "reasoning":
            said[key] = True if asks.startswith("true") else 1
    return json.dumps(said)


MINIMAL: dict[str, dict[str, Any]] = {
    **{name: {"endpoint": judge} for name in JUDGED},
    "agent_as_judge": {"endpoint": judge, "requirements": ["is yellow"]},
    "rubric": {"endpoint": judge, "criteria": ["is yellow"]},
    "rubric_dag": {"endpoint": judge, "dag": "answer_quality"},
    "contains": {"mode": "any"},  # a reference may be a list
    "embedding_similarity": {"embed_fn": embed},
    "field": {"path": "reward"},
    "json_schema_match": {"schema": {"type": "object"}},
    "regex_match": {"pattern": "a"},
    "tool_use": {"expected_tool": "f"},
    "trajectory_constraints": {"required": ["f"]},
    "trajectory_single_tool_use": {"tool_name": "f"},
}
KEYS = {
    "field": "reward",
    "rubric_dag": "answer_quality",
    "tool_use": "tool_use:f",
}  # all others: the name
WITHOUT_REFERENCE = {
    *(name for name in JUDGED if name != "final_response_match"),
    "field", "json_schema_match", "json_valid", "regex_match", "tool_call_valid", "tool_use",
    "trajectory_constraints", "trajectory_single_tool_use",
}  # fmt: skip
NAMES = get_supported_evaluators()
every = pytest.mark.parametrize("name", NAMES)

CALLS = [{"name": "f", "args": {"a": 1}}, {"name": "g"}]
CHAT = [
    {"role": "user", "content": "please"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 2}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "done"},
    {"role": "assistant", "content": "a banana"},
]  # fmt: skip
OUTPUTS: list[Any] = [
    [], CALLS, CHAT, "a banana", "", '{"a": 1}', letters("fgf"), letters(""), {"output": "abc"},
    Trajectory([Step("assistant", "", [ToolCall("f", None, "unknown")])]),
    Trajectory([Step("assistant", "said", [ToolCall("f", "{", "unparseable")])], notes=["odd"]),
]  # fmt: skip


def minimal(name: str, **more: Any) -> Any:
    try:
        return build_evaluator(name, {**MINIMAL.get(name, {}), **more})
    except MissingExtraError as absent:
        pytest.skip(str(absent))


def grade(evaluator: Any, outputs: Any, reference: Any) -> EvaluationResult | None:
    """The result; None where the evaluator says that it cannot read what it is given."""
    try:
        result = evaluator.evaluate(
            outputs=outputs,
            reference_outputs=reference,
            inputs="Which fruit?",
            context="Bananas are yellow.",
            stored={"reward": 0.5},
            row={"baseline_model_response": "An apple.", "history": "Hello!"},
        )
    except MissingExtraError as absent:
        pytest.skip(str(absent))
    except TraceError:
        return None
    assert isinstance(result, EvaluationResult)
    return result


# ------------------------------------------------------------------------------ construction


@every
def test_it_is_built_by_name_and_has_a_key_and_says_what_it_reads(name):
    evaluator = minimal(name)
    assert evaluator.key == KEYS.get(name, name)
    assert isinstance(evaluator, EvaluatorLike)
    assert isinstance(evaluator, Evaluator)
    assert evaluator.reads in get_args(Reads)
    if name != "field":
        assert evaluator.range == (0.0, 1.0)
        assert evaluator.direction == "higher"
    (description,) = [each["description"] for each in list_evaluators() if each["name"] == name]
    assert description
    assert len(description) < 100


@every
def test_every_one_takes_a_key(name):
    assert minimal(name, key="mine").key == "mine"
    result = grade(minimal(name, key="mine"), [], CALLS)
    assert result is None or result.key == "mine"


@every
def test_its_parameters_are_its_repr_and_its_equality_and_cannot_be_changed(name):
    first, second, other = minimal(name), minimal(name), minimal(name, key="other")
    assert first == second
    assert first != other
    assert type(first).__name__ in repr(first)
    for parameter in fields(first):
        assert f"{parameter.name}=" in repr(first)
    with pytest.raises(FrozenInstanceError):
        first.key = "changed"
    assert first.key == second.key
    assert copy.deepcopy(first) == first


@every
def test_it_can_be_sent_to_another_process(name):
    evaluator = minimal(name)
    before = grade(evaluator, "a banana", "a banana")
    received = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 our own bytes
    assert received == evaluator
    assert grade(received, "a banana", "a banana") == before


@every
def test_an_unknown_parameter_is_refused_with_the_nearest(name):
    with pytest.raises(ParameterError) as caught:
        build_evaluator(name, {**MINIMAL.get(name, {}), "kee": "x"})
    assert isinstance(caught.value, TypeError)
    assert "Did you mean 'key'?" in str(caught.value)
    with pytest.raises(TypeError):
        type(minimal(name))(**MINIMAL.get(name, {}), kee="x")


@every
def test_a_missing_parameter_is_named(name):
    signature = inspect.signature(type(minimal(name))).parameters.values()
    needed = [each.name for each in signature if each.default is each.empty]
    if needed:
        with pytest.raises(ParameterError, match=needed[0]):
            build_evaluator(name)
    else:
        build_evaluator(name)


def test_an_unknown_name_is_a_key_error_with_the_nearest():
    with pytest.raises(KeyError, match="Did you mean 'trajectory_match'"):
        build_evaluator("trajectroy_match")


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (TrajectoryMatchEvaluator, {"mode": "strict", "tool_args_match_mode": "exact",
                                    "tool_args_match_overrides": None}),
        (ToolUseEvaluator, {"expected_tool": inspect.Parameter.empty, "expected_args": None}),
        (ToolCallAccuracyEvaluator, {"args_match_mode": "exact"}),
        (TrajectorySingleToolUse, {"tool_name": inspect.Parameter.empty}),
    ],
)  # fmt: skip
def test_the_parameters_of_the_seeds_come_first_with_their_defaults(kind, parameters):
    signature = inspect.signature(kind).parameters
    found = {name: signature[name].default for name in list(signature)[: len(parameters)]}
    assert found == parameters


# ------------------------------------------------------------------------------ evaluation


@every
def test_it_is_called_by_keyword_only_and_takes_what_else_an_example_holds(name):
    evaluator = minimal(name)
    kinds = {p.name: p.kind for p in inspect.signature(evaluator.evaluate).parameters.values()}
    assert set(kinds) >= {"outputs", "reference_outputs", "inputs"}
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    with pytest.raises(TypeError):
        evaluator.evaluate([], [])
    again = evaluator.evaluate(
        outputs=None, reference_outputs=None, inputs="x", context=["y"], id=3, trial=1
    )
    assert again.score is None


@every
@pytest.mark.parametrize("outputs", [None, [], "text", CALLS])
def test_without_a_reference_there_is_no_score_where_one_is_needed(name, outputs):
    result = grade(minimal(name), outputs, None)
    if name in WITHOUT_REFERENCE:
        assert result is None or result.error is None or result.error.kind != "no_reference"
        return
    assert result is not None
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "no_reference"
    assert result.comment


@every
@pytest.mark.parametrize("reference", ["text", CALLS, []])
def test_without_outputs_there_is_no_score(name, reference):
    if name == "field":
        return
    result = grade(minimal(name), None, reference)
    assert result is not None
    assert result.score is None
    assert result.error is not None
    assert result.error.kind in {"no_output", "no_reference"}  # calls alone answer nothing
    assert result.error.not_evaluated
    assert result.comment


@every
def test_a_score_lies_between_0_and_1_and_says_why(name):
    evaluator = minimal(name)
    scored = 0
    for outputs in OUTPUTS:
        for reference in OUTPUTS:
            result = grade(evaluator, outputs, reference)
            if result is None:
                continue
            assert result.key == evaluator.key
            assert result.comment
            if result.score is None:
                assert result.error is not None
                assert result.error.kind in NOT_EVALUATED | ERRORS
            else:
                scored += 1
                assert isinstance(result.score, float)
                assert 0.0 <= result.score <= 1.0
                assert result.error is None
                assert isinstance(result.value, bool | int | float | str | None)
    assert scored


@every
def test_a_result_is_equal_after_a_journey_through_json(name):
    evaluator = minimal(name)
    for outputs in (None, *OUTPUTS):
        for reference in (None, *OUTPUTS):
            result = grade(evaluator, outputs, reference)
            if result is not None:
                assert EvaluationResult.from_json(result.to_json()) == result
                assert result.to_dict()["key"] == evaluator.key


@every
def test_it_gives_the_same_result_however_it_is_called(name):
    evaluator = minimal(name)
    example: dict[str, Any] = {
        "outputs": CHAT, "reference_outputs": CHAT, "stored": {"reward": True},
    }  # fmt: skip
    try:
        result = evaluator.evaluate(**example)
    except MissingExtraError as absent:
        pytest.skip(str(absent))

    async def inside() -> tuple[EvaluationResult, EvaluationResult]:
        return evaluator.evaluate(**example), await evaluator.aevaluate(**example)

    assert evaluator(**example) == result
    assert asyncio.run(inside()) == (result, result)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: evaluator.evaluate(**example), range(8)))
    assert found == [result] * 8


@every
def test_what_is_graded_is_never_changed(name):
    evaluator = minimal(name)
    for outputs in (CALLS, CHAT, {"output": "abc"}):
        for reference in (CALLS, CHAT, {"output": "abc"}):
            before = copy.deepcopy((outputs, reference))
            grade(evaluator, outputs, reference)
            assert (outputs, reference) == before


# ------------------------------------------------------------------------------ written forms


@every
def test_all_spellings_of_the_config_make_the_same_evaluator(name):
    params = {key: value for key, value in MINIMAL.get(name, {}).items() if not callable(value)}
    expected = build_evaluator(name, params)
    spellings: list[Any] = [{name: params}, {"name": name, "params": params}]
    if not params:
        spellings += [name, {name: None}, {"name": name}, {"name": name, "params": None}]
    for spelling in spellings:
        made, passes = grader(spelling)
        assert made == expected
        assert passes is None
    keyed, least = grader({"name": name, "params": params, "key": "mine", "pass": 0.5})
    assert keyed == build_evaluator(name, {**params, "key": "mine"})
    assert least == 0.5


@every
def test_an_unknown_parameter_of_a_spelling_is_placed_and_guessed(name):
    with pytest.raises(ConfigError) as caught:
        grader({name: {**MINIMAL.get(name, {}), "kee": "x"}}, "evaluators[3]")
    (fault,) = [fault for fault in caught.value.faults if "kee" in fault]
    assert fault.startswith(f"evaluators[3].{name}.kee: ")
    assert "Did you mean 'key'?" in fault


@pytest.mark.parametrize(
    "spelling",
    [
        None, 3, [], {}, {"name": 3}, {"name": None}, {"contains": 3}, {"contains": []},
        {"contains": {}, "trajectory_match": {}}, {"name": "contains", "params": []},
        {"name": "contains", "parms": {}}, {"name": "contains", "key": 3},
        {"name": "contains", "pass": "high"}, {3: {}}, TrajectoryMatchEvaluator,
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_spelling_is_refused_with_its_place(spelling):
    with pytest.raises(TrajgradeError) as caught:
        grader(spelling, "evaluators[0]")
    assert all(line.startswith("evaluators[0]") for line in str(caught.value).splitlines())


def test_several_of_one_tool_or_key_are_told_apart_or_refused():
    several = [{"trajectory_single_tool_use": {"tool_name": tool}} for tool in ("f", "g")]
    assert graders(several).keys == [
        "trajectory_single_tool_use:f", "trajectory_single_tool_use:g",
    ]  # fmt: skip
    assert graders(several[:1]).keys == ["trajectory_single_tool_use"]
    with pytest.raises(ConfigError, match="key"):
        graders(["trajectory_match", {"trajectory_match": {"mode": "unordered"}}])
    apart = graders(["trajectory_match", {"name": "trajectory_match", "key": "other"}])
    assert apart.keys == ["trajectory_match", "other"]


# ------------------------------------------------------------------------------ users' own


@pytest.fixture
def free_names() -> Iterator[None]:
    """Names that a test registers are gone after it."""
    before = dict(registry.evaluators.entries)
    yield
    for name in set(registry.evaluators.entries) - set(before):
        del registry.evaluators.entries[name]
        registry.evaluators._found.pop(name, None)


@dataclass(frozen=True)
class CallsAtMost(Evaluator):
    most: int = 3
    key: str = "calls_at_most"

    def evaluate(self, *, outputs: Any = None, **example: Any) -> EvaluationResult:
        made = len(Trajectory.from_any(outputs).tool_calls)
        return EvaluationResult(self.key, float(made <= self.most), made <= self.most)


FROZEN: Any = CallsAtMost  # its key cannot be set, which the protocol's type asks for


class KeyedInInit(Evaluator):
    def __init__(self, key: str = "own", floor: float = 0.0) -> None:
        self.key = key
        self.floor = floor

    def evaluate(self, *, outputs: Any = None, **example: Any) -> EvaluationResult:
        return EvaluationResult(self.key, self.floor, comment=str(outputs))


class Plain:
    def __init__(self) -> None:
        self.key = "plain"

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        return EvaluationResult(self.key, float(outputs == reference_outputs))


class Waiting(Evaluator):
    key = "waiting"

    async def aevaluate(self, *, outputs: Any = None, **example: Any) -> EvaluationResult:
        await asyncio.sleep(0)
        return EvaluationResult(self.key, 1.0, comment=str(outputs))


class Neither(Evaluator):
    key = "neither"


@pytest.mark.usefixtures("free_names")
def test_a_registered_evaluator_is_like_a_built_in_one():
    register_evaluator("calls_at_most", FROZEN, "No more calls than allowed")
    assert "calls_at_most" in get_supported_evaluators()
    assert {
        "name": "calls_at_most",
        "description": "No more calls than allowed",
    } in list_evaluators()
    assert build_evaluator("calls_at_most", {"most": 1}) == FROZEN(1)
    made, _ = grader({"name": "calls_at_most", "params": {"most": 1}, "key": "few"})
    assert made == FROZEN(1, "few")
    assert made.evaluate(outputs=CALLS).value is False
    with pytest.raises(ParameterError, match="Did you mean 'most'"):
        build_evaluator("calls_at_most", {"moist": 1})
    register_evaluator("calls_at_most", FROZEN)  # the same once more: a module read twice


@pytest.mark.usefixtures("free_names")
def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ConfigError, match="trajectory_match"):
        register_evaluator("trajectory_match", FROZEN, "another")
    assert isinstance(build_evaluator("trajectory_match"), TrajectoryMatchEvaluator)


@pytest.mark.usefixtures("free_names")
def test_a_class_that_sets_its_key_in_init_is_as_good():
    made = KeyedInInit("mine", 0.5)
    assert isinstance(made, EvaluatorLike)
    assert (
        made(outputs="x")
        == made.evaluate(outputs="x")
        == EvaluationResult("mine", 0.5, comment="x")
    )
    assert asyncio.run(made.aevaluate(outputs="x")).score == 0.5
    unscored = made.unscored("undefined", "why")
    assert unscored.key == "mine"
    assert unscored.error is not None
    register_evaluator("keyed", KeyedInInit)
    named, _ = grader({"name": "keyed", "params": {"floor": 0.25}, "key": "renamed"})
    assert named.evaluate(outputs=None).key == "renamed"
    assert KeyedInInit().key == "own"


@pytest.mark.usefixtures("free_names")
def test_a_plain_class_is_an_evaluator():
    plain = Plain()
    assert isinstance(plain, EvaluatorLike)
    assert grader(plain) == (plain, None)
    register_evaluator("plain", Plain, "a plain class")
    made, _ = grader("plain")
    assert made.evaluate(outputs=1, reference_outputs=1).score == 1.0
    renamed, _ = grader({"name": "plain", "key": "other"})
    assert renamed.key == "other"
    assert made.key == "plain"


def test_one_that_waits_is_evaluated_in_and_out_of_a_running_loop():
    waiting = Waiting()
    expected = EvaluationResult("waiting", 1.0, comment="x")
    assert waiting.evaluate(outputs="x") == expected

    async def inside() -> list[EvaluationResult]:
        return [
            waiting.evaluate(outputs="x"), waiting(outputs="x"), await waiting.aevaluate(outputs="x"),
        ]  # fmt: skip

    assert asyncio.run(inside()) == [expected] * 3


def test_one_that_defines_neither_says_so():
    with pytest.raises(TypeError, match="Neither"):
        Neither().evaluate(outputs="x")
    with pytest.raises(TypeError, match="Neither"):
        asyncio.run(Neither().aevaluate(outputs="x"))
