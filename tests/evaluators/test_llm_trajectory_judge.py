"""A judge says how well an agent went about its task, from the trajectory."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import trajgrade
from trajgrade.contracts import JudgeReply, JudgeRequest
from trajgrade.errors import ConfigError, TraceError, UnreachableJudgeError
from trajgrade.evaluators import LLMTrajectoryJudge
from trajgrade.judges.scripted import ScriptedJudge

TRACE = [
    {"role": "user", "content": "Find a flight."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"to": "LIS"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "3 flights"},
    {"role": "assistant", "content": "There are three."},
]  # fmt: skip
PASS = {"reasoning": "The steps follow.", "pass": True}


def text(judge: ScriptedJudge, place: int = -1) -> str:
    return "\n".join(turn.text for turn in judge.asked[place].turns)


def test_it_needs_no_reference_and_shows_every_step():
    judge = ScriptedJudge(PASS)
    result = LLMTrajectoryJudge(judge=judge).evaluate(outputs=TRACE, inputs="Find a flight.")
    assert (result.key, result.score, result.value) == ("llm_trajectory_judge", 1.0, True)
    assert result.comment == "The steps follow."
    said = text(judge)
    for part in ('search({"to":"LIS"})', "3 flights", "There are three.", "Find a flight."):
        assert part in said
    assert "None" not in said
    assert "reference" not in said
    kept = result.metadata["judge"]
    assert kept.keys() >= {
        "judge",
        "model",
        "prompt_hash",
        "temperature",
        "tokens_in",
        "tokens_out",
        "cost",
    }


def test_a_reference_is_shown_where_there_is_one():
    judge = ScriptedJudge(PASS)
    evaluator = LLMTrajectoryJudge(judge=judge)
    evaluator.evaluate(outputs=TRACE, reference_outputs=[{"name": "search", "args": {"to": "OPO"}}])
    assert 'search({"to":"OPO"})' in text(judge)
    assert "A reference shows one way" in text(judge)
    evaluator.evaluate(outputs=TRACE, reference_outputs="Three flights are found.")
    assert "Three flights are found." in text(judge)


def test_waiting_and_not_waiting_ask_the_same_and_say_the_same():
    judge = ScriptedJudge(PASS)
    evaluator = LLMTrajectoryJudge(judge=judge)

    async def waits() -> Any:
        return await evaluator.aevaluate(outputs=TRACE), evaluator.evaluate(outputs=TRACE)

    there, inside = asyncio.run(waits())
    assert there == inside == evaluator.evaluate(outputs=TRACE)
    assert len({request.identity for request in judge.asked}) == 1


@pytest.mark.parametrize(
    ("params", "reply", "value", "score"),
    [
        ({}, {"pass": "no"}, False, 0.0),
        ({"continuous": True}, {"score": 0.25}, 0.25, 0.25),
        ({"choices": [0.0, 0.5, 1.0]}, {"score": 0.5}, 0.5, 0.5),
        ({"choices": [1, 2, 3, 4, 5]}, {"score": 2}, 2, 0.25),
        ({"choices": {"good": 1.0, "fair": 0.5, "bad": 0.0}}, {"choice": "fair"}, "fair", 0.5),
    ],
)
def test_the_verdict_is_of_the_kind_that_is_asked_for(
    params: dict[str, Any], reply: dict[str, Any], value: Any, score: float
):
    said: dict[str, Any] = {"reasoning": "", **reply}
    judge = ScriptedJudge(said)
    result = LLMTrajectoryJudge(judge=judge, **params).evaluate(outputs=TRACE)
    assert (result.value, result.score) == (value, score)


@pytest.mark.parametrize("outputs", [None, "", [], {}])
def test_without_outputs_no_judge_is_asked(outputs: Any):
    judge = ScriptedJudge(PASS)
    result = LLMTrajectoryJudge(judge=judge).evaluate(outputs=outputs)
    assert result.error is not None
    assert result.error.kind == "no_output"
    assert judge.asked == []


def test_a_broken_trace_is_no_text_to_be_judged():
    with pytest.raises(TraceError):
        LLMTrajectoryJudge(judge=ScriptedJudge(PASS)).evaluate(
            outputs={"messages": [{"role": 3}, {"role": "x"}]}
        )


def test_a_prompt_of_ones_own_has_places_and_what_has_none_follows():
    judge = ScriptedJudge(PASS)
    own = "Was {trajectory} quick? Task: {inputs}. Context: {context}."
    evaluator = LLMTrajectoryJudge(judge=judge, prompt=own)
    first = evaluator.evaluate(outputs=TRACE, reference_outputs="the reference")
    said = judge.asked[0].turns[1].text
    assert said.startswith("Was \n<<<trajectory ")
    assert "Task: (not recorded). Context: (not recorded)." in said
    assert said.index("the reference") > said.index("Context:")
    other = LLMTrajectoryJudge(judge=judge, prompt="Was it quick?").evaluate(outputs=TRACE)
    hashes = {result.metadata["judge"]["prompt_hash"] for result in (first, other)}
    assert len(hashes) == 2


def test_a_prompt_with_a_place_for_a_reference_needs_one():
    judge = ScriptedJudge(PASS)
    evaluator = LLMTrajectoryJudge(
        judge=judge, prompt="Compare {outputs} with {reference_outputs}."
    )
    result = evaluator.evaluate(outputs=TRACE)
    assert result.error is not None
    assert result.error.kind == "no_reference"
    assert judge.asked == []


def test_examples_are_shown_fenced_with_the_reply_that_is_right():
    judge = ScriptedJudge({"reasoning": "", "score": 1})
    shot = {"inputs": "Say hi", "outputs": TRACE, "verdict": 0.5, "reasoning": "Slow."}
    LLMTrajectoryJudge(judge=judge, continuous=True, few_shot=[shot]).evaluate(outputs="Hi")
    said = text(judge)
    assert "<<<example_1 " in said
    assert '{"reasoning":"Slow.","score":0.5}' in said
    assert said.index("3 flights") < said.index("Slow.")


def test_what_does_not_fit_is_left_out_and_said():
    judge = ScriptedJudge(PASS)
    long = [
        *TRACE,
        *({"role": "assistant", "content": f"step {n} " + "x" * 400} for n in range(200)),
    ]
    result = LLMTrajectoryJudge(judge=judge, budget=500).evaluate(outputs=long)
    assert result.metadata["left_out"]["steps"] > 100
    assert "left out" in text(judge)
    assert len(text(judge)) < 6_000


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"prompt": "{otputs}"}, "prompt: unknown place 'otputs'. Did you mean 'outputs'"),
        ({"prompt": " "}, "prompt: a text is needed"),
        ({"continuous": True, "choices": [0, 1]}, "give continuous or choices, not both"),
        ({"choices": [1]}, "choices: at least two"),
        ({"few_shot": [{"outputs": "x", "verdict": "maybe"}]}, "few_shot[0].verdict: pass: 'maybe' is not true or false"),
        ({"few_shot": [{"output": "x", "verdict": True}]}, "few_shot[0].output: unknown key 'output'. Did you mean 'outputs'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_when_it_is_made(params: dict[str, Any], said: str):
    with pytest.raises(ConfigError) as refused:
        LLMTrajectoryJudge(**params)
    assert said in str(refused.value)


def test_no_judge_is_an_error_before_the_first_row(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TRAJGRADE_JUDGE", raising=False)
    with pytest.raises(ConfigError, match="none is configured"):
        trajgrade.evaluate([{"outputs": TRACE}], [LLMTrajectoryJudge()])


def test_votes_are_counted_or_averaged_as_the_verdict_is():
    flags = ScriptedJudge([PASS, {"reasoning": "", "pass": False}, PASS])
    result = LLMTrajectoryJudge(judge=flags, samples=3).evaluate(outputs=TRACE)
    assert (result.value, result.score) == (True, 1.0)
    numbers = ScriptedJudge([{"reasoning": "", "score": n} for n in (0.0, 0.5, 1.0)])
    result = LLMTrajectoryJudge(judge=numbers, samples=3, continuous=True).evaluate(outputs=TRACE)
    assert result.score == 0.5
    assert result.metadata["spread"] == 0.5


def test_a_judge_in_trouble_is_told_apart_from_a_bad_agent_and_other_rows_go_on():
    def by_row(request: JudgeRequest) -> Any:
        said = request.turns[1].text
        if "row 1" in said:
            return UnreachableJudgeError("rate limit (HTTP 429)")
        if "row 2" in said:
            return JudgeReply(text="I cannot say")
        if "row 3" in said:
            return json.dumps({"reasoning": "bad", "pass": False})
        return json.dumps(PASS)

    rows = [{"id": str(n), "inputs": f"row {n}", "outputs": TRACE} for n in range(5)]
    run = trajgrade.evaluate(rows, [LLMTrajectoryJudge(judge=ScriptedJudge(by_row))])
    kinds = [row.results["llm_trajectory_judge"].error for row in run.rows]
    assert [error.kind if error else None for error in kinds] == [
        None,
        "judge",
        "unreadable_verdict",
        None,
        None,
    ]
    summary = run.summary["llm_trajectory_judge"]
    assert (summary.n_scored, summary.n_error, summary.n_not_evaluated) == (3, 1, 1)
    assert summary.mean == pytest.approx(2 / 3)
    raw = run.rows[2].results["llm_trajectory_judge"].metadata["judge"]["raw"]
    assert raw == ["I cannot say"] * 2
