"""What every format promises (contracts.Format), whatever it is shown."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.mutations import broken, documents
from tests.formats.samples import SAMPLES, Sample
from trajgrade import detection, jsontext
from trajgrade.errors import TraceError
from trajgrade.formats import BUILTINS
from trajgrade.glimpse import Glimpse
from trajgrade.registry import formats
from trajgrade.trajectory import Trajectory

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
every_format = pytest.mark.parametrize("name", BUILTINS)


@given(documents)
def test_recognising_never_raises(data: Any):
    for name in BUILTINS:
        assert formats.find(name).recognises(Glimpse(data)) in (True, False)


def keyed(data: Any) -> None:
    """Whoever recognises the data is asked about it."""
    asked = set(detection.claimants(Glimpse(data)))
    claims = {name for name in BUILTINS if formats.find(name).recognises(Glimpse(data))}
    assert asked == claims


@given(documents | broken | st.sampled_from(SAMPLES).map(lambda sample: sample.data))
def test_a_format_that_is_not_asked_would_not_have_recognised_the_data(data: Any):
    keyed(data)


@every_sample
def test_every_format_that_recognises_a_sample_is_asked(sample: Sample):
    keyed(sample.data)
    keyed([sample.data])
    keyed({"messages": sample.data})


@given(documents)
def test_any_data_is_a_trajectory_or_a_trace_error(data: Any):
    read_or_refused(data)


@given(documents, st.sampled_from(sorted(BUILTINS)))
def test_any_data_in_the_name_of_any_format_is_a_trajectory_or_a_trace_error(data: Any, name: str):
    read_or_refused(data, name)


@given(broken)
def test_a_trace_with_something_wrong_in_it_is_a_trajectory_or_a_trace_error(data: Any):
    read_or_refused(data)


@given(broken, st.sampled_from(sorted(BUILTINS)))
def test_and_in_the_name_of_any_format(data: Any, name: str):
    read_or_refused(data, name)


@given(broken)
def test_a_broken_trace_as_json_text_reads_the_same(data: Any):
    if isinstance(data, (dict, list)):
        assert outcome(json.dumps(data)) == outcome(data)


def read_or_refused(data: Any, name: str | None = None) -> None:
    before = copy.deepcopy(data)
    with suppress(TraceError):
        for trajectory in detection.read(data, name):
            whole(trajectory)
    assert repr(data) == repr(before)


def outcome(data: Any) -> Any:
    try:
        return [trajectory.to_dict() for trajectory in detection.read(data)]
    except TraceError as refusal:
        return type(refusal)


def whole(trajectory: Trajectory) -> None:
    """Every part of it can be asked for, and the JSON round trip gives it back."""
    for call in (*trajectory.tool_calls, *trajectory.hosted_calls):
        assert isinstance(call.name, str)
        assert call.name
        assert call.id is None or isinstance(call.id, str)
    assert {step.role for step in trajectory.steps} <= {"system", "user", "assistant", "tool"}
    assert all(isinstance(step.content, str) for step in trajectory.steps)
    assert trajectory.final_response is None or isinstance(trajectory.final_response, str)
    assert not any(call.hosted for call in trajectory.tool_calls)
    plain = trajectory.to_dict()
    assert Trajectory.from_any(plain) == trajectory
    back = Trajectory.from_any(jsontext.dumps(plain).decode())
    assert (back, back.id, back.format, back.notes) == (
        trajectory,
        trajectory.id,
        trajectory.format,
        trajectory.notes,
    )


@every_sample
def test_reading_leaves_the_data_as_it_was(sample: Sample):
    before = copy.deepcopy(sample.data)
    Trajectory.from_any(sample.data).to_dict()
    assert sample.data == before


@every_sample
def test_a_trajectory_survives_the_json_round_trip(sample: Sample):
    whole(Trajectory.from_any(sample.data))


def test_an_empty_list_is_zero_calls_by_one_format_only():
    assert list(detection.claimants(Glimpse([]))) == ["chat"]
    assert Trajectory.from_any([]).tool_calls == ()


@every_format
@pytest.mark.parametrize(
    "data", [None, 5, 1.5, True, {}, {"foo": 1}, [1, 2], [None], {"role": "user"}, [[]], ["a", "b"]]
)
def test_what_is_no_trace_is_claimed_by_nobody(name: str, data: Any):
    assert not formats.find(name).recognises(Glimpse(data))


@pytest.mark.parametrize(
    "data", [None, 5, {"foo": 1}, [1, 2], {"role": "wizard", "content": ""}, object(), ["a", "b"]]
)
def test_what_is_no_trace_is_an_error_that_says_what_was_seen_and_tried(data: Any):
    with pytest.raises(TraceError) as refused:
        Trajectory.from_any(data)
    assert all(name in str(refused.value) for name in BUILTINS)
    assert "no format recognises" in str(refused.value)
