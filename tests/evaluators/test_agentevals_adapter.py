"""agentevals through the adapter: present, and absent."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings

from tests.evaluators.test_graph_match import runs
from tests.formats.test_graph_trajectory import graph
from trajgrade import evaluate
from trajgrade.errors import JudgeError, MissingExtraError, TraceError
from trajgrade.evaluators import GraphTrajectoryMatch, agentevals_adapter
from trajgrade.evaluators.agentevals_adapter import (
    GraphTrajectoryStrictMatch,
    graph_trajectory_llm_judge,
    graph_trajectory_strict_match,
    is_available,
)

needs_agentevals = pytest.mark.skipif(not is_available(), reason="needs the package agentevals")
GOOD = graph(["__start__", "agent", "tools"])
BAD = graph(["__start__", "agent"])


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "agentevals"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "agentevals", None)


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("make", [graph_trajectory_strict_match, graph_trajectory_llm_judge])
def test_without_the_package_a_line_says_what_to_install(make: Any):
    assert not is_available()
    with pytest.raises(
        MissingExtraError, match=r"agentevals: pip install 'trajgrade\[langgraph\]'"
    ):
        make()
    assert GraphTrajectoryMatch().evaluate(outputs=GOOD, reference_outputs=GOOD).score == 1.0


def test_looking_for_the_package_does_not_load_it():
    script = (
        "import sys; from trajgrade.evaluators import agentevals_adapter as a; a.is_available(); "
        "print({'agentevals', 'langgraph', 'langchain_core'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@needs_agentevals
@settings(max_examples=50)
@given(runs, runs)
def test_the_strict_match_is_ours(ours: Any, theirs: Any):
    found = graph_trajectory_strict_match().evaluate(
        outputs=graph(*ours), reference_outputs=graph(*theirs)
    )
    if len(ours) == len(theirs):
        own = GraphTrajectoryMatch().evaluate(
            outputs=graph(*ours), reference_outputs=graph(*theirs)
        )
        assert found.score == own.score
    else:
        assert found.score == 0.0
    assert found.value is (found.score == 1.0)


@needs_agentevals
def test_strictness_says_where_the_runs_first_differ():
    found = graph_trajectory_strict_match().evaluate(outputs=BAD, reference_outputs=GOOD)
    assert found.comment.startswith("run 0: expected ['__start__', 'agent', 'tools'], got")
    wrapped = {"inputs": GOOD["inputs"], "outputs": GOOD}
    assert graph_trajectory_strict_match()(outputs=wrapped, reference_outputs=GOOD).score == 1.0


@needs_agentevals
def test_it_grades_a_dataset_beside_our_own():
    rows = [
        {"outputs": GOOD, "reference_outputs": GOOD},
        {"outputs": BAD, "reference_outputs": GOOD},
    ]
    run = evaluate(rows, [graph_trajectory_strict_match(), "graph_trajectory_match"])
    scores = [[result.score for result in row.results.values()] for row in run.rows]
    assert scores == [[1.0, 1.0], [0.0, 0.0]]


def test_what_is_missing_is_not_evaluated_and_what_is_no_graph_is_an_error():
    strict = GraphTrajectoryStrictMatch()
    odd: Any
    for given_, kind in (
        ({"outputs": GOOD}, "no_reference"),
        ({"reference_outputs": GOOD}, "no_output"),
    ):
        found = strict.evaluate(**given_)
        assert found.error is not None
        assert found.error.kind == kind
    for odd in ([], {"steps": "a"}, {"steps": [["a"]], "results": []}):
        with pytest.raises(TraceError):
            strict.evaluate(outputs=odd, reference_outputs=GOOD)


# ---------------------------------------------------------------------------------- the judge


def scripted(reply: Any, seen: list[Any]) -> Any:
    """A chat model of LangChain's that answers with the reply, and keeps what it was asked."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.runnables import RunnableLambda

    class Scripted(GenericFakeChatModel):
        def with_structured_output(self, schema: Any, **_: Any) -> Any:
            def answer(messages: Any) -> Any:
                seen.append(messages)
                if isinstance(reply, Exception):
                    raise reply
                return reply

            return RunnableLambda(answer)

    return Scripted(messages=iter([]))


@needs_agentevals
def test_a_model_grades_the_thread():
    seen: list[Any] = []
    judge = graph_trajectory_llm_judge(judge=scripted({"reasoning": "fine", "score": True}, seen))
    found = judge.evaluate(outputs=GOOD, reference_outputs=GOOD)
    assert (found.key, found.score, found.value) == ("graph_trajectory_llm_judge", 1.0, True)
    assert found.comment == "fine"
    assert "tools" in str(seen[0])
    assert asyncio.run(judge.aevaluate(outputs=GOOD)) == found
    assert len(seen) == 2


@needs_agentevals
@pytest.mark.parametrize("score", ["yes", 7, None])
def test_a_verdict_off_the_scale_is_not_evaluated(score: Any):
    reply = {"reasoning": "?", "score": score}
    judge = graph_trajectory_llm_judge(judge=scripted(reply, []), continuous=True)
    found = judge.evaluate(outputs=GOOD)
    assert found.score is None
    assert found.error is not None
    assert found.error.kind == "unreadable_verdict"


@needs_agentevals
def test_a_model_that_cannot_be_asked_is_a_judge_s_error():
    judge = graph_trajectory_llm_judge(judge=scripted(OSError("gone"), []))
    with pytest.raises(JudgeError, match="gone"):
        judge.evaluate(outputs=GOOD)


def test_the_names_are_potato_s():
    for name in ("is_available", "graph_trajectory_strict_match", "graph_trajectory_llm_judge",
                 "extract_langgraph_trajectory"):  # fmt: skip
        assert callable(getattr(agentevals_adapter, name))
