"""The strict types of formats: what one accepts is that format's alone, and reads the same."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.samples import OPENAI, SAMPLES
from trajgrade import detection
from trajgrade.errors import MalformedTraceError
from trajgrade.formats.chat_loose import loosened
from trajgrade.formats.chat_wire import WIRE, read, read_wire
from trajgrade.glimpse import Glimpse
from trajgrade.registry import formats
from trajgrade.trajectory import Trajectory

texts = st.text(max_size=6) | st.sampled_from(["", "call_1", "call_2", "f", "g"])
maybe = st.none() | texts
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
arguments = (
    json_values | json_values.map(json.dumps) | st.sampled_from(["", " ", "{", "null", '{"a":'])
)
functions = st.fixed_dictionaries(
    {"name": st.sampled_from(["f", "g", " ", "search.web"])}, optional={"arguments": arguments}
)
calls = st.fixed_dictionaries(
    {"function": functions},
    optional={
        "id": maybe,
        "type": st.sampled_from(["function", None]),
        "index": st.none() | st.integers(0, 9),
    },
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])},
    optional={
        "content": maybe,
        "tool_calls": st.none() | st.lists(calls, max_size=3),
        "tool_call_id": maybe,
        "name": maybe,
        "refusal": maybe,
        "reasoning_content": maybe,
        "annotations": st.none() | st.just([]) | st.lists(json_values, max_size=2),
        "function_call": st.none(),
        "audio": st.none(),
    },
)
conversations = st.lists(messages, max_size=6)


def parts(trajectory: Trajectory) -> Any:
    return (
        trajectory.tool_calls,
        trajectory.hosted_calls,
        trajectory.steps,
        trajectory.final_response,
        trajectory.format,
    )


def test_the_strategy_above_has_every_field_of_the_type():
    (message,) = get_args(WIRE)
    assert set(message.__struct_fields__) == {
        "role", "content", "tool_calls", "tool_call_id", "name", "refusal", "reasoning_content",
        "annotations", "function_call", "audio",
    }  # fmt: skip


@given(conversations)
def test_what_the_strict_type_accepts_is_read_alike_through_every_door(conversation: Any):
    text = json.dumps(conversation)
    decoded = msgspec.json.decode(text, type=WIRE)
    (claimant,) = detection.claimants(Glimpse(conversation))
    by_wire = read_wire(decoded)
    assert by_wire.format == claimant
    (by_format,) = formats.find(claimant).read(conversation)
    loose = read(loosened(conversation, []), claimant)
    assert parts(Trajectory.from_any(conversation)) == parts(by_wire)
    assert parts(by_format) == parts(by_wire)
    assert parts(loose) == parts(by_wire)


@given(conversations)
def test_notes_do_not_depend_on_the_door(conversation: Any):
    strict = read_wire(msgspec.convert(conversation, WIRE))
    notes: list[str] = []
    loose = read(loosened(conversation, notes), None, notes)
    assert len(strict.notes) == len(loose.notes)


@pytest.mark.parametrize("name", ["chat", "openai_chat"])
def test_both_chat_formats_offer_the_type(name: str):
    reader = formats.find(name)
    assert reader.wire is WIRE
    assert reader.read_wire(msgspec.convert(OPENAI, reader.wire)) == Trajectory.from_any(OPENAI)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]},
        {"role": "assistant", "content": "", "tool_use": {"name": "f"}},
        {"role": "assistant", "content": "", "function_call": {"name": "f"}},
        {"role": "assistant", "tool_calls": [{"name": "f"}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": ""}}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f"}, "output": "x"}]},
        {"type": "ai", "role": "assistant", "content": ""},
        {"role": "model", "parts": [{"text": ""}]},
        {"role": "wizard", "content": ""},
        {"content": ""},
    ],
)
def test_the_strict_type_refuses_what_could_be_of_another_origin(message: Any):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert([message], WIRE)


def test_steps_are_made_when_they_are_asked_for():
    trajectory = Trajectory.from_any(OPENAI)
    assert callable(trajectory._steps)
    assert len(trajectory.steps) == 5
    assert trajectory.steps[2].tool_calls == list(trajectory.tool_calls)
    assert trajectory.steps is trajectory.steps


plain_calls = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["f", "g", " "])},
        optional={"id": maybe}
        | dict.fromkeys(("args", "arguments", "input", "kwargs"), arguments | json_values),
    ),
    max_size=4,
)
vertex_calls = st.lists(
    st.fixed_dictionaries(
        {"tool_name": st.sampled_from(["f", "g"])}, optional={"tool_input": arguments}
    ),
    max_size=4,
)


@given(
    plain_calls.map(lambda calls: ("calls", calls))
    | vertex_calls.map(lambda calls: ("vertex_trajectory", calls))
)
def test_bare_calls_are_read_alike_through_every_door(given: Any):
    name, calls = given
    reader = formats.find(name)
    decoded = msgspec.json.decode(json.dumps(calls), type=reader.wire)
    assert list(detection.claimants(Glimpse(calls))) == [name if calls else "chat"]
    by_wire, by_format, by_detection = (
        told(lambda: reader.read_wire(decoded)),
        told(lambda: reader.read(calls)[0]),
        told(lambda: Trajectory.from_any(calls)),
    )
    assert by_wire == by_format == by_detection


def told(read_it: Any) -> Any:
    try:
        found = read_it()
    except MalformedTraceError:
        return "refused"
    return parts(found), found.notes


@pytest.mark.parametrize("name", sorted(set(formats)))
def test_no_strict_type_accepts_the_traces_of_another_format(name: str):
    reader = formats.find(name)
    if not hasattr(reader, "wire"):
        return
    for sample in SAMPLES:
        try:
            decoded = msgspec.json.decode(json.dumps(sample.data), type=reader.wire)
        except msgspec.ValidationError:
            continue
        assert reader.read_wire(decoded).format == sample.format
        assert reader.read_wire(decoded) == Trajectory.from_any(sample.data)
