"""ReAct as text, in one text and in messages, and CrewAI's dialect of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.formats.session_samples import ANSWER, ARGS, CREW, REACT, REACT_CHAT
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError

BEGIN = "Thought: I look.\n"


def told(text: str) -> list[tuple[str, Any, str]]:
    return [(c.name, c.args, c.args_state) for c in Trajectory.from_any(text).tool_calls]


def test_a_text_has_question_calls_observations_and_answer():
    trajectory = Trajectory.from_any(REACT)
    assert [(step.role, step.content) for step in trajectory.steps] == [
        ("system", "Answer as well as you can."),
        ("user", "Any trains to Oslo?"),
        ("assistant", "I look."),
        ("tool", "09:14"),
        ("assistant", ANSWER),
    ]
    (call,) = trajectory.tool_calls
    assert (call.result, call.turn) == ("09:14", 0)


def test_each_claim_is_a_trajectory_and_finish_holds_its_answer():
    text = (
        "Say whether it is so.\n"
        "Claim: One.\nThought 1: Hm.\nAction 1: Search[a b]\nObservation 1: x\nClaim: no claim\n"
        "Thought 2: So.\nAction 2: Finish[YES]\n\n"
        "Claim: Two.\nThought 1: Hm.\nAction 1: Finish[NO [sic]]\n\n\n"
    )
    one, two = read_traces(text)
    assert [(c.name, c.args) for c in one.tool_calls] == [("Search", "a b"), ("Finish", "YES")]
    assert one.tool_calls[0].result == "x\nClaim: no claim"
    assert (one.final_response, two.final_response) == ("YES", "NO [sic]")
    assert {step.content for step in (one.steps[0], two.steps[0])} == {"Say whether it is so."}


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ('Action: f\nAction Input: {"a": 1}', ("f", {"a": 1}, "ok")),
        ("Action: f\nAction Input: {'a': True}", ("f", {"a": True}, "ok")),
        ('Action: f\nAction Input: "a b"', ("f", "a b", "text")),
        ("Action: f\nAction Input: 25^0.43", ("f", "25^0.43", "text")),
        ("Action: f\nAction Input:", ("f", {}, "ok")),
        ("Action: f\nAction Input: {}\n```", ("f", {}, "ok")),
        ('Action: f\nAction Input: ```json\n{"a": 1}\n```', ("f", {"a": 1}, "ok")),
        ('Action: f\nAction Input: {"a": 1', ("f", '{"a": 1', "unparseable")),
        ("Action 1: f\nAction Input 1: x", ("f", "x", "text")),
        ("Action 1: f\nAction 1 Input: x", ("f", "x", "text")),
        ("**Action:** f\n**Action Input:** x", ("f", "x", "text")),
        ("Action: my tool\nAction Input: x", ("my tool", "x", "text")),
        ("Action 1: Search[a]", ("Search", "a", "text")),
        ("Action: Search[]", ("Search", {}, "ok")),
        ("Action: Search[[1]]", ("Search", [1], "ok")),
        ('Action: Search["a"]', ("Search", '"a"', "text")),
        ('Action:\n```json\n{"action": "f", "action_input": {"a": 1}}\n```', ("f", {"a": 1}, "ok")),
        ('Action:\n{"action": "f", "action_input": "x"}', ("f", "x", "text")),
    ],
)
def test_the_shapes_of_an_action(action: str, call: tuple[str, Any, str]):
    assert told(BEGIN + action) == [call]


@pytest.mark.parametrize(
    "text",
    [
        "Take action: now.\nThought: none.",
        "Thought: I will act.\nAction: think about it",
        "Action: the action to take, one of [f]\nAction Input: the input to the action",
        "Observation: it rains\nThought: no action",
        "The Action Input: of things",
        "Question: What?\nAnswer: That.",
    ],
)
def test_prose_with_such_words_is_a_text(text: str):
    trajectory = Trajectory.from_any(text)
    assert (trajectory.format, trajectory.final_response) == ("text", text)


def test_labels_in_an_observation_do_not_count_where_they_cannot():
    text = (
        f"{BEGIN}Action: f\nAction Input: x\n"
        "Observation: first\nAnswer: 3\nAction Input: none\nObservation: of that\n"
        "Thought: I know.\nAnswer: 3.0"
    )
    trajectory = Trajectory.from_any(text)
    (call,) = trajectory.tool_calls
    assert call.result == "first\nAnswer: 3\nAction Input: none\nObservation: of that"
    assert trajectory.final_response == "3.0"


def test_a_run_that_marks_no_answer_has_none():
    assert Trajectory.from_any(f"{BEGIN}Action: f[x]\nObservation: y").final_response is None


def test_messages_hold_the_same():
    trajectory = Trajectory.from_any(REACT_CHAT)
    (call,) = trajectory.tool_calls
    assert (call.args, call.result, call.turn) == (ARGS, "09:14", 0)
    assert [step.role for step in trajectory.steps] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert Trajectory.from_any({"id": "r", "messages": REACT_CHAT}).id == "r"


def test_naming_another_format_overrides():
    assert Trajectory.from_any(REACT_CHAT, format="chat").tool_calls == ()
    assert Trajectory.from_any(REACT, format="text").final_response == REACT


def test_crewai_keeps_the_observation_in_the_message_and_pastes_its_rules_behind():
    trajectory = Trajectory.from_any(CREW)
    (call,) = trajectory.tool_calls
    assert (call.name, call.args, call.result) == ("trains", ARGS, "09:14")
    assert trajectory.final_response == ANSWER


def test_crewai_without_tools_has_an_answer():
    crew = [CREW[0], CREW[1], {"role": "assistant", "content": "Thought: so\nFinal Answer: 42"}]
    trajectory = Trajectory.from_any(crew)
    assert (trajectory.format, trajectory.final_response) == ("crewai_react", "42")


def test_structured_calls_are_no_react():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [*CREW[:3], {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert Trajectory.from_any(chat).format == "openai_chat"


def test_equal_actions_are_all_kept():
    message = {"role": "assistant", "content": f"{BEGIN}Action: f\nAction Input: {{}}"}
    assert len(Trajectory.from_any([*CREW[:2], message, message, message]).tool_calls) == 3


def test_a_file_of_text(tmp_path: Path):
    path = tmp_path / "run.txt"
    path.write_text(REACT, "utf-8")
    for source in (path, str(path), path.read_bytes()):
        (trajectory,) = read_traces(source)
        assert trajectory == Trajectory.from_any(REACT)


@pytest.mark.parametrize(
    "text",
    [
        "Action: f\nAction Input: x\n" * 10_000,
        "Thought:" * 40_000,
        "Thought:\n" * 40_000 + "Action: f[x]",
        "Thought: x\nAction: f[" + "[" * 500_000,
        "Thought: x\nAction: " + "a" * 1_000_000 + "[x]",
        "Thought: x\nAction: f\nAction Input: " + "```" * 300_000,
        "Thought: x\nAction: f\nAction Input: " + "{" * 100_000,
        "Action" + " " * 1_000_000 + "\nThought: x\nAction: f[x]",
    ],
)
def test_long_texts_take_no_time(text: str):
    with suppress(MalformedTraceError):
        list(read_traces(text))


@pytest.mark.parametrize("name", ["react_text", "crewai_react", "hermes_chatml"])
@pytest.mark.parametrize("data", [5, {}, [{"role": "user"}], [{"role": 5, "content": ""}], None])
def test_what_holds_no_texts_is_an_error(name: str, data: Any):
    with pytest.raises(MalformedTraceError, match="a role and a text"):
        Trajectory.from_any(data, format=name)
